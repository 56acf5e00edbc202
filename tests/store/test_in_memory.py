"""`memory://` is SQLite's code without a file: it answers like a file, and nothing of it persists."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from headwater.client import Lineage
from headwater.errors import HeadwaterError
from headwater.store.store import Store
from tests.oracles.dump import state_of_store
from tests.store.workload import busy_day
from tests.support.events import run_event

RUNS = 30
DATASET = "t3"


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Lineage, Lineage]]:
    """The same day in memory and in a file."""
    url = f"sqlite:///{tmp_path_factory.mktemp('in_memory')}/store.db"
    with Lineage("memory://") as in_memory, Lineage(url) as in_a_file:
        for lineage in (in_memory, in_a_file):
            lineage.ingest_many(busy_day(RUNS))
        yield in_memory, in_a_file


def test_the_same_tables(pair: tuple[Lineage, Lineage]) -> None:
    in_memory, in_a_file = pair
    assert state_of_store(in_memory) == state_of_store(in_a_file)
    assert in_memory.verify().entries == in_a_file.verify().entries == len(busy_day(RUNS))


QUERIES: dict[str, Callable[[Lineage], Any]] = {
    "datasets": lambda lineage: list(lineage.datasets()),
    "dataset": lambda lineage: lineage.dataset(DATASET),
    "upstream": lambda lineage: lineage.upstream(DATASET),
    "upstream of a column": lambda lineage: lineage.upstream(DATASET, column="a"),
    "downstream": lambda lineage: lineage.downstream(DATASET, depth=2),
    "impact": lambda lineage: lineage.impact(DATASET),
    "runs": lambda lineage: list(lineage.runs()),
}


@pytest.mark.parametrize("question", QUERIES)
def test_the_same_answers(pair: tuple[Lineage, Lineage], question: str) -> None:
    in_memory, in_a_file = (repr(QUERIES[question](lineage)) for lineage in pair)  # nodes are equal to themselves alone
    assert in_memory == in_a_file


def test_every_connection_is_a_store_of_its_own() -> None:
    with Store("memory://") as one, Store("memory://") as other:
        one.ingest(run_event("COMPLETE", inputs=["a"], outputs=["b"]))
        assert len(list(one.datasets())) == 2
        assert list(other.datasets()) == []


def test_threads_write_and_read_at_once() -> None:
    with Store("memory://") as expected:
        expected.ingest_many(busy_day(RUNS))
        with Store("memory://") as store, ThreadPoolExecutor(4) as pool:
            list(pool.map(store.ingest, busy_day(RUNS)))
            assert state_of_store(store) == state_of_store(expected)
            assert store.verify()[0] == len(busy_day(RUNS))


def test_a_refused_batch_leaves_nothing() -> None:
    with Store("memory://") as store:
        with pytest.raises(HeadwaterError):
            store.ingest_many([run_event("COMPLETE", inputs=["a"], outputs=["b"]), {"eventType": "COMPLETE"}])
        assert list(store.datasets()) == []
        assert store.verify()[0] == 0
