"""Statements on their way to the database.

A statement without an answer can wait for the next one that has one: then both go in one go. Nobody can tell the
difference, because everything that reads, and the commit, sends ahead what waits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from sqlalchemy import Connection, Engine, event

Waiting = list[tuple[str, list[Any]]]


def watch(engine: Engine) -> None:
    """Have everything that SQLAlchemy executes wait its turn behind what was said before it."""
    event.listen(engine, "before_cursor_execute", lambda conn, *_: send(conn))


def expect(conn: Connection) -> None:
    """From here to the end of its transaction, statements on this connection may wait; :func:`send` before the end."""
    conn.execution_options(headwater_waiting=[], headwater_gathering=[])


def later(conn: Connection, sql: str, parameters: list[Any]) -> None:
    """Execute ``sql`` with each of ``parameters``, in its place in the order of things."""
    waiting = _waiting(conn)
    if waiting and waiting[-1][0] == sql:
        waiting[-1][1].extend(parameters)
    else:
        waiting.append((sql, parameters))


def gather(conn: Connection, tell: Callable[[], None]) -> None:
    """Have ``tell`` called before anything is sent, once: to say (:func:`later`) what it could put together by then."""
    conn.get_execution_options()["headwater_gathering"].append(tell)


def send(conn: Connection) -> None:
    options = conn.get_execution_options()
    if options.get("headwater_waiting") or options.get("headwater_gathering"):
        ask(conn, [])


def ask(conn: Connection, questions: Sequence[tuple[str, Any]]) -> list[list[Any]]:
    """Send what waits and then the questions; the rows that answer each."""
    gathering: list[Callable[[], None]] = conn.get_execution_options()["headwater_gathering"]
    while gathering:
        gathering.pop(0)()
    waiting = _waiting(conn)
    cursors = [conn.connection.cursor() for _ in (*waiting, *questions)]
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
            for cursor, (sql, parameters) in zip(asking, questions, strict=True):
                cursor.execute(sql, parameters)
            return [list(cursor.fetchall()) for cursor in asking]
    finally:
        for cursor in cursors:
            cursor.close()


def _waiting(conn: Connection) -> Waiting:
    return conn.get_execution_options()["headwater_waiting"]  # type: ignore[no-any-return]


def _in_one_go(conn: Connection) -> AbstractContextManager[object]:
    driver: Any = conn.connection.driver_connection
    return driver.pipeline() if hasattr(driver, "pipeline") else nullcontext()
