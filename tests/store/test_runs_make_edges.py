"""When a run's events become edges, and when they do not."""

from __future__ import annotations

import itertools

import pytest

from headwater.model.lineage import Basis, EdgeType, Origin
from headwater.model.runs import RunState
from headwater.store.store import Store
from tests.store.short_answers import links, names
from tests.support.events import at, ds, named_job, run_event, run_id


def test_a_completed_run_links_every_input_to_every_output(store: Store) -> None:
    store.ingest(run_event(inputs=["a", "b"], outputs=["x", "y"]))
    assert links(store) == {("a", "x"), ("b", "x"), ("a", "y"), ("b", "y")}


def test_an_edge_has_its_job_and_its_basis(store: Store) -> None:
    store.ingest(run_event(run="monday", job="load", inputs=["a"], outputs=["x"], minute=3))
    (node,) = store.upstream("x").nodes
    assert node.endpoint == ds("a")
    assert (node.depth, node.parent, node.part) == (1, None, None)
    assert node.via.job == named_job("load")
    assert node.via.run_id == run_id("monday")
    assert (node.via.origin, node.via.basis, node.via.type) == (Origin.RUN, Basis.INPUTS, EdgeType.DERIVED_FROM)


def test_the_lineage_rows_of_a_run_have_the_time_of_consumption(store: Store) -> None:
    store.ingest(run_event(run="monday", job="load", inputs=["a"], outputs=["x"], minute=3))
    (edge,) = store.run(run_id("monday")).edges
    assert (edge.upstream, edge.downstream) == (ds("a"), ds("x"))
    assert (edge.run_id, edge.job) == (run_id("monday"), named_job("load"))
    assert (edge.consumed_at, edge.valid_to) == (at(3), None)
    assert (edge.partition, edge.upstream_partition) == (None, None)


@pytest.mark.parametrize("event_type", ["START", "RUNNING", "OTHER", None, "FAIL", "ABORT"])
def test_only_a_completed_run_leaves_edges(store: Store, event_type: str | None) -> None:
    store.ingest(run_event(event_type, run="monday", inputs=["a"], outputs=["x"]))
    assert links(store) == set()
    detail = store.run(run_id("monday"))
    assert [use.dataset for use in detail.inputs] == [ds("a")]
    assert [use.dataset for use in detail.outputs] == [ds("x")]
    assert detail.edges == ()


def test_datasets_add_up_over_the_events_of_a_run(store: Store) -> None:
    store.ingest(run_event("START", inputs=["a"], minute=0))
    store.ingest(run_event("RUNNING", inputs=["b"], outputs=["x"], minute=1))
    assert links(store) == set()
    store.ingest(run_event("COMPLETE", minute=2))
    assert links(store) == {("a", "x"), ("b", "x")}
    assert store.run(run_id("run")).event_count == 3


def test_a_late_event_of_a_completed_run_adds_its_datasets(store: Store) -> None:
    store.ingest(run_event("COMPLETE", outputs=["x"], minute=2))
    assert links(store) == set()
    store.ingest(run_event("START", inputs=["a"], minute=0))
    assert links(store) == {("a", "x")}
    (edge,) = store.run(run_id("run")).edges
    assert edge.consumed_at == at(2)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_order_of_arrival_does_not_matter(store: Store, order: tuple[int, ...]) -> None:
    events = [
        run_event("START", inputs=["a"], minute=0),
        run_event("RUNNING", inputs=["b"], minute=1),
        run_event("COMPLETE", outputs=["x"], minute=2),
    ]
    for i in order:
        store.ingest(events[i])
    assert links(store) == {("a", "x"), ("b", "x")}
    run = store.run(run_id("run")).run
    assert (run.state, run.started_at, run.ended_at, run.last_event_at) == (RunState.COMPLETE, at(0), at(2), at(2))


def test_the_same_event_twice_is_one_event(store: Store) -> None:
    event = run_event(inputs=["a"], outputs=["x"])
    assert not store.ingest(event).duplicate
    assert store.ingest(event).duplicate
    assert links(store) == {("a", "x")}
    assert store.run(run_id("run")).event_count == 1


def test_the_same_event_twice_in_one_batch_is_one_event(store: Store) -> None:
    event = run_event(inputs=["a"], outputs=["x"])
    assert [receipt.duplicate for receipt in store.ingest_many([event, event])] == [False, True]
    assert store.run(run_id("run")).event_count == 1


def test_two_spellings_of_one_event_are_one_event(store: Store) -> None:
    event = run_event(inputs=["a"], outputs=["x"])
    turned_around = dict(reversed(event.items()))
    first, second = store.ingest(event), store.ingest(turned_around)
    assert first.digest == second.digest
    assert (first.duplicate, second.duplicate) == (False, True)


@pytest.mark.parametrize("failure", ["FAIL", "ABORT"])
def test_a_failure_after_completion_removes_the_edges(store: Store, failure: str) -> None:
    store.ingest(run_event("COMPLETE", inputs=["a"], outputs=["x"], minute=1))
    store.ingest(run_event(failure, minute=2))
    assert links(store) == set()
    assert links(store, as_of=at(1)) == set()
    detail = store.run(run_id("run"))
    assert (detail.run.state, detail.edges) == (RunState(failure), ())
    assert [use.dataset for use in detail.inputs] == [ds("a")]


def test_a_failure_before_completion_does_not_count(store: Store) -> None:
    """A retry under the same run id: the last terminal event decides."""
    store.ingest(run_event("COMPLETE", inputs=["a"], outputs=["x"], minute=2))
    store.ingest(run_event("FAIL", minute=1))
    assert links(store) == {("a", "x")}
    assert store.run(run_id("run")).run.state is RunState.COMPLETE


def test_a_failure_overruled_by_a_later_completion(store: Store) -> None:
    for event_type, minute in (("COMPLETE", 1), ("FAIL", 2), ("COMPLETE", 3)):
        store.ingest(run_event(event_type, inputs=["a"], outputs=["x"], minute=minute))
    assert links(store) == {("a", "x")}
    assert links(store, as_of=at(2)) == set()


def test_events_without_datasets_leave_a_run_and_nothing_else(store: Store) -> None:
    store.ingest(run_event("START"))
    store.ingest(run_event("COMPLETE", minute=1))
    assert store.datasets() == []
    detail = store.run(run_id("run"))
    assert (detail.inputs, detail.outputs, detail.edges, detail.event_count) == ((), (), (), 2)


def test_inputs_and_outputs_may_be_missing_or_null(store: Store) -> None:
    event = run_event(run="none")
    del event["inputs"], event["outputs"]
    store.ingest(event)
    store.ingest(run_event(run="null") | {"inputs": None, "outputs": None})
    assert [run.run_id for run in store.runs()] == sorted([run_id("none"), run_id("null")])


def test_all_of_a_batch_or_nothing(store: Store) -> None:
    from headwater.errors import EventRefused

    good = run_event(inputs=["a"], outputs=["x"])
    with pytest.raises(EventRefused):
        store.ingest_many([good, {"run": {}}])
    assert store.datasets() == []
    assert store.runs() == []


def test_a_batch_folds_like_its_events_one_by_one(store: Store) -> None:
    store.ingest_many(
        [
            run_event("COMPLETE", outputs=["y"], job="second", run="2", minute=4),
            run_event("START", inputs=["x"], job="second", run="2", minute=3),
            run_event("COMPLETE", inputs=["a"], outputs=["x"], job="first", run="1", minute=2),
        ]
    )
    assert names(store.upstream("y")) == ["x", "a"]
