"""A backup is a store: the same answers, the same proofs, from and to either database."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from headwater.errors import StoreError, StoreMissing
from headwater.store.engine.backup import backup, restore
from headwater.store.engine.database import Database
from headwater.store.store import Store
from tests.oracles.dump import state_of_store
from tests.store.short_answers import row_counts
from tests.store.workload import busy_day
from tests.support.events import run_event


def back_up(url: str, file: Path) -> None:
    with closing(Database(url, create=False)) as database:
        assert backup(database, file) == file.stat().st_size > 0


@pytest.fixture
def target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty location of the other kind, or of the same."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/restored.db"
    server = request.getfixturevalue("postgres")
    make: Callable[..., str] = request.getfixturevalue("new_postgres_database")
    return str(server.plain_url(make("template0")))


@pytest.mark.parametrize(
    ("durable_url", "target"),
    [
        *(("sqlite", "postgresql"), ("postgresql", "sqlite")),
        *(pytest.param(kind, kind, marks=pytest.mark.long) for kind in ("sqlite", "postgresql")),
    ],
    indirect=True,
)
def test_backup_and_restore(durable_url: str, target: str, tmp_path: Path) -> None:
    file = tmp_path / "backups" / "store.db"
    with Store(durable_url) as store:
        store.ingest_many(busy_day(10))
        back_up(durable_url, file)
        assert [path.name for path in file.parent.iterdir()] == ["store.db"]
        with Store(f"sqlite:///{file}", create=False) as copy:
            assert state_of_store(copy) == state_of_store(store)
            assert copy.verify() == store.verify()
        with closing(Database(target)) as database:
            restore(file, database)
        with Store(target, create=False) as restored:
            assert row_counts(restored) == row_counts(store)
            assert restored.audit() == store.audit()
            assert restored.verify() == store.verify()
            for event in busy_day(14):  # life goes on, from the next free number
                assert restored.ingest(event) == store.ingest(event)
            assert state_of_store(restored) == state_of_store(store)
            restored.verify()


def test_while_others_write(durable_url: str, tmp_path: Path) -> None:
    with Store(durable_url) as store:
        store.ingest_many(run_event(run=str(number), outputs=[f"d{number}"]) for number in range(50))
        over = threading.Event()

        def write() -> None:
            number = 50
            while not over.is_set():
                store.ingest(run_event(run=str(number), inputs=["d0"], outputs=[f"d{number}"]))
                number += 1

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for number in range(3):
                back_up(durable_url, tmp_path / f"{number}.db")
        finally:
            over.set()
            writer.join()
        counts = []
        for number in range(3):
            with Store(f"sqlite:///{tmp_path}/{number}.db", create=False) as copy:
                counts.append(copy.verify().entries)
                assert row_counts(copy)["event"] == counts[-1]
        assert 50 <= counts[0] <= counts[1] <= counts[2] <= store.verify().entries
        assert store.verify().entries > 50


def test_nothing_is_overwritten(durable_url: str, tmp_path: Path) -> None:
    Store(durable_url).close()
    file = tmp_path / "b.db"
    back_up(durable_url, file)
    with pytest.raises(StoreError, match="is there already"):
        back_up(durable_url, file)
    with Store(durable_url) as store:
        store.ingest(run_event())
    with closing(Database(durable_url)) as database, pytest.raises(StoreError, match="is not empty"):
        restore(file, database)
    with closing(Database("memory://")) as database, pytest.raises(StoreMissing, match="no backup"):
        restore(tmp_path / "none.db", database)
