"""The database disappears under an open store: one clear line, and nothing half written."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import text

from headwater.errors import StoreError, StoreFull, StoreUnavailable
from headwater.store.engine import database
from headwater.store.store import Store
from tests.store.one_line import refused
from tests.store.short_answers import links, row_counts
from tests.support.events import run_event
from tests.support.postgres import PostgresServer


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def open_store(file: Path) -> Iterator[Store]:
    with Store(f"sqlite:///{file}") as store:
        store.ingest(run_event(inputs=["a"], outputs=["b"]))
        yield store


def is_gone(store: Store) -> None:
    for _ in range(2):
        with refused(StoreUnavailable, "is gone", "store.db"):
            store.ingest(run_event(run="later"))
        with refused(StoreUnavailable, "is gone", "store.db"):
            store.runs()


def test_a_deleted_file(open_store: Store, file: Path) -> None:
    file.unlink()
    is_gone(open_store)
    assert not file.exists(), "an empty database would hide the loss"


def test_a_deleted_folder(open_store: Store, file: Path) -> None:
    shutil.rmtree(file.parent)
    is_gone(open_store)
    assert not file.parent.exists()


def test_a_replaced_file(open_store: Store, file: Path) -> None:
    other = file.with_name("other.db")
    Store(f"sqlite:///{other}").close()
    other.replace(file)
    is_gone(open_store)


@pytest.mark.parametrize("replaced", [False, True])
def test_a_new_connection_detects_a_replaced_file(open_store: Store, file: Path, replaced: bool) -> None:
    """One thread still reads the old file while another opens a new connection."""
    with open_store._database.read() as conn:
        assert conn.execute(text("SELECT count(*) FROM event")).scalar() == 1
        file.unlink()
        if replaced:
            Store(f"sqlite:///{file}").close()
        is_gone(open_store)
    is_gone(open_store)
    assert file.exists() == replaced


def test_a_file_deleted_during_a_write(open_store: Store, file: Path) -> None:
    with refused(StoreUnavailable, "is gone"), open_store._database.write() as conn:
        conn.execute(text("UPDATE run SET state = 'FAIL'"))
        file.unlink()


def test_a_corrupt_file(file: Path) -> None:
    with Store(f"sqlite:///{file}") as store:
        store.ingest_many(run_event(run=str(i), inputs=[f"a{i}"], outputs=[f"b{i}"]) for i in range(50))
    content = bytearray(file.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    file.write_bytes(content)
    with refused(StoreUnavailable, "store.db", "cannot be read as a database"):
        Store(f"sqlite:///{file}").datasets()


def test_a_full_disk(open_store: Store) -> None:
    """As SQLite reports it: the file must not grow."""
    before = row_counts(open_store)
    with open_store._database.engine.connect() as conn:
        pages = conn.exec_driver_sql("PRAGMA page_count").scalar_one()
        conn.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
    with refused(StoreFull, "full"):
        open_store.ingest_many(run_event(run=str(i), inputs=[f"in {i}" * 500]) for i in range(200))
    assert row_counts(open_store) == before
    assert open_store.verify()[0] == 1


def test_a_writer_that_holds_the_lock(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_BUSY_MILLISECONDS", 200)
    with Store(f"sqlite:///{file}") as store:
        store.ingest(run_event(run="before"))
        holder = sqlite3.connect(file, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        with refused(StoreUnavailable, "locked"):
            store.ingest(run_event(run="during"))
        assert len(store.runs()) == 1, "reading goes on meanwhile"
        holder.execute("ROLLBACK")
        holder.close()
        store.ingest(run_event(run="after"))
        assert len(store.runs()) == 2


@pytest.mark.usefixtures("postgres")  # skips where there is none
def test_a_server_that_stops() -> None:
    with PostgresServer() as server:
        server.create_database("store")
        store = Store(server.plain_url("store"))
        store.ingest(run_event(inputs=["a"], outputs=["b"]))
    for _ in range(2):
        with refused(StoreUnavailable, "does not answer"):
            store.ingest(run_event(run="later"))
        with refused(StoreUnavailable, "does not answer"):
            store.upstream("b")
    store.close()


@pytest.mark.usefixtures("postgres")  # skips where there is none
def test_a_server_that_stops_during_a_write() -> None:
    server = PostgresServer()
    server.start()
    server.create_database("store")
    store = Store(server.plain_url("store"))
    with refused(StoreUnavailable, "does not answer"), store._database.write() as conn:
        server.stop()
        conn.execute(text("SELECT 1"))
    store.close()


def test_a_dropped_database(postgres: PostgresServer) -> None:
    postgres.create_database("to_be_dropped")
    with Store(postgres.plain_url("to_be_dropped")) as store:
        store.ingest(run_event())
        postgres.drop_database("to_be_dropped")
        with pytest.raises(StoreError) as gone:
            store.runs()
        assert str(gone.value).isprintable()
        assert "to_be_dropped" in str(gone.value)


def close_all_connections(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def test_closed_connections_are_reopened(postgres_url: str) -> None:
    with Store(postgres_url) as store:
        for run in ("1", "2", "3"):
            store.ingest(run_event(run=run))
            close_all_connections(postgres_url)
        assert len(store.runs()) == 3
        assert store.verify()[0] == 3


def test_a_connection_closed_during_a_write_leaves_nothing(postgres_url: str) -> None:
    with Store(postgres_url) as store:
        store.ingest(run_event(inputs=["a"], outputs=["b"]))
        with refused(StoreUnavailable, "does not answer"), store._database.write() as conn:
            conn.execute(text("UPDATE run SET state = 'FAIL'"))
            close_all_connections(postgres_url)
            conn.execute(text("SELECT 1"))
        assert links(store) == {("a", "b")}
        assert [run.state for run in store.runs()] == ["COMPLETE"]


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
def test_a_stricter_default_isolation_does_not_matter(postgres_url: str, isolation: str) -> None:
    """Commits that another writer made while we waited for the lock must be visible."""
    from threading import Thread

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        database = connection.info.dbname
        connection.execute(f"ALTER DATABASE {database} SET default_transaction_isolation = '{isolation}'".encode())
    stores = [Store(postgres_url) for _ in range(2)]

    def write(number: int) -> None:
        for i in range(15):
            stores[number].ingest(run_event(run=f"{number} {i}", inputs=["a"], outputs=[f"x{i}"], minute=i))

    threads = [Thread(target=write, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert row_counts(stores[0])["event"] == 30
    assert stores[1].verify()[0] == 30
    for store in stores:
        store.close()
