"""Events far larger than usual: producers send 20 MB and more."""

from __future__ import annotations

import json
import time

import pytest

from headwater.model.lineage import Dependency
from headwater.store.store import Store
from tests.support.events import Json, facet, run_event, run_id, schema, symlinks, used

COLUMNS, SOURCES = 2_000, 75
MAX_SECONDS = 60
"""What a loaded machine may take at the very most; the usual is a fraction."""


def wide_event() -> bytes:
    """2,000 columns, each out of 75: 150,000 column edges in 20 MB."""
    how = [{"type": "DIRECT", "subtype": "TRANSFORMATION"}]

    def source(i: int) -> Json:
        return {
            "namespace": "warehouse",
            "name": f"s{i % 5}",
            "field": f"column_{i % COLUMNS:04}",
            "transformations": how,
        }

    fields = {f"column_{i:04}": {"inputFields": [source(i * 13 + j) for j in range(SOURCES)]} for i in range(COLUMNS)}
    facets = {
        "columnLineage": facet(fields=fields),
        "schema": schema(*(f"column_{i:04}:decimal(38,18)" for i in range(COLUMNS))),
    }
    event = run_event(inputs=[f"s{i}" for i in range(5)], outputs=[used("wide", facets=facets)])
    return json.dumps(event).encode()


def aliased(i: int) -> Json:
    return used(f"d{i}", facets={"symlinks": symlinks(f"t{i}")})


@pytest.mark.long
def test_an_event_of_20_megabytes(durable_url: str) -> None:
    body = wide_event()
    assert len(body) > 20_000_000
    with Store(durable_url) as store:
        started = time.monotonic()
        receipt = store.ingest(body)
        assert time.monotonic() - started < MAX_SECONDS
        assert receipt.problems == ()
        answer = store.upstream("wide", column="column_0000")
        assert len(answer.nodes) == SOURCES
        assert {node.dependency for node in answer.nodes} == {Dependency.DIRECT}
        assert len(store.run(run_id("run")).column_edges) == COLUMNS * SOURCES
        assert store.ingest(body).duplicate


def test_equal_and_changed_events_on_later_days(store: Store) -> None:
    """Smaller, as a daily run repeats it: the second day adds no edges, the third retires some."""

    def day(number: int, sources: int) -> Json:
        field = [{"namespace": "warehouse", "name": "s", "field": f"c{j}"} for j in range(sources)]
        facets = {"columnLineage": facet(fields={f"c{i}": {"inputFields": field} for i in range(100)})}
        return run_event(run=str(number), outputs=[used("wide", facets=facets)], minute=number * 1440)

    for number, sources in ((1, 20), (2, 20), (3, 15)):
        store.ingest(day(number, sources))
    assert len(store.upstream("wide", column="c7").nodes) == 15
    assert len(store.downstream("s", column="c7").nodes) == 100
    assert len(store.downstream("s", column="c17").nodes) == 0


@pytest.mark.long
def test_more_datasets_in_one_event_than_a_database_takes_parameters(durable_url: str) -> None:
    """SQLite accepts 32,766 bound parameters in one statement, PostgreSQL 65,535."""
    inputs = [used(f"d{i:05}", namespace="lake") for i in range(70_000)]
    with Store(durable_url) as store:
        store.ingest(run_event(inputs=inputs, outputs=["x"]))
        assert len(store.upstream("x").nodes) == 70_000
        assert len(store.datasets(limit=100_000)) == 70_001
        assert len(store.run(run_id("run")).edges) == 70_000
        store.ingest(run_event("FAIL", minute=1))
        assert store.upstream("x").nodes == ()


@pytest.mark.long
def test_more_aliases_in_one_event_than_a_database_takes_parameters(durable_url: str) -> None:
    with Store(durable_url) as store:
        store.ingest(run_event(inputs=[aliased(i) for i in range(70_000)], outputs=["x"]))
        assert store.dataset("catalog/t69999").summary.dataset.name == "d69999"
        assert len(store.upstream("x").nodes) == 70_000


@pytest.mark.parametrize("count", [600, pytest.param(2_000, marks=pytest.mark.long)])
def test_very_many_aliases_in_one_event(store: Store, count: int) -> None:
    """More than go into one statement."""
    store.ingest(run_event(inputs=[aliased(i) for i in range(count)], outputs=["x"]))
    assert store.dataset(f"catalog/t{count - 1}").summary.dataset.name == f"d{count - 1}"
    assert len(store.upstream("x").nodes) == count


def test_a_thousand_events_of_one_run(store: Store) -> None:
    """A streaming job sends events forever; each event is folded, and none of them twice."""
    store.ingest_many(run_event("RUNNING", inputs=[f"i{i}"], minute=i) for i in range(1_000))
    store.ingest(run_event("COMPLETE", outputs=["x"], minute=1_000))
    assert len(store.upstream("x").nodes) == 1_000
    assert store.run(run_id("run")).event_count == 1_001
