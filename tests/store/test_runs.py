"""Runs: their state, times, and ids."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from headwater.errors import QueryError
from headwater.model.runs import RunState
from headwater.store.store import Store
from tests.support.events import at, ds, facet, named_job, parent, run_event, run_id, symlinks, used


@pytest.mark.parametrize(
    ("event_types", "state"),
    [
        (["START"], RunState.START),
        (["START", "RUNNING"], RunState.RUNNING),
        (["RUNNING", "START"], RunState.RUNNING),
        (["OTHER"], RunState.UNKNOWN),
        ([None], RunState.UNKNOWN),
        (["OTHER", "START", None], RunState.START),
        (["START", "COMPLETE"], RunState.COMPLETE),
        (["COMPLETE", "RUNNING", "OTHER"], RunState.COMPLETE),
        (["START", "FAIL"], RunState.FAIL),
        (["START", "ABORT"], RunState.ABORT),
        (["COMPLETE", "FAIL"], RunState.FAIL),
    ],
)
def test_state(store: Store, event_types: list[str | None], state: RunState) -> None:
    for minute, event_type in enumerate(event_types):
        store.ingest(run_event(event_type, minute=minute))
    assert store.run(run_id("run")).run.state is state
    assert [run.run_id for run in store.runs(state=state)] == [run_id("run")]


def test_times(store: Store) -> None:
    for minute, event_type in ((0, "OTHER"), (1, "START"), (2, "START"), (5, "COMPLETE"), (6, "RUNNING")):
        store.ingest(run_event(event_type, minute=minute))
    run = store.run(run_id("run")).run
    assert (run.started_at, run.ended_at, run.last_event_at) == (at(1), at(5), at(6))


def test_nominal_times(store: Store) -> None:
    nominal = facet(nominalStartTime="2026-11-15T00:00:00Z", nominalEndTime="2026-11-16T00:00:00Z")
    store.ingest(run_event("START", run_facets={"nominalTime": nominal}))
    store.ingest(run_event("COMPLETE", minute=1))
    run = store.run(run_id("run")).run
    assert run.nominal_start == datetime(2026, 11, 15, tzinfo=UTC)
    assert run.nominal_end == datetime(2026, 11, 16, tzinfo=UTC)


@pytest.mark.parametrize("end", [None, "soon", 7])
def test_an_invalid_nominal_end(store: Store, end: object) -> None:
    nominal = facet(nominalStartTime="2026-11-15T00:00:00+01:00", nominalEndTime=end)
    store.ingest(run_event(run_facets={"nominalTime": nominal}))
    run = store.run(run_id("run")).run
    assert (run.nominal_start, run.nominal_end) == (datetime(2026, 11, 14, 23, tzinfo=UTC), None)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)])
def test_parent_and_children(store: Store, order: tuple[int, ...]) -> None:
    events = [
        run_event("START", run="dag", job="parent"),
        run_event("START", run="task 1", run_facets={"parent": parent("dag")}, minute=1),
        run_event("COMPLETE", run="task 2", run_facets={"parent": parent("dag")}, minute=2),
    ]
    for i in order:
        store.ingest(events[i])
    children = store.run(run_id("dag")).children
    assert [child.run_id for child in children] == [run_id("task 2"), run_id("task 1")]
    assert {child.parent_run_id for child in children} == {run_id("dag")}
    assert store.run(run_id("task 1")).children == ()


def test_a_run_may_have_children_and_a_parent(store: Store) -> None:
    for name, above in (("grandchild", "child"), ("child", "root")):
        store.ingest(run_event(run=name, run_facets={"parent": parent(above)}))
    child = store.run(run_id("child"))
    assert child.run.parent_run_id == run_id("root")
    assert [run.run_id for run in child.children] == [run_id("grandchild")]


def test_the_newest_run_comes_first(store: Store) -> None:
    for minute in (2, 1, 3):
        store.ingest(run_event(run=str(minute), minute=minute))
    assert [run.last_event_at for run in store.runs()] == [at(3), at(2), at(1)]
    assert [run.last_event_at for run in store.runs(limit=1)] == [at(3)]


def test_filters(store: Store) -> None:
    store.ingest(run_event("COMPLETE", run="1", job="load", inputs=["a"], outputs=["x"], minute=10))
    store.ingest(run_event("FAIL", run="2", job="load", inputs=["a"], minute=20))
    store.ingest(run_event("START", run="3", job="report", inputs=["x"], minute=30))

    def found(**asked: object) -> list[str]:
        return [run.run_id for run in store.runs(**asked)]  # type: ignore[arg-type]

    one, two, three = run_id("1"), run_id("2"), run_id("3")
    assert found(job="load") == [two, one]
    assert found(job="load", state="fail") == [two]
    assert found(namespace="scheduler") == [three, two, one]
    assert found(namespace="elsewhere") == []
    assert found(dataset="a") == [two, one]
    assert found(dataset=ds("x")) == [three, one]
    assert found(since=at(20)) == [three, two]
    assert found(until=at(20)) == [one]
    assert found(since=at(15), until=at(25)) == [two]
    assert found(since=at(20).replace(tzinfo=None)) == [three, two]


def test_a_run_is_found_by_any_name_of_its_dataset(store: Store) -> None:
    store.ingest(run_event(inputs=[used("db.t", namespace="catalog")]))
    store.ingest(run_event(run="2", outputs=[used("path", facets={"symlinks": symlinks("db.t")})], minute=1))
    for asked in ("path", "db.t"):
        assert [run.run_id for run in store.runs(dataset=asked)] == [run_id("2"), run_id("run")]


def test_an_unknown_state_lists_the_states(store: Store) -> None:
    with pytest.raises(QueryError, match=r"'done' is not a run state. States: UNKNOWN, START, RUNNING, COMPLETE"):
        store.runs(state="done")


def test_facets_of_a_run_accumulate(store: Store) -> None:
    first, second = facet(version="1", name="Spark"), facet(version="2", name="Spark")
    store.ingest(run_event("START", run_facets={"processing_engine": first, "custom": facet(a=1)}))
    store.ingest(run_event("COMPLETE", run_facets={"processing_engine": second}, minute=1))
    assert store.run(run_id("run")).run_facets == {"processing_engine": second, "custom": facet(a=1)}


def test_the_job_of_a_run_is_that_of_its_last_event(store: Store) -> None:
    store.ingest(run_event("COMPLETE", job="renamed", inputs=["a"], outputs=["x"], minute=2))
    store.ingest(run_event("START", job="early", minute=1))
    assert store.run(run_id("run")).run.job == named_job("renamed")
    assert store.upstream("x").nodes[0].via.job == named_job("renamed")


def test_problems_of_all_events_are_listed(store: Store) -> None:
    off = run_event("START")
    del off["schemaURL"]
    store.ingest(off)
    store.ingest(run_event("COMPLETE", run_facets={"processing_engine": facet(name="Spark")}, minute=1))
    problems = [(problem.path, problem.reason) for problem in store.run(run_id("run")).problems]
    assert problems == [("$.schemaURL", "missing"), ("$.run.facets.processing_engine.version", "missing")]
