"""What SQLite and PostgreSQL say differently, one class each. Another database is another class here.

Opening a database and its transactions are in `database.py`; statements are SQLAlchemy's, and differ in these alone.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    FromClause,
    LargeBinary,
    Table,
    any_,
    bindparam,
    cast,
    func,
    literal,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.engine.interfaces import DBAPIConnection, DBAPICursor

IdList = str | list[int]
"""A list of ids as a database takes it in one parameter: text of JSON, or an array."""


class Dialect(ABC):
    """Lists of ids go in as one bound parameter, because the number of parameters of a statement is limited."""

    @abstractmethod
    def id_table(self, parameter: str) -> FromClause:
        """A table of the one column ``id``; its parameter is bound to an :meth:`id_list`."""

    @abstractmethod
    def pair_table(self, parameter: str) -> FromClause:
        """A table of the columns ``id`` and ``part``, bound to two lists: ``parameter`` and ``parameter_part``."""

    @abstractmethod
    def one_of(self, column: ColumnElement[int], ids: Iterable[int]) -> ColumnElement[bool]:
        """What `column IN (ids)` says, for any number of ids."""

    @abstractmethod
    def id_list(self, ids: Iterable[int]) -> IdList: ...

    @abstractmethod
    def contains(self, column: ColumnElement[bytes], sought: bytes) -> ColumnElement[bool]:
        """That the bytes of a column hold these bytes somewhere."""

    @abstractmethod
    def like(self, column: ColumnElement[str], pattern: str) -> ColumnElement[bool]:
        """LIKE, in which upper and lower case of ASCII letters are the same, escaped by a backslash."""

    @abstractmethod
    def insert(self, table: Table) -> sqlite.Insert | postgresql.Insert:
        """An INSERT that knows ON CONFLICT."""

    @abstractmethod
    def cursor(self, driver: DBAPIConnection) -> DBAPICursor:
        """Of the driver's connection: one that leaves rows with the database until they are fetched."""

    @abstractmethod
    def now(self, conn: Connection) -> datetime | None:
        """What the database server takes for now; a file has no clock."""

    @contextmanager
    def text_decoded_by(self, driver: DBAPIConnection, decode: Callable[[bytes], str]) -> Iterator[None]:
        """Text columns with invalid UTF-8 are still readable, if a database can contain such."""
        yield


class SQLite(Dialect):
    def id_table(self, parameter: str) -> FromClause:
        listed = func.json_each(bindparam(parameter)).table_valued("value")
        return select(listed.c.value.label("id")).subquery()

    def pair_table(self, parameter: str) -> FromClause:
        # Two arrays are read side by side by their index.
        ids = func.json_each(bindparam(parameter)).table_valued("key", "value")
        parts = func.json_each(bindparam(f"{parameter}_part")).table_valued("key", "value")
        joined = ids.join(parts, ids.c.key == parts.c.key)
        return select(ids.c.value.label("id"), parts.c.value.label("part")).select_from(joined).subquery()

    def one_of(self, column: ColumnElement[int], ids: Iterable[int]) -> ColumnElement[bool]:
        listed = func.json_each(self.id_list(ids)).table_valued("value")
        return column.in_(select(listed.c.value))

    def id_list(self, ids: Iterable[int]) -> IdList:
        return json.dumps(list(ids))

    def contains(self, column: ColumnElement[bytes], sought: bytes) -> ColumnElement[bool]:
        return func.instr(column, literal(sought, LargeBinary)) > 0

    def like(self, column: ColumnElement[str], pattern: str) -> ColumnElement[bool]:
        # What LIKE does here by itself. SQLAlchemy's ilike would have SQLite call our lower() for each row.
        return column.like(pattern, escape="\\")

    def insert(self, table: Table) -> sqlite.Insert | postgresql.Insert:
        return sqlite.insert(table)

    def cursor(self, driver: DBAPIConnection) -> DBAPICursor:
        return driver.cursor()

    def now(self, conn: Connection) -> datetime | None:
        return None

    @contextmanager
    def text_decoded_by(self, driver: DBAPIConnection, decode: Callable[[bytes], str]) -> Iterator[None]:
        strict, driver.text_factory = driver.text_factory, decode
        try:
            yield
        finally:
            driver.text_factory = strict


class PostgreSQL(Dialect):
    def id_table(self, parameter: str) -> FromClause:
        return select(func.unnest(_array(parameter)).label("id")).subquery()

    def pair_table(self, parameter: str) -> FromClause:
        both = func.unnest(_array(parameter), _array(f"{parameter}_part"))
        pairs = both.table_valued("id", "part").render_derived()
        return select(pairs.c.id, pairs.c.part).subquery()

    def one_of(self, column: ColumnElement[int], ids: Iterable[int]) -> ColumnElement[bool]:
        return column == any_(literal(list(ids), ARRAY(BigInteger)))

    def id_list(self, ids: Iterable[int]) -> IdList:
        return list(ids)

    def contains(self, column: ColumnElement[bytes], sought: bytes) -> ColumnElement[bool]:
        return func.position(literal(sought, LargeBinary).op("IN")(column)) > 0

    def like(self, column: ColumnElement[str], pattern: str) -> ColumnElement[bool]:
        return column.ilike(pattern, escape="\\")

    def insert(self, table: Table) -> sqlite.Insert | postgresql.Insert:
        return postgresql.insert(table)

    def cursor(self, driver: DBAPIConnection) -> DBAPICursor:
        return driver.cursor("headwater_scan")

    def now(self, conn: Connection) -> datetime | None:
        found: datetime | None = conn.scalar(select(func.clock_timestamp()))
        return found


DIALECTS: dict[str, Dialect] = {"sqlite": SQLite(), "postgresql": PostgreSQL()}


def dialect_of(conn: Connection) -> Dialect:
    return DIALECTS[conn.dialect.name]


def driver_of(conn: Connection) -> DBAPIConnection:
    """The driver's own connection."""
    driver: DBAPIConnection | None = conn.connection.driver_connection
    assert driver is not None  # SQLAlchemy has it as long as the connection is in use
    return driver


def _array(parameter: str) -> ColumnElement[Sequence[int]]:
    return cast(bindparam(parameter), ARRAY(BigInteger))
