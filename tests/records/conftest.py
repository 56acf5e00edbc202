"""A ledger for tests, and a clock that the tests set."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headwater.client import Lineage
from headwater.records.intake.loading import DeliveryOptions, QueueLoader
from headwater.records.intake.worker import Worker, WorkerOptions, WorkerTotals
from headwater.records.ledger import Records
from headwater.store.schema.tables import to_micros
from tests.records.oracle import NOON

SECOND = 1_000_000


class Clock:
    def __init__(self) -> None:
        self.now = to_micros(NOON)

    def __call__(self) -> int:
        return self.now

    def on(self, seconds: float) -> None:
        self.now += int(seconds * SECOND)


class RecordedProgress:
    """What a worker reports."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def progress(self, totals: WorkerTotals) -> None:
        pass

    def message(self, line: str) -> None:
        self.lines.append(line)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(autouse=True)
def no_archive_of_mine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEADWATER_ARCHIVE", raising=False)


@pytest.fixture
def lineage(store_url: str) -> Iterator[Lineage]:
    with Lineage(store_url) as opened:
        yield opened


@pytest.fixture
def records(lineage: Lineage, clock: Clock, tmp_path: Path) -> Records:
    return Records(lineage._database, archive=str(tmp_path / "archive"), now=clock)


@pytest.fixture
def durable(durable_url: str, clock: Clock, tmp_path: Path) -> Iterator[Records]:
    """The same without the store in memory, for tests with several connections."""
    with Lineage(durable_url) as opened:
        yield Records(opened._database, archive=str(tmp_path / "archive"), now=clock)


def no_compaction() -> str:
    raise AssertionError("nobody asked for a compaction")


@pytest.fixture
def progress() -> RecordedProgress:
    return RecordedProgress()


@pytest.fixture
def new_worker(progress: RecordedProgress) -> Callable[..., Worker]:
    def make(records: Records, **told: object) -> Worker:
        working = WorkerOptions(**{"compact_at": None, **told})  # type: ignore[arg-type]
        return records.worker(working, progress, no_compaction)

    return make


def loader(records: Records, **terms: int) -> QueueLoader:
    return QueueLoader(records.database, DeliveryOptions(**terms), records._now)


def load_all(records: Records) -> int:
    """Loads everything that can be loaded now."""
    loading, total = loader(records), 0
    while (done := loading.load(1_000)).taken:
        total += done.loaded
    return total
