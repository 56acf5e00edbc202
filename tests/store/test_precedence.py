"""Which statement about an output counts: its `lineage` entry, then `columnLineage`, then inputs times outputs."""

from __future__ import annotations

from headwater.model.lineage import Basis, EdgeType
from headwater.store.store import Store
from tests.store.short_answers import links
from tests.support.events import (
    column_lineage,
    dataset_entry,
    from_dataset,
    lineage_facet,
    run_event,
    used,
)


def bases(store: Store, target: str) -> dict[str, Basis | None]:
    return {node.endpoint.name: node.via.basis for node in store.upstream(target, depth=1).nodes}


def test_column_lineage_takes_precedence_over_inputs_times_outputs(store: Store) -> None:
    """Each output has the sources of its own columns, not those of another output."""
    store.ingest(
        run_event(
            inputs=["a", "b"],
            outputs=[
                used("x", facets={"columnLineage": column_lineage({"c": [("a", "c")]})}),
                used("y", facets={"columnLineage": column_lineage({"c": [("b", "c")]})}),
            ],
        )
    )
    assert links(store) == {("a", "x"), ("b", "y")}
    assert bases(store, "x") == {"a": Basis.COLUMN_LINEAGE}


def test_an_unmentioned_input_is_still_connected(store: Store) -> None:
    store.ingest(
        run_event(
            inputs=["a", "forgotten"],
            outputs=[used("x", facets={"columnLineage": column_lineage({"c": [("a", "c")]})})],
        )
    )
    assert bases(store, "x") == {"a": Basis.COLUMN_LINEAGE, "forgotten": Basis.INPUTS}


def test_an_output_without_column_lineage_gets_every_input(store: Store) -> None:
    store.ingest(
        run_event(
            inputs=["a", "b"],
            outputs=[used("x", facets={"columnLineage": column_lineage({"c": [("a", "c")]})}), "y"],
        )
    )
    assert bases(store, "y") == {"a": Basis.INPUTS, "b": Basis.INPUTS}
    assert bases(store, "x") == {"a": Basis.COLUMN_LINEAGE, "b": Basis.INPUTS}


def test_column_lineage_names_a_source_that_is_no_input(store: Store) -> None:
    facet = column_lineage({"c": [("elsewhere", "c")]})
    store.ingest(run_event(inputs=["a"], outputs=[used("x", facets={"columnLineage": facet})]))
    assert bases(store, "x") == {"elsewhere": Basis.COLUMN_LINEAGE, "a": Basis.INPUTS}


def test_empty_column_lineage_is_ignored(store: Store) -> None:
    store.ingest(run_event(inputs=["a"], outputs=[used("x", facets={"columnLineage": column_lineage({})})]))
    assert bases(store, "x") == {"a": Basis.INPUTS}


def test_the_lineage_facet_takes_precedence_over_column_lineage(store: Store) -> None:
    facet = column_lineage({"c": [("b", "c")]})
    store.ingest(
        run_event(
            inputs=["a", "b"],
            outputs=[used("x", facets={"columnLineage": facet})],
            job_facets={"lineage": lineage_facet(dataset_entry("x", [from_dataset("a")]))},
        )
    )
    assert bases(store, "x") == {"a": Basis.LINEAGE}


def test_the_lineage_facet_applies_only_to_the_outputs_it_names(store: Store) -> None:
    store.ingest(
        run_event(
            inputs=["a", "b"],
            outputs=["x", "y"],
            job_facets={"lineage": lineage_facet(dataset_entry("x", [from_dataset("a")]))},
        )
    )
    assert bases(store, "x") == {"a": Basis.LINEAGE}
    assert bases(store, "y") == {"a": Basis.INPUTS, "b": Basis.INPUTS}


def test_lineage_entries_of_a_run_add_up(store: Store) -> None:
    """On run events entries accumulate, where other facets replace each other."""
    for minute, (event_type, source) in enumerate([("RUNNING", "a"), ("COMPLETE", "b")]):
        facet = lineage_facet(dataset_entry("x", [from_dataset(source)]))
        store.ingest(run_event(event_type, minute=minute, job_facets={"lineage": facet}))
    assert bases(store, "x") == {"a": Basis.LINEAGE, "b": Basis.LINEAGE}


def test_a_later_column_lineage_replaces_the_earlier_one(store: Store) -> None:
    for minute, (event_type, source) in enumerate([("RUNNING", "a"), ("COMPLETE", "b")]):
        facet = column_lineage({"c": [(source, "c")]})
        store.ingest(run_event(event_type, minute=minute, outputs=[used("x", facets={"columnLineage": facet})]))
    assert bases(store, "x") == {"b": Basis.COLUMN_LINEAGE}


def edge_type(store: Store, target: str) -> EdgeType | None:
    (node,) = store.upstream(target).nodes
    return node.via.type


def test_the_edge_type_summarizes_the_transformations(store: Store) -> None:
    expected = {
        "identity": ([("DIRECT", "IDENTITY")], EdgeType.PROJECTED_FROM),
        "computed": ([("DIRECT", "TRANSFORMATION")], EdgeType.DERIVED_FROM),
        "filtered": ([("DIRECT", "IDENTITY"), ("INDIRECT", "FILTER")], EdgeType.FILTERED_FROM),
        "joined": ([("INDIRECT", "FILTER"), ("INDIRECT", "JOIN")], EdgeType.JOINED_WITH),
        "grouped": ([("INDIRECT", "JOIN"), ("INDIRECT", "GROUP_BY")], EdgeType.AGGREGATED_FROM),
        "summed": ([("DIRECT", "AGGREGATION")], EdgeType.AGGREGATED_FROM),
    }
    for name, (transformations, _) in expected.items():
        facet = column_lineage({"c": [("a", f"c{i}", *how) for i, how in enumerate(transformations)]})
        store.ingest(run_event(run=name, job=name, outputs=[used(name, facets={"columnLineage": facet})]))
    assert {name: edge_type(store, name) for name in expected} == {name: kind for name, (_, kind) in expected.items()}
