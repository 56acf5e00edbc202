"""Statements that wait to be sent to the database.

A statement without a result can wait for the next one that has one: then both are sent together. The difference is
not observable, because everything that reads, and the commit, first sends the waiting statements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from sqlalchemy import Connection, Engine, event

from headwater.store.schema.stored_rows import PlainRow

Parameters = Mapping[str, object] | Sequence[object]
"""Of one execution: by name, or in the order of the statement, as the driver takes them."""

Waiting = list[tuple[str, list[Parameters]]]


class _Cursor(Protocol):
    """Of sqlite3 and of psycopg."""

    def execute(self, sql: str, parameters: Parameters, /) -> object: ...
    def executemany(self, sql: str, parameters: Sequence[Parameters], /) -> object: ...
    def fetchall(self) -> list[PlainRow]: ...
    def close(self) -> None: ...


class _Driver(Protocol):
    def cursor(self) -> _Cursor: ...


def watch(engine: Engine) -> None:
    """Have everything that SQLAlchemy executes wait its turn behind what was said before it."""
    event.listen(engine, "before_cursor_execute", lambda conn, *_: send(conn))


def expect(conn: Connection) -> None:
    """From here to the end of its transaction, statements on this connection may wait; :func:`send` before the end."""
    conn.execution_options(headwater_waiting=[], headwater_gathering=[])


def later(conn: Connection, sql: str, parameters: Iterable[Parameters]) -> None:
    """Execute ``sql`` with each of ``parameters``, in its place in the order of things."""
    waiting = _waiting(conn)
    if waiting and waiting[-1][0] == sql:
        waiting[-1][1].extend(parameters)
    else:
        waiting.append((sql, list(parameters)))


def gather(conn: Connection, tell: Callable[[], None]) -> None:
    """Have ``tell`` called before anything is sent, once: to say (:func:`later`) what it could put together by then."""
    conn.get_execution_options()["headwater_gathering"].append(tell)


def send(conn: Connection) -> None:
    options = conn.get_execution_options()
    if options.get("headwater_waiting") or options.get("headwater_gathering"):
        ask(conn, [])


def ask(conn: Connection, questions: Sequence[tuple[str, Parameters]]) -> list[list[PlainRow]]:
    """Send what waits and then the questions; the rows that answer each."""
    gathering: list[Callable[[], None]] = conn.get_execution_options()["headwater_gathering"]
    while gathering:
        gathering.pop(0)()
    waiting = _waiting(conn)
    driver: _Driver | None = conn.connection.driver_connection
    assert driver is not None  # the transaction is open
    cursors = [driver.cursor() for _ in (*waiting, *questions)]
    free = iter(cursors)
    try:
        with _in_one_go(conn):
            for sql, parameters in waiting:
                if len(parameters) == 1:
                    next(free).execute(sql, parameters[0])
                else:
                    next(free).executemany(sql, parameters)
            waiting.clear()
            asking = list(free)
            for cursor, (sql, asked) in zip(asking, questions, strict=True):
                cursor.execute(sql, asked)
            return [list(cursor.fetchall()) for cursor in asking]
    finally:
        for cursor in cursors:
            cursor.close()


def _waiting(conn: Connection) -> Waiting:
    waiting: Waiting = conn.get_execution_options()["headwater_waiting"]
    return waiting


def _in_one_go(conn: Connection) -> AbstractContextManager[object]:
    pipeline: Callable[[], AbstractContextManager[object]] = getattr(
        conn.connection.driver_connection, "pipeline", nullcontext
    )
    return pipeline()
