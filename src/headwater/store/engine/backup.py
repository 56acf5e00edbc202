"""Backup and restore, while others read and write.

A backup is itself a store, in one file: whatever the database was, it can be asked and verified where it lies. SQLite
copies itself; between different databases the rows are copied as they are, in one transaction on either side.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sqlalchemy import Connection, Table, text

from headwater.errors import StoreError, StoreMissing, StoreUnavailable
from headwater.store.engine.database import Database
from headwater.store.engine.dialect import dialect_of
from headwater.store.schema.tables import metadata
from headwater.store.schema.upgrade import ensure_current

_AT_ONCE = 2_000


def backup(database: Database, file: Path) -> int:
    """All that is in the store at this moment, as a store in ``file``; how many bytes that is."""
    ensure_current(database, create=False)
    with _new_file(file) as unfinished:
        if database.file is not None:
            _copy_file(database.file, unfinished)
        else:
            with closing(Database(f"sqlite:///{unfinished}")) as copy:
                _copy_rows(database, copy)
    return file.stat().st_size


def restore(file: Path, database: Database) -> int:
    """Into a store with nothing in it. The number of rows."""
    if not file.is_file():
        raise StoreMissing(f"There is no backup at {file}.")
    with closing(Database(f"sqlite:///{file}", create=False)) as source:
        ensure_current(source, create=False)
        return _copy_rows(source, database)


@contextmanager
def _new_file(file: Path) -> Iterator[Path]:
    """Under another name until it is whole: a backup that breaks off is none."""
    if file.exists():
        raise StoreError(f"{file} is there already. A backup does not replace another.")
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_name(f"{file.name}.unfinished")
    unfinished.unlink(missing_ok=True)
    try:
        yield unfinished
        with open(unfinished, "rb+") as written:
            os.fsync(written.fileno())
        unfinished.replace(file)
    finally:
        for name in (unfinished, *(unfinished.with_name(unfinished.name + end) for end in ("-wal", "-shm"))):
            name.unlink(missing_ok=True)


def _copy_file(source: Path, target: Path) -> None:
    """By SQLite's own means: a reader, so it neither waits for the writer nor holds it up."""
    try:
        with closing(sqlite3.connect(source)) as opened, closing(sqlite3.connect(target)) as copy:
            opened.backup(copy)
            # One file, with nothing beside it that could be left behind.
            copy.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.Error as error:
        raise StoreUnavailable(f"The store at {source} cannot be copied to {target}: {error}.") from error


def _copy_rows(source: Database, target: Database) -> int:
    ensure_current(target, create=True)
    copied = 0
    with source.read() as reading, target.write() as writing:
        _refuse_full(writing, target)
        for table in reversed(metadata.sorted_tables):
            # What a new store begins with is in the other one too.
            if writing.execute(text(f"SELECT 1 FROM {table.name} LIMIT 1")).first() is not None:
                writing.execute(table.delete())
        for table in metadata.sorted_tables:
            copied += _copy_table(table, reading, writing)
            target.dialect.number_on(writing, table)
    return copied


def _refuse_full(conn: Connection, target: Database) -> None:
    for name in ("event", "audit"):
        if conn.execute(text(f"SELECT 1 FROM {name} LIMIT 1")).first() is not None:
            raise StoreError(f"The store at {target} is not empty. Restore into a new one.")


def _copy_table(table: Table, reading: Connection, writing: Connection) -> int:
    """The values as the drivers have them: JSON is not read and written again, so not a byte of it changes."""
    names = ", ".join(f'"{column.name}"' for column in table.columns)
    mark = dialect_of(writing).placeholder
    insert = f"INSERT INTO {table.name} ({names}) VALUES ({', '.join([mark] * len(table.columns))})"
    rows = reading.execution_options(yield_per=_AT_ONCE).exec_driver_sql(f"SELECT {names} FROM {table.name}")
    copied = 0
    with closing(writing.connection.cursor()) as cursor:
        for part in rows.partitions(_AT_ONCE):
            cursor.executemany(insert, [tuple(row) for row in part])
            copied += len(part)
    return copied
