"""Checks the store: connection, schema version, write access, and whether readers and a writer block each other."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from headwater.doctor.findings import DoctorOptions, Finding, failed, ok, warning
from headwater.errors import (
    StoreError,
    StoreMissing,
    StoreNotOurs,
    StoreOutdated,
    StoreReadOnly,
    StoreTooNew,
    StoreUnavailable,
    StoreUrlInvalid,
)
from headwater.store.engine.database import Database, file_at
from headwater.store.engine.health import journal_mode, try_writing
from headwater.store.schema.upgrade import ensure_current, version_of

_HOW_TO_CREATE = "The first captured job or `headwater ingest` creates it."
_REMEDIES: dict[type[StoreError], str] = {
    StoreOutdated: "headwater db upgrade",
    StoreTooNew: "Upgrade Headwater: pip install --upgrade headwater",
    StoreNotOurs: "Choose another database or schema with --store or HEADWATER_STORE.",
    StoreUrlInvalid: "Choose the store with --store or HEADWATER_STORE.",
    StoreMissing: "Create the database, or choose another with --store or HEADWATER_STORE.",
    StoreReadOnly: "Give this user write access to it.",
    StoreUnavailable: "Check that the file is readable, or the server reachable, from this machine.",
}


def store(options: DoctorOptions) -> Iterator[Finding]:
    try:
        database = Database(options.store, create=False)
    except StoreMissing as missing:
        yield _missing_store(options, missing)
        return
    except StoreError as refused:
        yield _store_failure("store", refused)
        return
    try:
        yield from _inspect(database)
    finally:
        database.close()


def _inspect(database: Database) -> Iterator[Finding]:
    empty = False
    try:
        empty = version_of(database) is None
        ensure_current(database, create=False)
    except StoreMissing as missing:
        # Headwater creates a store in an empty database, but never a database.
        yield warning("store", f"{database} is empty", _HOW_TO_CREATE) if empty else _store_failure("store", missing)
        return
    except StoreError as error:
        yield _store_failure("store", error)
        return
    yield ok("store", f"{database}, schema up to date")
    try:
        try_writing(database)
    except StoreError as refused:
        yield _store_failure("writing", refused)
    else:
        yield ok("writing", "the store accepts writes")
    mode = journal_mode(database)
    if mode == "wal":
        yield ok("journal", "WAL: readers and the writer do not block each other")
    elif mode is not None:
        yield warning(
            "journal",
            f"{mode}, not WAL: the writer blocks readers",
            "Make the file and its folder writable, on a local disk: WAL does not work on network drives.",
        )


def _missing_store(options: DoctorOptions, missing: StoreMissing) -> Finding:
    """Report a missing store: a new installation, or a folder where none can be created."""
    file = file_at(options.store)
    if file is None:
        return _store_failure("store", missing)
    above = nearest_existing(file.parent)
    if not above.is_dir() or not os.access(above, os.W_OK):
        return failed("store", f"No store there, and {above} is not writable", _REMEDIES[StoreReadOnly])
    return warning("store", f"No store yet at sqlite:///{file}", _HOW_TO_CREATE)


def nearest_existing(folder: Path) -> Path:
    """Return the folder, or its nearest existing parent."""
    return next((path for path in (folder, *folder.parents) if path.exists()), folder)


def _store_failure(check: str, error: StoreError) -> Finding:
    return failed(
        check, str(error), _REMEDIES.get(type(error), "Choose another store with --store or HEADWATER_STORE.")
    )
