"""The six rules of the format: each violation has its own error, with the culprit."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from headwater import errors
from headwater.exchange.validating import MAX_PROBLEMS, validate
from headwater.formats.wia.elements import Document
from headwater.formats.wia.namespaces import as_uri, from_uri, is_uri
from tests.exchange.graphs import CLEAN, CLEANING, RAW, complete_graph, empty_store, example, written

Change = tuple[str, int, str, Any]

BROKEN: dict[str, tuple[Change, str, str, str]] = {
    "two nodes of one id": (("nodes", 1, "node_id", RAW), "IdNotUnique", f"node {RAW} 'cleaned_customers'", "this id"),
    "an edge with the id of a node": (("edges", 0, "edge_id", RAW), "IdNotUnique", f"edge {RAW}", "this id"),
    "an id in other letters": (("nodes", 1, "node_id", RAW.upper()), "IdNotUnique", RAW.upper(), "this id"),
    "a source that is not there": (
        ("edges", 0, "source_node_id", CLEANING),
        "ReferenceDangling",
        f"edge {CLEANING}",
        f"source_node_id names no node: {CLEANING}",
    ),
    "a target that is not there": (
        ("edges", 0, "target_node_id", CLEANING),
        "ReferenceDangling",
        f"edge {CLEANING}",
        f"target_node_id names no node: {CLEANING}",
    ),
    "provenance of nothing": (("provenance", 0, "node_id", CLEANING), "ReferenceDangling", "provenance", CLEANING),
    "columns of nothing": (("column_lineage", 0, "source_table", "x"), "ReferenceDangling", "column lineage", "'x'"),
    "a time without a zone": (
        ("nodes", 0, "created_at", "2025-01-01T00:00:00"),
        "TimestampInvalid",
        f"node {RAW} 'raw_customers'",
        "created_at is not an ISO 8601 time in UTC: '2025-01-01T00:00:00'",
    ),
    "a time in Paris": (
        ("edges", 0, "created_at", "2025-01-01T00:00:00+01:00"),
        "TimestampInvalid",
        f"edge {CLEANING}",
        "created_at",
    ),
    "a number for a time": (("nodes", 0, "updated_at", 1735689600), "TimestampInvalid", RAW, "updated_at"),
    "no name": (("nodes", 0, "name", None), "FieldMissing", f"node {RAW}", "name is missing"),
    "an empty name": (("nodes", 0, "name", ""), "FieldMissing", f"node {RAW}", "name is empty"),
    "no type": (("nodes", 0, "node_type", None), "FieldMissing", RAW, "node_type is missing"),
    "no namespace": (("nodes", 0, "namespace", None), "FieldMissing", RAW, "namespace is missing"),
    "no id": (("nodes", 1, "node_id", None), "FieldMissing", "node 'cleaned_customers'", "node_id is missing"),
    "a namespace that is no URI": (
        ("nodes", 0, "namespace", "the warehouse"),
        "NamespaceInvalid",
        f"node {RAW} 'raw_customers'",
        "namespace is not a URI: 'the warehouse'",
    ),
    "a type that there is not": (("nodes", 0, "node_type", "lake"), "StructureInvalid", RAW, "one of column, file"),
    "an edge type that there is not": (("edges", 0, "edge_type", "made_of"), "StructureInvalid", CLEANING, "made_of"),
    "an id that is no UUID": (("nodes", 0, "node_id", "node1"), "StructureInvalid", "node1", "node_id is not a UUID"),
    "a list for a name": (("nodes", 0, "name", ["a"]), "StructureInvalid", RAW, "name must be a text"),
    "a name that cannot be stored": (("nodes", 0, "name", "a\0b"), "StructureInvalid", RAW, "NUL"),
    "a text for metadata": (("nodes", 0, "metadata", "x"), "StructureInvalid", RAW, "metadata must be an object"),
    "more than all": (("quality", 0, "metrics", {"accuracy": 1.5}), "StructureInvalid", "quality", "from 0 to 1"),
    "half a count": (("edges", 0, "metadata", {"duration_ms": 1.5}), "StructureInvalid", CLEANING, "whole number"),
    "a field without a name": (("nodes", 0, "schema", {"fields": [{}]}), "FieldMissing", RAW, "[0].name is missing"),
}


@pytest.mark.parametrize(("change", "code", "element", "reason"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_rule_is_named(tmp_path: Path, change: Change, code: str, element: str, reason: str) -> None:
    graph = complete_graph()
    part, number, member, value = change
    graph[part][number][member] = value
    file = written(graph, tmp_path / "graph.json")
    found = validate(file)
    assert not found.sound
    problem = next(one for one in found.problems if one.code == code)
    assert element in problem.element
    assert reason in problem.reason
    kind = getattr(errors, code)
    assert (problem.rule, issubclass(kind, errors.GraphInvalid)) == (kind.rule, True)
    with empty_store(tmp_path) as lineage:
        with pytest.raises(errors.GraphInvalid) as refusal:
            lineage.import_(file)
        assert refusal.value.rule in str(refusal.value)
        assert lineage.datasets() == []
        assert lineage.audit() == []


def chain(*steps: tuple[int, int], nodes: int) -> Document:
    graph = example()
    ids = [f"00000000-0000-4000-8000-{number:012d}" for number in range(nodes)]
    template = graph["nodes"][0]
    graph["nodes"] = [
        template | {"node_id": each, "name": f"n{number}", "qualified_name": f"n{number}"}
        for number, each in enumerate(ids)
    ]
    graph["edges"] = [
        {
            "edge_id": f"10000000-0000-4000-8000-{number:012d}",
            "source_node_id": ids[source],
            "target_node_id": ids[target],
            "edge_type": "derived_from",
        }
        for number, (source, target) in enumerate(steps)
    ]
    return graph


@pytest.mark.parametrize(
    ("steps", "paths"),
    [
        ([(0, 0)], [("n0", "n0")]),
        ([(0, 1), (1, 2), (2, 1)], [("n1", "n2", "n1")]),
        ([(0, 1), (1, 2), (2, 3), (3, 1), (1, 3)], [("n1", "n3", "n1")]),
        ([(0, 1), (1, 0), (1, 2), (2, 3), (3, 2)], [("n0", "n1", "n0"), ("n2", "n3", "n2")]),
        ([(0, 1), (0, 2), (1, 3), (2, 3)], []),
    ],
    ids=["itself", "with a tail", "the shortest way round", "two", "a diamond"],
)
def test_cycles_are_listed_as_paths(tmp_path: Path, steps: list[tuple[int, int]], paths: list[tuple[str, ...]]) -> None:
    found = validate(written(chain(*steps, nodes=4), tmp_path / "graph.json"))
    assert sorted(each.reason for each in found.problems) == sorted(
        f"it leads back to itself: {' → '.join(path)}" for path in paths
    )
    assert {each.code for each in found.problems} <= {"GraphCyclic"}


def test_a_cycle_as_long_as_the_graph(tmp_path: Path) -> None:
    size = 5_000
    file = written(chain(*((n, (n + 1) % size) for n in range(size)), nodes=size), tmp_path / "graph.json")
    (problem,) = validate(file).problems
    assert problem.code == "GraphCyclic"
    assert "… 4981 more …" in problem.reason


def test_problems_are_listed_up_to_a_number(tmp_path: Path) -> None:
    graph = chain(nodes=MAX_PROBLEMS + 50)
    for node in graph["nodes"]:
        node["namespace"] = "no uri"
    found = validate(written(graph, tmp_path / "graph.json"))
    assert (len(found.problems), found.truncated) == (MAX_PROBLEMS, True)


@pytest.mark.parametrize("version", ["1.0.0", "1.7.2", "1.99", "0.9.0"])
def test_a_later_minor_version_is_read(tmp_path: Path, version: str) -> None:
    graph = copy.deepcopy(complete_graph()) | {"version": version, "of_later": {"x": 1}}
    graph["nodes"][0]["of_later"] = [1, 2]
    assert validate(written(graph, tmp_path / "graph.json")).sound


@pytest.mark.parametrize("version", ["2.0.0", "10.1"])
def test_a_later_major_version_is_refused(tmp_path: Path, version: str) -> None:
    """Before anything else is checked: later content may mean anything."""
    graph = {"version": version, "nodes": "elsewhere"}
    with pytest.raises(errors.FormatTooNew, match=f"version {version}; this Headwater reads 1.0.0 and later minor"):
        validate(written(graph, tmp_path / "graph.json"))


def test_an_invalid_version(tmp_path: Path) -> None:
    with pytest.raises(errors.FileRefused, match="'latest' is not a version"):
        validate(written({"version": "latest", "nodes": []}, tmp_path / "graph.json"))


@pytest.mark.parametrize("namespace", ["shop", "s3://lake", "headwater:shop", "a b", "ä/ö", "", "%41", "x:%zz", "1:2"])
def test_every_namespace_has_a_uri_and_is_restored(namespace: str) -> None:
    assert is_uri(as_uri(namespace))
    assert from_uri(as_uri(namespace)) == namespace


def test_the_ends_of_an_edge_may_come_after_it(tmp_path: Path) -> None:
    graph = example()
    assert validate(written({"edges": graph["edges"], "nodes": graph["nodes"]}, tmp_path / "graph.json")).sound
    assert CLEAN in str(graph)
