"""Opening a database: addresses, settings, transactions, and its errors turned into ours.

SQLite and PostgreSQL differ here and nowhere else. Both get one writer at a time: SQLite because it has no other way,
PostgreSQL by an advisory lock, because the audit log is one chain and its head can only be moved by one. A write
transaction is therefore short and does its reading, parsing and checking beforehand.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from threading import RLock

from sqlalchemy import URL, Connection, Engine, StaticPool, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError

from headwater.errors import (
    StoreError,
    StoreFull,
    StoreMissing,
    StoreReadOnly,
    StoreUnavailable,
    StoreUrlInvalid,
    first_line,
    shorten,
)
from headwater.store.address import DEFAULT_STORE
from headwater.store.engine import pending
from headwater.store.engine.dialect import DIALECTS, Dialect
from headwater.store.schema.stored_rows import PlainRow

DEFAULT_URL = DEFAULT_STORE
_FORMS = "sqlite:///path/to/file.db, postgresql://user@host/database or memory://"
_WRITE_LOCK = 0x48454144  # "HEAD": one number for the advisory lock of every Headwater store in a database
_LOCK = f"SELECT pg_advisory_xact_lock({_WRITE_LOCK})"
_BUSY_MILLISECONDS = 60_000
_POSTGRES_DRIVER = "postgresql+psycopg"

Transaction = Connection
"""An open one, as those know it who hand it on and say no SQL themselves."""


class Database:
    """An engine with the two kinds of transaction we use."""

    def __init__(self, url: str, *, create: bool = True) -> None:
        self.url = _parse(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self.file = _sqlite_file(self.url) if self.is_sqlite else None
        self._inode: int | None = None
        # In memory all threads share one connection, so they take turns.
        self._turn: AbstractContextManager[object] = RLock() if self.is_in_memory else nullcontext()
        if self.file is not None and not self.file.exists():
            if not create:
                raise StoreMissing(f"There is no store at {self}. `headwater ingest` makes one.")
            self._make_folder()
        self.engine = self._engine()
        self._driver = self.engine.dialect.loaded_dbapi

    def __str__(self) -> str:
        return _address(self.url)

    @property
    def is_in_memory(self) -> bool:
        """Whether only this process can access it."""
        return self.is_sqlite and self.file is None

    @property
    def dialect(self) -> Dialect:
        return DIALECTS[self.url.get_backend_name()]

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A consistent view: every statement within sees the same moment."""
        with self._turn, self._translated(), self.engine.connect() as conn, conn.begin():
            if not self.is_sqlite:
                conn.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"))
            yield conn

    @contextmanager
    def write(self, *, alone: bool = True, wait: bool = True) -> Iterator[Connection]:
        """The only writer: commits whole at the end, or leaves nothing.

        With ``alone=False`` others may write beside it where the database can: for what rows of a queue are locked by
        themselves, and the log is not touched. With ``wait=False`` SQLite refuses at once if another has the lock.
        """
        with self._turn, self._translated(), self.engine.connect() as conn:
            conn.execution_options(headwater_write=True)
            pending.expect(conn)
            with self._patience(conn, wait), conn.begin():
                if alone and not self.is_sqlite:
                    pending.later(conn, _LOCK, [()])
                yield conn
                pending.send(conn)
                self._still_there()

    def close(self) -> None:
        self.engine.dispose()

    @contextmanager
    def _patience(self, conn: Connection, wait: bool) -> Iterator[None]:
        if wait or not self.is_sqlite:
            yield
            return
        cursor = conn.connection.cursor()
        cursor.execute("PRAGMA busy_timeout = 0")
        try:
            yield
        finally:
            cursor.execute(f"PRAGMA busy_timeout = {_BUSY_MILLISECONDS}")
            cursor.close()

    def _make_folder(self) -> None:
        assert self.file is not None
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreUnavailable(f"Cannot make a store at {self}: {error.strerror}.") from None

    def _engine(self) -> Engine:
        if not self.is_sqlite:
            # READ COMMITTED, whatever the server's default: a writer has to see what was committed while it waited.
            url = self.url.set(drivername=_POSTGRES_DRIVER)
            engine = create_engine(url, pool_pre_ping=True, pool_use_lifo=True, isolation_level="READ COMMITTED")
        elif self.file is None:
            # One connection, shared: a second one would see another, empty, memory.
            engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
        else:
            timeout = _BUSY_MILLISECONDS / 1000
            # The connection used last knows most: its pages of the file, its prepared statements.
            engine = create_engine(self.url, pool_use_lifo=True, connect_args={"timeout": timeout})
        pending.watch(engine)
        if self.is_sqlite:
            event.listen(engine, "connect", self._set_up_sqlite)
            event.listen(engine, "begin", _begin_sqlite)
            # Before a connection is made, too: SQLite would put an empty file where ours was.
            event.listen(engine, "do_connect", lambda *_: self._still_there())
            event.listen(engine, "checkout", lambda *_: self._still_there())
        return engine

    def _set_up_sqlite(self, connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None  # we say BEGIN ourselves
        cursor = connection.cursor()
        if self.file is not None:
            if self._inode is None:
                self._inode = self.file.stat().st_ino
            if cursor.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                try:
                    cursor.execute("PRAGMA journal_mode = WAL")
                except sqlite3.OperationalError as error:
                    if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_BUSY):
                        raise
        # FULL: what was acknowledged survives a power cut, not only a killed process.
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.execute("PRAGMA temp_store = MEMORY")
        cursor.execute("PRAGMA cache_size = -65536")
        # SQLite's own knows ASCII alone; searching for a name should not care about case in any script.
        connection.create_function("lower", 1, _lower, deterministic=True)
        cursor.close()

    def _still_there(self) -> None:
        """Refuse to go on writing into a file that was deleted or replaced: its readers would never see it."""
        if self.file is None or self._inode is None:
            return
        try:
            inode = self.file.stat().st_ino
        except OSError:
            inode = None
        if inode != self._inode:
            raise StoreUnavailable(f"The store at {self} is gone: the file was removed or replaced.")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (SQLAlchemyError, self._driver.Error) as error:
            translated = self._translate(error)
            if translated is None:
                raise
            raise translated from error

    def _translate(self, error: Exception) -> StoreError | None:
        original = error.orig if isinstance(error, DBAPIError) else error
        if isinstance(original, sqlite3.Error):
            return self._translate_sqlite(original)
        sqlstate = getattr(original, "sqlstate", None) or ""
        if sqlstate in ("25006", "42501"):
            return StoreReadOnly(f"The store at {self} takes no writes: {first_line(original)}")
        if f'database "{self.url.database}" does not exist' in str(original):  # libpq gives no code while connecting
            return StoreMissing(f"There is no database at {self}.")
        if isinstance(original, self._driver.ProgrammingError) and not sqlstate:
            return StoreUrlInvalid(f"The address {self} cannot be used: {first_line(original)}.")
        if sqlstate == "53100":
            return StoreFull(f"The store at {self} is full: {first_line(original)}")
        failed = isinstance(original, self._driver.OperationalError)
        if failed and (not sqlstate or sqlstate[:2] in ("08", "57", "28", "53")):
            return StoreUnavailable(f"The store at {self} does not answer: {first_line(original)}")
        return None

    def _translate_sqlite(self, error: sqlite3.Error) -> StoreError | None:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_READONLY:
            return StoreReadOnly(f"The store at {self} takes no writes: {error}.")
        if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
            return StoreUnavailable(f"{self} cannot be read as a database: {error}.")
        if code == sqlite3.SQLITE_FULL:
            return StoreFull(f"The store at {self} is full: {error}.")
        if code in (
            sqlite3.SQLITE_CANTOPEN,
            sqlite3.SQLITE_IOERR,
            sqlite3.SQLITE_BUSY,
            sqlite3.SQLITE_PERM,
        ):
            return StoreUnavailable(f"The store at {self} does not answer: {error}.")
        return None


