"""Column edges: both forms of the facet, the legacy one, and unrecorded columns."""

from __future__ import annotations

import pytest

from headwater.model.lineage import Dependency
from headwater.store.store import Store
from tests.store.short_answers import names, short
from tests.support.events import column_lineage, facet, legacy_column_lineage, run_event, run_id, schema, used


def write(store: Store, **facets: object) -> None:
    store.ingest(run_event(inputs=["a"], outputs=[used("x", facets=facets)]))


def recorded(store: Store) -> set[tuple[str, str, str, str | None]]:
    return short(store.run(run_id("run")).column_edges)


def test_the_form_with_fields_only(store: Store) -> None:
    fields = {"total": [("a", "amount", "DIRECT", "AGGREGATION"), ("a", "day", "INDIRECT", "FILTER")]}
    write(store, columnLineage=column_lineage(fields))
    assert recorded(store) == {
        ("a#amount", "x#total", "DIRECT", "AGGREGATION"),
        ("a#day", "x#total", "INDIRECT", "FILTER"),
    }


def test_the_form_with_dataset_wide_dependencies(store: Store) -> None:
    facet = column_lineage(
        {"total": [("a", "amount", "DIRECT", "AGGREGATION")], "day": [("a", "day", "DIRECT", "IDENTITY")]},
        dataset=[("a", "country", "INDIRECT", "FILTER")],
    )
    write(store, columnLineage=facet)
    assert recorded(store) == {
        ("a#amount", "x#total", "DIRECT", "AGGREGATION"),
        ("a#day", "x#day", "DIRECT", "IDENTITY"),
        ("a#country", "x", "INDIRECT", "FILTER"),
    }


def test_both_forms_give_the_same_answers(store: Store) -> None:
    """A column that decides about every row is upstream of each column, stated once or per column."""
    for name, said in {
        "per_field": column_lineage({"c": [("a", "c"), ("a", "country", "INDIRECT", "FILTER")]}),
        "at_once": column_lineage({"c": [("a", "c")]}, dataset=[("a", "country", "INDIRECT", "FILTER")]),
    }.items():
        store.ingest(run_event(run=name, job=name, outputs=[used(name, facets={"columnLineage": said})]))
    for name in ("per_field", "at_once"):
        found = {(node.part, node.dependency) for node in store.upstream(name, column="c").nodes}
        assert found == {("c", Dependency.DIRECT), ("country", Dependency.INDIRECT)}
    reached = set(names(store.downstream("a", column="country")))
    assert reached == {"per_field#c", "at_once"}


def test_the_legacy_form_has_one_transformation_per_column(store: Store) -> None:
    write(store, columnLineage=legacy_column_lineage({"total": [("a", "amount"), ("a", "tax")]}, "SUM", "a + b"))
    edges = store.run(run_id("run")).column_edges
    assert {(e.upstream_column, e.dependency, e.subtype, e.logic, e.masking) for e in edges} == {
        ("amount", Dependency.DIRECT, "SUM", "a + b", False),
        ("tax", Dependency.DIRECT, "SUM", "a + b", False),
    }


def test_legacy_masking(store: Store) -> None:
    write(store, columnLineage=legacy_column_lineage({"id": [("a", "email")]}, "MASKED", "sha2(email)"))
    (edge,) = store.run(run_id("run")).column_edges
    assert (edge.masking, edge.subtype, edge.logic) == (True, None, "sha2(email)")


def test_a_transformation_on_the_input_takes_precedence(store: Store) -> None:
    write(
        store,
        columnLineage=legacy_column_lineage({"id": [("a", "email", "INDIRECT", "CONDITIONAL")]}, "IDENTITY", "x"),
    )
    assert recorded(store) == {("a#email", "x#id", "INDIRECT", "CONDITIONAL")}


def test_masking_and_logic_are_answered(store: Store) -> None:
    how = {"type": "DIRECT", "subtype": "TRANSFORMATION", "masking": True, "description": "sha2(email, 256)"}
    source = {"namespace": "warehouse", "name": "a", "field": "email", "transformations": [how]}
    write(store, columnLineage=facet(fields={"id": {"inputFields": [source]}}))
    (node,) = store.upstream("x", column="id").nodes
    assert (node.via.masking, node.via.logic, node.via.transformation) == (True, "sha2(email, 256)", "TRANSFORMATION")


@pytest.mark.parametrize("transformations", [None, []])
def test_missing_or_empty_transformations_mean_direct(store: Store, transformations: list[object] | None) -> None:
    source: dict[str, object] = {"namespace": "warehouse", "name": "a", "field": "c"}
    if transformations is not None:
        source["transformations"] = transformations
    write(store, columnLineage=facet(fields={"c": {"inputFields": [source]}}))
    assert recorded(store) == {("a#c", "x#c", "DIRECT", None)}


