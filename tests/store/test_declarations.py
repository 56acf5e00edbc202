"""Job and dataset events: static declarations, each replacing the previous one."""

from __future__ import annotations

import pytest

from headwater.model.lineage import Origin
from headwater.store.store import Store
from tests.store.short_answers import links, names
from tests.support.events import (
    at,
    column_lineage,
    dataset_entry,
    dataset_event,
    deleted,
    facet,
    from_dataset,
    job_event,
    lineage_facet,
    named_job,
    ownership,
    run_event,
    schema,
    used,
)


def declare(store: Store, minute: float, inputs: list[str], outputs: list[str], job: str = "job") -> None:
    store.ingest(job_event(job=job, inputs=inputs, outputs=outputs, minute=minute))


def test_a_job_declares_its_lineage_without_a_run(store: Store) -> None:
    declare(store, 10, ["a"], ["x"])
    (node,) = store.upstream("x").nodes
    assert (node.via.job, node.via.run_id, node.via.origin) == (named_job("job"), None, Origin.JOB)
    assert store.runs() == []


def test_a_declaration_replaces_the_previous_one(store: Store) -> None:
    declare(store, 10, ["a"], ["x"])
    declare(store, 20, ["b"], ["x"])
    assert links(store) == {("b", "x")}
    assert links(store, as_of=at(15)) == {("a", "x")}


def test_an_output_dropped_from_the_declaration_loses_its_edges(store: Store) -> None:
    declare(store, 10, ["a"], ["x", "y"])
    declare(store, 20, ["a"], ["x"])
    assert links(store) == {("a", "x")}
    assert links(store, as_of=at(15)) == {("a", "x"), ("a", "y")}
    declare(store, 30, ["a"], ["x", "y"])
    assert links(store) == {("a", "x"), ("a", "y")}
    assert links(store, as_of=at(25)) == {("a", "x")}


def test_an_older_declaration_that_arrives_late_changes_only_the_past(store: Store) -> None:
    declare(store, 20, ["b"], ["x"])
    declare(store, 10, ["a"], ["x", "y"])
    assert links(store) == {("b", "x")}
    assert links(store, as_of=at(15)) == {("a", "x"), ("a", "y")}


def test_declarations_of_other_jobs_remain(store: Store) -> None:
    declare(store, 10, ["a"], ["x"], job="one")
    declare(store, 20, ["b"], ["x"], job="other")
    assert links(store) == {("a", "x"), ("b", "x")}


def test_a_run_and_a_declaration_coexist(store: Store) -> None:
    declare(store, 10, ["declared"], ["x"])
    store.ingest(run_event(inputs=["read"], outputs=["x"], minute=20))
    assert links(store) == {("declared", "x"), ("read", "x")}
    declare(store, 30, ["a"], ["x"])
    assert links(store) == {("a", "x"), ("read", "x")}


def test_a_job_event_without_lineage_changes_none(store: Store) -> None:
    declare(store, 10, ["a"], ["x"])
    store.ingest(job_event(minute=20, job_facets={"ownership": ownership("team")}))
    assert links(store) == {("a", "x")}


def test_a_deleted_lineage_facet_declares_that_there_is_none(store: Store) -> None:
    store.ingest(job_event(minute=10, job_facets={"lineage": lineage_facet(dataset_entry("x", [from_dataset("a")]))}))
    assert links(store) == {("a", "x")}
    store.ingest(job_event(minute=20, job_facets={"lineage": deleted()}))
    assert links(store) == set()
    assert links(store, as_of=at(15)) == {("a", "x")}


def declare_dataset(store: Store, minute: float, *inputs: str) -> None:
    lineage = facet(inputs=[from_dataset(name) for name in inputs])
    store.ingest(dataset_event(used("x", facets={"lineage": lineage}), minute=minute))


def test_a_dataset_declaration_replaces_the_previous_one(store: Store) -> None:
    declare_dataset(store, 10, "a", "b")
    declare_dataset(store, 20, "b")
    assert links(store) == {("b", "x")}
    assert links(store, as_of=at(15)) == {("a", "x"), ("b", "x")}


def test_a_dataset_event_without_lineage_changes_none(store: Store) -> None:
    declare_dataset(store, 10, "a")
    store.ingest(dataset_event(used("x", facets={"schema": schema("c")}), minute=20))
    assert links(store) == {("a", "x")}
    assert [field.name for field in store.dataset("x").schema] == ["c"]


@pytest.mark.parametrize("name", ["lineage", "columnLineage"])
def test_a_dataset_withdraws_its_declaration(store: Store, name: str) -> None:
    said = facet(inputs=[from_dataset("a")]) if name == "lineage" else column_lineage({"c": [("a", "c")]})
    store.ingest(dataset_event(used("x", facets={name: said}), minute=10))
    assert links(store) == {("a", "x")}
    store.ingest(dataset_event(used("x", facets={name: deleted()}), minute=20))
    assert links(store) == set()
    assert name not in store.dataset("x").facets


def test_declared_edges_connect_to_those_of_runs(store: Store) -> None:
    declare(store, 10, ["a"], ["m"])
    store.ingest(run_event(inputs=["m"], outputs=["x"], minute=20))
    assert names(store.upstream("x")) == ["m", "a"]


def test_a_job_event_with_an_event_type_is_still_a_job_event(store: Store) -> None:
    """Marquez sends such events; the shape decides."""
    store.ingest(job_event(inputs=["a"], outputs=["x"]) | {"eventType": "COMPLETE"})
    assert links(store) == {("a", "x")}
    assert store.runs() == []
