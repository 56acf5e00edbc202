"""Whether the store can be written now, found out by writing. Cheap enough for a readiness check, and leaves nothing.

A small commit alone does not prove that there is space: SQLite reuses its write-ahead log, and both databases reuse
free pages. So the probe also reserves space where the database would take it, and gives it back.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import tempfile
from pathlib import Path

from sqlalchemy import insert, select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.expression import false

from headwater.errors import StoreError, StoreFull, StoreReadOnly, StoreUnavailable
from headwater.store.engine.database import Database
from headwater.store.schema.migrations import VERSION_TABLE
from headwater.store.schema.tables import audit, event

_RESERVED_BYTES = 2**20
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# A row written as it is: SQLite commits its page, and nothing has changed.
_TOUCH = text(f"UPDATE {VERSION_TABLE} SET version_num = version_num")


def probe_writes(database: Database) -> None:
    """A StoreError where events could not be stored. Another writer that has the lock is no error: it can write."""
    if database.file is not None:
        _reserve_beside(database, database.file)
        _probe_file(database)
    elif not database.is_in_memory:
        _probe_server(database)


def _probe_file(database: Database) -> None:
    try:
        with database.write(wait=False) as conn:
            conn.execute(_TOUCH)
    except StoreUnavailable as error:
        if not _is_busy(error):
            raise


def _probe_server(database: Database) -> None:
    # Without the advisory lock: nobody who ingests waits for it.
    with database.write(alone=False) as conn:
        for table in (event, audit):  # no row at all, but the database refuses it as it would refuse any
            nothing = select(table).where(false())
            conn.execute(insert(table).from_select([column.name for column in table.c], nothing))
        database.dialect.reserve(conn, _RESERVED_BYTES)


def _reserve_beside(database: Database, file: Path) -> None:
    """Space on the database's own disk, in a file without a name: it is gone when it is closed, or the process ends."""
    try:
        with tempfile.TemporaryFile(dir=file.parent) as probe:
            _reserve(probe.fileno())
    except OSError as error:
        if error.errno in _FULL:
            raise StoreFull(f"The store at {database} is full: {error.strerror}.") from None
        if error.errno == errno.EROFS:
            raise StoreReadOnly(f"The store at {database} takes no writes: {error.strerror}.") from None
        if error.errno == errno.EIO:
            raise StoreUnavailable(f"The store at {database} does not answer: {error.strerror}.") from None
        # A folder without the right to make files says nothing of the database in it: the transaction will tell.


def _reserve(descriptor: int) -> None:
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, _RESERVED_BYTES)
    else:  # macOS, Windows
        os.write(descriptor, bytes(_RESERVED_BYTES))


def _is_busy(error: StoreError) -> bool:
    cause = error.__cause__
    original = cause.orig if isinstance(cause, DBAPIError) else cause
    return isinstance(original, sqlite3.Error) and original.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