def test_several_transformations_of_one_pair_are_several_edges(store: Store) -> None:
    ways = [{"type": "DIRECT", "subtype": "IDENTITY"}, {"type": "INDIRECT", "subtype": "JOIN"}]
    source = {"namespace": "warehouse", "name": "a", "field": "c", "transformations": ways}
    write(store, columnLineage=facet(fields={"c": {"inputFields": [source]}}))
    assert recorded(store) == {("a#c", "x#c", "DIRECT", "IDENTITY"), ("a#c", "x#c", "INDIRECT", "JOIN")}
    (node,) = store.upstream("x", column="c").nodes
    assert node.dependency is Dependency.DIRECT


def test_without_recorded_columns_the_edge_is_of_the_dataset(store: Store) -> None:
    store.ingest(
        run_event(
            inputs=[used("a", facets={"schema": schema("c")})], outputs=[used("x", facets={"schema": schema("d")})]
        )
    )
    (up,) = store.upstream("x", column="d").nodes
    (down,) = store.downstream("a", column="c").nodes
    assert (up.endpoint.name, up.part, up.dependency) == ("a", None, Dependency.UNKNOWN)
    assert (down.endpoint.name, down.part, down.dependency) == ("x", None, Dependency.UNKNOWN)


def test_known_columns_continue_through_an_unrecorded_step(store: Store) -> None:
    """a#c → x#c is recorded, x → y is not, y#c → z#c is: the path exists, and its middle is unknown."""
    for i, (source, target) in enumerate([("a", "x"), ("x", "y"), ("y", "z")]):
        facets = {} if source == "x" else {"columnLineage": column_lineage({"c": [(source, "c")]})}
        store.ingest(
            run_event(run=target, job=target, inputs=[source], outputs=[used(target, facets=facets)], minute=i)
        )
    found = [(node.endpoint.name, node.part, node.dependency) for node in store.upstream("z", column="c").nodes]
    assert found == [
        ("y", "c", Dependency.DIRECT),
        ("x", None, Dependency.UNKNOWN),
        ("a", "c", Dependency.UNKNOWN),
    ]


def test_the_strongest_path_counts_even_if_it_is_not_the_shortest(store: Store) -> None:
    """a#c is direct through x, and indirect in one hop."""
    store.ingest(
        run_event(run="1", job="1", outputs=[used("x", facets={"columnLineage": column_lineage({"c": [("a", "c")]})})])
    )
    said = column_lineage({"c": [("x", "c"), ("a", "c", "INDIRECT", "FILTER")]})
    store.ingest(run_event(run="2", job="2", outputs=[used("y", facets={"columnLineage": said})], minute=1))
    nodes = {node.endpoint.name: node for node in store.upstream("y", column="c").nodes}
    assert (nodes["a"].depth, nodes["a"].via.dependency) == (1, Dependency.INDIRECT)
    assert nodes["a"].dependency is Dependency.DIRECT


def test_a_path_with_one_indirect_edge_is_indirect(store: Store) -> None:
    for i, (source, target, how) in enumerate([("a", "x", ("INDIRECT", "FILTER")), ("x", "y", ("DIRECT", "IDENTITY"))]):
        said = column_lineage({"c": [(source, "c", *how)]})
        store.ingest(
            run_event(run=target, job=target, outputs=[used(target, facets={"columnLineage": said})], minute=i)
        )
    assert {n.endpoint.name: n.dependency for n in store.upstream("y", column="c").nodes} == {
        "x": Dependency.DIRECT,
        "a": Dependency.INDIRECT,
    }


def test_nested_columns_are_named_by_their_path(store: Store) -> None:
    nested = facet(fields=[{"name": "address", "fields": [{"name": "street", "fields": [{"name": "no"}]}]}])
    store.ingest(run_event(inputs=["a"], outputs=[used("x", facets={"schema": nested})]))
    assert names(store.upstream("x", column="address.street.no")) == ["a"]


def test_a_path_ends_at_the_queried_column(store: Store) -> None:
    for i in range(3):
        said = column_lineage({"c": [(f"t{i}", "c")]})
        store.ingest(
            run_event(run=str(i), job=str(i), outputs=[used(f"t{i + 1}", facets={"columnLineage": said})], minute=i)
        )
    farthest = store.upstream("t3", column="c").nodes[-1]
    assert [node.label for node in farthest.path] == ["warehouse/t2#c", "warehouse/t1#c", "warehouse/t0#c"]
