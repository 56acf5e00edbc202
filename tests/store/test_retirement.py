"""A stale edge retires without losing history, and every past time can be queried."""

from __future__ import annotations

import pytest

from headwater.model.runs import RunState
from headwater.store.store import Store
from tests.store.short_answers import links, names
from tests.support.events import at, column_lineage, run_event, run_id, used


def write(store: Store, minute: float, *inputs: str, job: str = "job", output: str = "x") -> None:
    store.ingest(run_event(run=f"{job} at {minute}", job=job, inputs=inputs, outputs=[output], minute=minute))


def test_an_input_no_longer_read_retires_its_edge(store: Store) -> None:
    write(store, 10, "a", "b")
    write(store, 20, "b")
    assert links(store) == {("b", "x")}


def test_the_past_does_not_change(store: Store) -> None:
    write(store, 10, "a", "b")
    write(store, 20, "b", "c")
    assert links(store, as_of=at(9)) == set()
    assert links(store, as_of=at(10)) == {("a", "x"), ("b", "x")}
    assert links(store, as_of=at(15)) == {("a", "x"), ("b", "x")}
    assert links(store, as_of=at(20)) == {("b", "x"), ("c", "x")}
    assert links(store, as_of=at(1000)) == links(store) == {("b", "x"), ("c", "x")}


def test_the_lineage_rows_of_a_run_have_an_end(store: Store) -> None:
    write(store, 10, "a")
    write(store, 20, "b")
    (old,) = store.run(run_id("job at 10")).edges
    (new,) = store.run(run_id("job at 20")).edges
    assert (old.consumed_at, old.valid_to) == (at(10), at(20))
    assert (new.consumed_at, new.valid_to) == (at(20), None)


def test_an_edge_that_reappears_has_two_periods(store: Store) -> None:
    for minute, source in ((10, "a"), (20, "b"), (30, "a")):
        write(store, minute, source)
    expected = {5: set(), 15: {("a", "x")}, 25: {("b", "x")}, 35: {("a", "x")}}
    assert {minute: links(store, as_of=at(minute)) for minute in expected} == expected


def test_a_late_run_is_put_in_order(store: Store) -> None:
    write(store, 10, "a")
    write(store, 30, "c")
    write(store, 20, "b")
    expected = {15: {("a", "x")}, 25: {("b", "x")}, 35: {("c", "x")}}
    assert {minute: links(store, as_of=at(minute)) for minute in expected} == expected
    assert links(store) == {("c", "x")}


def test_another_job_writing_the_same_dataset_retires_nothing(store: Store) -> None:
    write(store, 10, "a", job="one")
    write(store, 20, "b", job="other")
    assert links(store) == {("a", "x"), ("b", "x")}


def test_the_same_job_writing_elsewhere_retires_nothing(store: Store) -> None:
    write(store, 10, "a", output="x")
    write(store, 20, "b", output="y")
    assert links(store) == {("a", "x"), ("b", "y")}


def test_a_failed_run_retires_nothing(store: Store) -> None:
    write(store, 10, "a")
    store.ingest(run_event("FAIL", run="later", inputs=["b"], outputs=["x"], minute=20))
    assert links(store) == {("a", "x")}


def test_a_retirement_is_undone_with_its_run(store: Store) -> None:
    write(store, 10, "a")
    write(store, 20, "b")
    store.ingest(run_event("FAIL", run="job at 20", minute=21))
    assert links(store) == {("a", "x")}
    (edge,) = store.run(run_id("job at 10")).edges
    assert edge.valid_to is None
    assert store.run(run_id("job at 20")).run.state is RunState.FAIL


def test_a_run_without_inputs_retires_all(store: Store) -> None:
    write(store, 10, "a", "b")
    write(store, 20)
    assert links(store) == set()
    assert links(store, as_of=at(15)) == {("a", "x"), ("b", "x")}


def test_repeated_runs_keep_one_edge_since_the_first(store: Store) -> None:
    for minute in range(10, 60, 10):
        write(store, minute, "a")
    assert {minute: links(store, as_of=at(minute)) for minute in (5, 10, 35, 60)} == {
        5: set(),
        10: {("a", "x")},
        35: {("a", "x")},
        60: {("a", "x")},
    }
    (node,) = store.upstream("x").nodes
    assert node.via.run_id == run_id("job at 50")
    (node,) = store.upstream("x", as_of=at(35)).nodes
    assert node.via.run_id == run_id("job at 30")


@pytest.mark.parametrize("ask", ["upstream", "downstream"])
def test_column_edges_retire_too(store: Store, ask: str) -> None:
    for minute, source in ((10, "old"), (20, "new")):
        said = column_lineage({"c": [("a", source)]})
        store.ingest(
            run_event(run=source, inputs=["a"], outputs=[used("x", facets={"columnLineage": said})], minute=minute)
        )
    if ask == "upstream":
        assert names(store.upstream("x", column="c")) == ["a#new"]
        assert names(store.upstream("x", column="c", as_of=at(15))) == ["a#old"]
    else:
        assert names(store.downstream("a", column="old")) == []
        assert names(store.downstream("a", column="old", as_of=at(15))) == ["x#c"]


def test_a_path_as_of_a_time(store: Store) -> None:
    """The far end changed before the near one: each time has its own path."""
    write(store, 10, "a1", job="first", output="m")
    write(store, 20, "m", job="second", output="x")
    write(store, 30, "a2", job="first", output="m")
    assert names(store.upstream("x", as_of=at(15))) == []
    assert names(store.upstream("x", as_of=at(25))) == ["m", "a1"]
    assert names(store.upstream("x")) == ["m", "a2"]
    assert names(store.downstream("a1")) == []
    assert names(store.downstream("a1", as_of=at(25))) == ["m", "x"]


def test_a_time_without_a_zone_is_utc(store: Store) -> None:
    write(store, 10, "a")
    write(store, 20, "b")
    assert names(store.upstream("x", as_of=at(15).replace(tzinfo=None))) == ["a"]
    assert store.upstream("x", as_of=at(15).replace(tzinfo=None)).as_of == at(15)
