"""What SQLite and PostgreSQL say differently, one class each. Another database is another class here.

Opening a database and its transactions are in `database.py`; statements are SQLAlchemy's, and differ in these alone.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from sqlalchemy import (
    URL,
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
    text,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.engine.interfaces import DBAPIConnection, DBAPICursor

IdList = str | list[int]
"""A list of ids as a database takes it in one parameter: text of JSON, or an array."""


class Dialect(ABC):
    """Lists of ids go in as one bound parameter, because the number of parameters of a statement is limited."""

    placeholder: str
    """Of a value, in a statement for the driver."""
    has_partial_indexes = True

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

    @abstractmethod
    def driver_address(self, url: URL, file: Path | None) -> str:
        """The address with which the driver alone, in another process, opens the database."""

    @abstractmethod
    def table_name(self, url: URL, file: Path | None, table: str) -> tuple[str, str]:
        """A table's namespace and name, as OpenLineage names tables of such a database."""

    def reserve(self, conn: Connection, size: int) -> None:
        """On a server: takes space until the transaction ends, and has the disk write something."""
        raise NotImplementedError("a file has its space beside it")

    def number_on(self, conn: Connection, table: Table) -> None:
        """Numbers new rows above those that were copied into a table with their numbers."""
        return

    @contextmanager
    def text_decoded_by(self, driver: DBAPIConnection, decode: Callable[[bytes], str]) -> Iterator[None]:
        """Text columns with invalid UTF-8 are still readable, if a database can contain such."""
        yield


class SQLite(Dialect):
    placeholder = "?"

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

    def driver_address(self, url: URL, file: Path | None) -> str:
        return str(file)

    def table_name(self, url: URL, file: Path | None, table: str) -> tuple[str, str]:
        return "sqlite", f"{file}/{table}"

    @contextmanager
    def text_decoded_by(self, driver: DBAPIConnection, decode: Callable[[bytes], str]) -> Iterator[None]:
        strict, driver.text_factory = driver.text_factory, decode
        try:
            yield
        finally:
            driver.text_factory = strict


class PostgreSQL(Dialect):
    placeholder = "%s"

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

    def driver_address(self, url: URL, file: Path | None) -> str:
        return url.set(drivername="postgresql").render_as_string(hide_password=False)

    def table_name(self, url: URL, file: Path | None, table: str) -> tuple[str, str]:
        return f"postgres://{url.host or 'localhost'}:{url.port or 5432}", f"{url.database}.public.{table}"

    def reserve(self, conn: Connection, size: int) -> None:
        if conn.scalar(text("SELECT has_database_privilege(current_database(), 'TEMPORARY')")):
            # New pages take space at once. Temporary tables are in the database's own tablespace by default.
            conn.execute(
                text(
                    "CREATE TEMPORARY TABLE headwater_write_probe ON COMMIT DROP AS "
                    f"SELECT repeat('x', 1000) AS filler FROM generate_series(1, {size // 1000})"
                )
            )
        # Gives the transaction a commit record, which has to reach the disk.
        conn.execute(text("SELECT pg_logical_emit_message(true, 'headwater', 'write probe')"))

    def number_on(self, conn: Connection, table: Table) -> None:
        for column in table.primary_key.columns:
            sequence: str | None = conn.execute(
                text("SELECT pg_get_serial_sequence(:table, :column)"), {"table": table.name, "column": column.name}
            ).scalar()
            if sequence is not None:
                top = f"SELECT setval('{sequence}', coalesce(max({column.name}), 0) + 1, false) FROM {table.name}"
                conn.execute(text(top))


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