def fetch_plainly(conn: Connection, sql: str) -> list[PlainRow]:
    """Rows as the driver gives them. Text that is not UTF-8, as only a tampered file of SQLite has, is no error."""
    cursor = conn.connection.cursor()
    try:
        cursor.execute(sql)
        return list(cursor.fetchall())
    except sqlite3.OperationalError:
        driver: sqlite3.Connection | None = conn.connection.driver_connection
        assert driver is not None
        strict, driver.text_factory = driver.text_factory, decode_anything
        try:
            cursor.execute(sql)
            return list(cursor.fetchall())
        finally:
            driver.text_factory = strict
    finally:
        cursor.close()


def decode_anything(text: bytes) -> str:
    return text.decode(errors="surrogateescape")


def _lower(value: str | None) -> str | None:
    return None if value is None else value.lower()


def _begin_sqlite(conn: Connection) -> None:
    write = conn.get_execution_options().get("headwater_write", False)
    conn.connection.cursor().execute("BEGIN IMMEDIATE" if write else "BEGIN")


def _parse(url: str) -> URL:
    if url == "memory://":
        return make_url("sqlite://")
    try:
        parsed = make_url(url)
        backend = parsed.get_backend_name()
    except (ArgumentError, ValueError, NoSuchModuleError):
        raise StoreUrlInvalid(f"'{_without_password(url)}' is not a store address. Use {_FORMS}.") from None
    if backend == "postgres":
        parsed, backend = parsed.set(drivername="postgresql"), "postgresql"
    if backend not in ("sqlite", "postgresql"):
        raise StoreUrlInvalid(f"No store can live at a '{backend}' address. Use {_FORMS}.")
    return parsed


def _without_password(url: str) -> str:
    """An address that could not be read, without what may be its password."""
    scheme, mark, _ = url.partition("://")
    return shorten(f"{scheme if mark else ''}{mark}…" if "@" in url or "password" in url else url)


def shown_address(url: str) -> str:
    """The address without its password; one that no store can have is refused, whether or not anything is there."""
    return _address(_parse(url))


def is_embedded(url: str) -> bool:
    """Whether the store is in this machine's memory or a file, and not on a database server."""
    return _parse(url).get_backend_name() == "sqlite"


def file_at(url: str) -> Path | None:
    """The file of an embedded store, whether or not it is there; None for one in memory or on a database server."""
    parsed = _parse(url)
    return _sqlite_file(parsed) if parsed.get_backend_name() == "sqlite" else None


def _address(url: URL) -> str:
    if url.get_backend_name() == "sqlite":
        file = _sqlite_file(url)
        return "memory://" if file is None else f"sqlite:///{file}"
    shown = url.set(drivername="postgresql").difference_update_query(["password", "sslpassword"])
    return shown.render_as_string(hide_password=True)


def _sqlite_file(url: URL) -> Path | None:
    if url.database in (None, "", ":memory:"):
        return None
    assert url.database is not None
    path = url.database.removeprefix("file:") if "uri" in url.query else url.database
    try:
        return Path(os.path.abspath(path))
    except OSError as error:
        raise StoreUnavailable(f"'{path}' cannot be found from here: {error.strerror}.") from None
