"""Events into a real store that is locked, read-only, gone, not yet there, and back again."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from headwater.capture.delivery import IngestSink, SinkDown, SinkRefused
from headwater.store.engine import database
from headwater.store.store import Store
from tests.capture.delivery.conftest import Deliver
from tests.capture.delivery.watching import numbered, soon
from tests.store.short_answers import row_counts
from tests.support.events import run_event
from tests.support.postgres import PostgresServer


@pytest.fixture
def file(tmp_path: Path, sqlite_template: Path) -> Path:
    return Path(shutil.copy(sqlite_template, tmp_path / "store.db"))


def events_in(file: Path) -> int:
    with Store(f"sqlite:///{file}") as store:
        return row_counts(store)["event"]


def test_events_become_lineage(durable_url: str, deliver: Deliver) -> None:
    delivery = deliver(IngestSink(lambda: Store(durable_url)))
    for number in range(30):
        delivery.send(run_event("START", run=str(number)))
        delivery.send(run_event(run=str(number), inputs=["a"], outputs=[f"b{number}"], minute=1))
    assert delivery.flush(60)
    with Store(durable_url) as store:
        assert len(store.downstream("a").nodes) == 30
        assert row_counts(store)["event"] == 60


def test_what_was_delivered_before_changes_nothing(file: Path) -> None:
    """The window between the store's commit and our note of it."""
    import json

    sink = IngestSink(lambda: Store(f"sqlite:///{file}"))
    batch = [json.dumps(numbered(number)).encode() for number in range(5)]
    sink.deliver(batch)
    sink.deliver(batch)
    sink.close()
    assert events_in(file) == 5


def test_malformed_events_are_refused_one_by_one(file: Path, deliver: Deliver, warnings: list[str]) -> None:
    delivery = deliver(IngestSink(lambda: Store(f"sqlite:///{file}")))
    for number in range(10):
        delivery.send(numbered(number) if number % 4 else {"eventTime": "never", "number": number})
    assert delivery.flush(60)
    counts = delivery.counts["store"]
    assert (counts.delivered, counts.refused) == (7, 3)
    assert events_in(file) == 7
    assert len(warnings) == 1
    assert "Event refused at $" in warnings[0]
    with pytest.raises(SinkRefused, match=r"Event refused at \$: not JSON"):
        IngestSink(lambda: Store(f"sqlite:///{file}")).deliver([b"{"])


def test_a_locked_database(file: Path, deliver: Deliver, warnings: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_BUSY_MILLISECONDS", 100)
    holder = sqlite3.connect(file, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    delivery = deliver(IngestSink(lambda: Store(f"sqlite:///{file}")))
    delivery.send(numbered(0))
    delivery.send(numbered(1))
    assert not delivery.flush(0.5)
    holder.execute("ROLLBACK")
    holder.close()
    assert delivery.flush(60)
    assert events_in(file) == 2
    assert "locked" in warnings[0]
    assert warnings[1:] == ["store takes events again."]


def test_a_read_only_database(file: Path, deliver: Deliver, warnings: list[str]) -> None:
    address = [f"sqlite:///file:{file}?mode=ro&uri=true"]
    delivery = deliver(IngestSink(lambda: Store(address[0])))
    delivery.send(numbered(0))
    assert not delivery.flush(0.5)
    assert "takes no writes" in warnings[0]
    address[0] = f"sqlite:///{file}"
    assert delivery.flush(60)
    assert events_in(file) == 1


def test_a_database_that_goes_and_comes_back(file: Path, deliver: Deliver, warnings: list[str]) -> None:
    sink = IngestSink(lambda: Store(f"sqlite:///{file}", create=False))
    delivery = deliver(sink)
    delivery.send(numbered(0))
    assert delivery.flush(60)
    away = file.with_name("away.db")
    file.rename(away)
    delivery.send(numbered(1))
    assert not delivery.flush(0.5)
    assert "is gone" in warnings[0]
    away.rename(file)
    assert delivery.flush(60)
    assert events_in(file) == 2
    assert len(warnings) == 2


def test_a_database_that_is_not_there_at_the_start(tmp_path: Path, deliver: Deliver, warnings: list[str]) -> None:
    in_the_way = tmp_path / "folder"
    in_the_way.write_text("")
    delivery = deliver(IngestSink(lambda: Store(f"sqlite:///{in_the_way}/store.db"), name="sqlite store"))
    delivery.send(numbered(0))
    soon(lambda: warnings)
    assert warnings[0].startswith("sqlite store takes no events (Cannot make a store at")
    in_the_way.unlink()
    assert delivery.flush(60)
    assert events_in(in_the_way / "store.db") == 1


def test_a_server_without_our_database(postgres: PostgresServer, deliver: Deliver, warnings: list[str]) -> None:
    url = postgres.plain_url("made_later")
    delivery = deliver(IngestSink(lambda: Store(url)))
    delivery.send(numbered(0))
    soon(lambda: warnings)
    assert "There is no database" in warnings[0]
    postgres.create_database("made_later")
    try:
        assert delivery.flush(60)
        with Store(url) as store:
            assert row_counts(store)["event"] == 1
    finally:
        delivery.close(5)
        postgres.drop_database("made_later")


@pytest.mark.usefixtures("postgres")  # skips where there is none
def test_a_server_that_stops(deliver: Deliver, warnings: list[str]) -> None:
    with PostgresServer() as server:
        server.create_database("store")
        url = server.plain_url("store")
        delivery = deliver(IngestSink(lambda: Store(url)))
        delivery.send(numbered(0))
        assert delivery.flush(60)
    delivery.send(numbered(1))
    assert not delivery.flush(1)
    assert "does not answer" in warnings[0]
    assert delivery.counts["store"].waiting == 1


def test_other_failures_of_the_store_close_it(file: Path) -> None:
    opened: list[Failing] = []

    class Failing:
        closed = False

        def ingest_many(self, events: object) -> object:
            raise ZeroDivisionError

        def close(self) -> None:
            self.closed = True

    def connect() -> Failing:
        opened.append(Failing())
        return opened[-1]

    sink = IngestSink(connect)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            sink.deliver([b"{}"])
    assert [store.closed for store in opened] == [True, True]


def test_a_factory_that_cannot(file: Path) -> None:
    connect: Callable[[], Store] = lambda: Store("sqlite:///" + str(file.parent / "none" / "x.db"), create=False)  # noqa: E731
    with pytest.raises(SinkDown, match="There is no store at"):
        IngestSink(connect).deliver([b"{}"])
