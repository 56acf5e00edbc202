"""A part of a store: around datasets, as of a time, with limited visibility."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import headwater as hw
from headwater.client import Lineage
from headwater.errors import QueryError, UnknownDataset
from headwater.exchange.exporting import export_file
from headwater.exchange.validating import validate
from headwater.store.access.visibility import Visibility
from tests.exchange.graphs import complete_graph, lists, read, written
from tests.support.events import at, column_lineage, run_event, used


@pytest.fixture
def lineage(store_url: str) -> Any:
    """a → b → c → d, and e → c."""
    with hw.connect(store_url) as lineage:
        for number, (source, target) in enumerate([("a", "b"), ("b", "c"), ("c", "d"), ("e", "c")]):
            columns = {"columnLineage": column_lineage({"x": [(source, "x", "DIRECT", "IDENTITY")]})}
            lineage.ingest(
                run_event(
                    run=f"{source}{target}",
                    job=f"{source}_{target}",
                    inputs=[source],
                    outputs=[used(target, facets=columns)],
                    minute=number,
                )
            )
        yield lineage


def names(file: Path) -> list[str]:
    assert validate(file).problems == ()
    return sorted(node["name"] for node in read(file)["nodes"])


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, "abcde"),
        ({"datasets": ["b"]}, "abcd"),
        ({"datasets": ["c"], "direction": "upstream"}, "abce"),
        ({"datasets": ["c"], "direction": "upstream", "depth": 1}, "bce"),
        ({"datasets": ["c"], "direction": "downstream"}, "cd"),
        ({"datasets": ["a", "d"], "direction": "both", "depth": 1}, "abcd"),
        ({"as_of": at(1.5)}, "abc"),
        ({"as_of": at(1.5), "datasets": ["c"], "direction": "downstream"}, "c"),
    ],
)
def test_a_part(lineage: Lineage, tmp_path: Path, asked: dict[str, Any], expected: str) -> None:
    lineage.export(tmp_path / "part.json", **asked)
    assert "".join(names(tmp_path / "part.json")) == expected
    lineage.export(tmp_path / "all.json")
    part, every = lists(read(tmp_path / "part.json")), lists(read(tmp_path / "all.json"))
    for kind, found in part.items():
        assert found.keys() <= every[kind].keys(), "the same thing has the same id"


def test_invalid_scopes_are_refused(lineage: Lineage, tmp_path: Path) -> None:
    for asked, reason in (
        ({"depth": 2}, "A depth is counted from a dataset"),
        ({"datasets": ["a"], "depth": 0}, "The depth must be 1 or more"),
    ):
        with pytest.raises(QueryError, match=reason):
            lineage.export(tmp_path / "part.json", **asked)
    with pytest.raises(UnknownDataset):
        lineage.export(tmp_path / "part.json", datasets=["nowhere"])
    assert list(tmp_path.glob("part*")) == []


def test_hidden_datasets_are_not_exported(tmp_path: Path) -> None:
    with hw.connect("memory://") as lineage:
        hidden = used("salaries", namespace="hr")
        lineage.ingest(run_event(inputs=["a", hidden], outputs=["b"]))
        lineage.import_(written(complete_graph(), tmp_path / "given.json"))
        seen = lineage.visible_to(Visibility.of(["warehouse", "scheduler"]))
        export_file(seen, tmp_path / "seen.json")
        assert names(tmp_path / "seen.json") == ["a", "b"]
        assert "salaries" not in (tmp_path / "seen.json").read_text()
        assert len(read(tmp_path / "seen.json")["edges"]) == 1
        export_file(lineage.visible_to(Visibility.of(["postgres*"])), tmp_path / "imported.json")
    assert lists(read(tmp_path / "imported.json"))["edges"] == lists(complete_graph())["edges"]


def test_an_edge_names_its_job(lineage: Lineage, tmp_path: Path) -> None:
    lineage.export(tmp_path / "graph.json", datasets=["b"], direction="upstream")
    (edge,) = read(tmp_path / "graph.json")["edges"]
    assert edge["metadata"]["job_name"] == "a_b"
    assert edge["metadata"]["custom"]["headwater"]["job_namespace"] == "scheduler"
    assert edge["metadata"]["execution_time"] == "2026-11-15T06:00:00Z"
    assert edge["edge_type"] == "projected_from"
    (column,) = read(tmp_path / "graph.json")["column_lineage"]
    assert (column["source_column"], column["target_column"], column["transformation_type"]) == ("x", "x", "direct")
    assert column["dependencies"] == [{"source_table": "headwater:warehouse/a", "source_column": "x"}]
