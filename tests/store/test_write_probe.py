"""Whether a store can be written: probed by a write, immediately, and without leaving anything."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import inspect, text

from headwater.errors import StoreReadOnly, StoreUnavailable
from headwater.store.engine.database import Database
from headwater.store.engine.write_probe import probe_writes
from headwater.store.schema.tables import metadata
from headwater.store.store import Store
from tests.support.events import run_event


def content(url: str) -> dict[str, Any]:
    database = Database(url)
    with database.read() as conn:
        names = inspect(conn).get_table_names()
        rows = {table.name: conn.execute(table.select()).fetchall() for table in metadata.sorted_tables}
    database.close()
    return {"tables": sorted(names), **rows}


def test_the_probe_leaves_nothing(store_url: str) -> None:
    probing = Database(store_url)
    with Store(store_url) as store:
        store.ingest(run_event(outputs=["x"]))
        before = content(store_url)
        for _ in range(3):
            probe_writes(probing)
        assert content(store_url) == before
        store.verify()
    probing.close()


def test_it_does_not_wait_for_another_writer(store_url: str) -> None:
    """Nor does it report the store as unavailable: another writer is active."""
    holder, probing = Database(store_url), Database(store_url)
    with Store(store_url):
        pass
    with holder.write() as conn:
        conn.execute(text("UPDATE headwater_version SET version_num = version_num"))
        if holder.is_sqlite:
            probe_writes(probing)
    if not holder.is_sqlite:
        with holder.write() as conn:
            conn.execute(text("SELECT 1"))  # the advisory lock that every writer takes
            probe_writes(probing)
    with probing.write() as conn:  # and it waits for others as before
        if probing.is_sqlite:
            assert conn.scalar(text("PRAGMA busy_timeout")) == 60_000
    holder.close()
    probing.close()


def test_a_missing_file(sqlite_url: str) -> None:
    with Store(sqlite_url):
        pass
    database = Database(sqlite_url)
    probe_writes(database)
    Path(sqlite_url.removeprefix("sqlite:///")).unlink()
    with pytest.raises(StoreUnavailable, match="was removed or replaced"):
        probe_writes(database)
    database.close()


def test_a_read_only_postgresql(postgres_url: str) -> None:
    with Store(postgres_url):
        pass
    mark = "&" if "?" in postgres_url else "?"
    database = Database(f"{postgres_url}{mark}options=-c%20default_transaction_read_only%3Don", create=False)
    with pytest.raises(StoreReadOnly, match="read-only transaction"):
        probe_writes(database)
    database.close()


LIMITED = """
import resource, sys
from headwater.errors import StoreError
from headwater.store.engine.database import Database
from headwater.store.store import Store
from headwater.store.engine.write_probe import probe_writes

with Store(sys.argv[1]):
    database = Database(sys.argv[1])
    probe_writes(database)
    resource.setrlimit(resource.RLIMIT_FSIZE, (65_536, 65_536))
    try:
        probe_writes(database)
    except StoreError as error:
        print(type(error).__name__, error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="not run: Windows limits no process's files")
def test_a_process_at_its_file_size_limit(sqlite_url: str) -> None:
    said = subprocess.run([sys.executable, "-c", LIMITED, sqlite_url], capture_output=True, text=True, check=True)
    assert said.stdout.startswith(f"StoreFull The store at {sqlite_url} is full: File too large.")
