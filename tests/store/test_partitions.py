"""Partitions have their own lineage: a write of p2 does not change p1."""

from __future__ import annotations

import pytest

from headwater.model.answers import Grain
from headwater.store.store import Store
from tests.store.short_answers import links, names
from tests.support.events import at, ds, facet, read_in_part, run_event, run_id, used, written_in_part


def write(store: Store, minute: float, partition: str, *inputs: str | tuple[str, str]) -> None:
    read = [name if isinstance(name, str) else read_in_part(*name) for name in inputs]
    store.ingest(run_event(run=f"at {minute}", inputs=read, outputs=[written_in_part("x", partition)], minute=minute))


def test_lineage_rows_name_both_partitions(store: Store) -> None:
    write(store, 10, "p1", ("a", "q1"))
    (edge,) = store.run(run_id("at 10")).edges
    assert (edge.downstream, edge.partition) == (ds("x"), "p1")
    assert (edge.upstream, edge.upstream_partition) == (ds("a"), "q1")


def test_one_partition_does_not_retire_another(store: Store) -> None:
    write(store, 10, "p1", ("a", "q1"))
    write(store, 20, "p2", ("b", "q2"))
    assert links(store) == {("a", "x"), ("b", "x")}
    assert names(store.upstream("x", partition="p1")) == ["a@q1"]
    assert names(store.upstream("x", partition="p2")) == ["b@q2"]


def test_a_partition_written_again_retires_its_own_edges(store: Store) -> None:
    write(store, 10, "p1", ("a", "q1"))
    write(store, 20, "p2", ("a", "q2"))
    write(store, 30, "p1", ("b", "q1"))
    assert names(store.upstream("x", partition="p1")) == ["b@q1"]
    assert names(store.upstream("x", partition="p1", as_of=at(25))) == ["a@q1"]
    assert names(store.upstream("x", partition="p2")) == ["a@q2"]
    assert links(store) == {("a", "x"), ("b", "x")}


def test_the_dataset_edge_goes_with_its_last_partition(store: Store) -> None:
    write(store, 10, "p1", "a")
    write(store, 20, "p2", "a")
    write(store, 30, "p1", "b")
    assert links(store) == {("a", "x"), ("b", "x")}
    write(store, 40, "p2", "b")
    assert links(store) == {("b", "x")}
    assert links(store, as_of=at(35)) == {("a", "x"), ("b", "x")}


def test_a_late_run_of_a_partition_is_put_in_order(store: Store) -> None:
    write(store, 30, "p1", "c")
    write(store, 10, "p1", "a")
    write(store, 20, "p2", "b")
    assert links(store) == {("b", "x"), ("c", "x")}
    assert links(store, as_of=at(25)) == {("a", "x"), ("b", "x")}


def test_several_partitions_of_one_run_are_each_linked(store: Store) -> None:
    store.ingest(run_event(inputs=[read_in_part("a", "q1", "q2")], outputs=[written_in_part("x", "p1", "p2")]))
    pairs = {(edge.upstream_partition, edge.partition) for edge in store.run(run_id("run")).edges}
    assert pairs == {("q1", "p1"), ("q1", "p2"), ("q2", "p1"), ("q2", "p2")}


def test_a_whole_dataset_is_connected_to_every_partition(store: Store) -> None:
    """x@p1 was made of the whole of m, and m of a@q1: the path continues through it."""
    store.ingest(run_event(run="1", job="1", inputs=[read_in_part("a", "q1")], outputs=["m"]))
    store.ingest(run_event(run="2", job="2", inputs=["m"], outputs=[written_in_part("x", "p1")], minute=1))
    assert names(store.upstream("x", partition="p1")) == ["m", "a@q1"]
    assert names(store.downstream("a", partition="q1")) == ["m", "x@p1"]


def test_a_read_partition_is_connected_to_the_whole_written_dataset(store: Store) -> None:
    store.ingest(run_event(run="1", job="1", inputs=["a"], outputs=["m"]))
    store.ingest(run_event(run="2", job="2", inputs=[read_in_part("m", "q1")], outputs=["x"], minute=1))
    assert names(store.upstream("m", partition="q1")) == ["a"]
    assert names(store.downstream("m", partition="q1")) == ["x"]


def test_other_partitions_are_not_reached(store: Store) -> None:
    store.ingest(run_event(run="1", job="1", inputs=["a"], outputs=[written_in_part("m", "p1")]))
    store.ingest(run_event(run="2", job="2", inputs=[read_in_part("m", "p2")], outputs=["x"], minute=1))
    assert names(store.downstream("m", partition="p1")) == []
    assert names(store.downstream("m", partition="p2")) == ["x"]


def test_the_answer_has_its_grain(store: Store) -> None:
    write(store, 10, "p1", ("a", "q1"))
    answer = store.upstream("x", partition="p1")
    assert (answer.grain, answer.part, answer.endpoint) == (Grain.PARTITION, "p1", ds("x"))
    assert [node.label for node in answer.nodes] == ["warehouse/a@q1"]
    assert answer.nodes[0].via.run_id == run_id("at 10")


def test_a_partition_without_an_identifier_is_named_by_its_dimensions(store: Store) -> None:
    condition = {"type": "partition", "partitions": [{"dimensions": {"day": "2026-11-15", "country": "P/L"}}]}
    subset = {"subset": facet(outputCondition=condition)}
    assert store.ingest(run_event(inputs=["a"], outputs=[used("x", output_facets=subset)])).problems == ()
    assert store.dataset("x").partitions == ("day=2026-11-15/country=P%2FL",)
    assert names(store.upstream("x", partition="day=2026-11-15/country=P%2FL")) == ["a"]


def test_partitions_of_a_dataset_are_listed(store: Store) -> None:
    write(store, 10, "p2", ("a", "q1"))
    write(store, 20, "p1", ("a", "q2"))
    assert store.dataset("x").partitions == ("p1", "p2")
    assert store.dataset("a").partitions == ("q1", "q2")


@pytest.mark.parametrize(
    "store_url", ["sqlite", pytest.param("postgresql", marks=pytest.mark.long)], indirect=True
)  # which pairs are made is decided before the database
def test_ten_thousand_pairs_are_direct_and_more_have_a_hub(store: Store) -> None:
    """100 times 100 partitions are separate edges; with 101 and 100 there is a hub, and no end is lost."""
    for run, inputs in (("few", 100), ("many", 101)):
        read = read_in_part("a", *(f"q{i}" for i in range(inputs)))
        written = written_in_part(run, *(f"p{i}" for i in range(100)))
        store.ingest(run_event(run=run, job=run, inputs=[read], outputs=[written]))
    few, many = (store.run(run_id(run)).edges for run in ("few", "many"))
    assert len({(edge.upstream_partition, edge.partition) for edge in few}) == 10_000
    assert not any(edge.via_job for edge in few)
    assert len(many) == 101 + 100
    assert all(edge.via_job for edge in many)
    for run, inputs in (("few", 100), ("many", 101)):
        found = store.upstream(run, partition="p7")
        assert {node.part for node in found.nodes} == {f"q{i}" for i in range(inputs)}
        assert {node.via.via_job for node in found.nodes} == {run == "many"}
