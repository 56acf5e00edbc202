"""Datasets with cycles are common; the exchange format allows none."""

from __future__ import annotations

import json
from pathlib import Path

from headwater.exchange.validating import validate
from tests.exchange.graphs import empty_store, exported_after_import, lists, read
from tests.support.events import column_lineage, run_event, used


def test_a_table_that_is_overwritten_from_itself(tmp_path: Path) -> None:
    with empty_store(tmp_path) as lineage:
        for minute in (1, 2, 3):
            event = run_event(run=f"run {minute}", inputs=["orders", "news"], outputs=["orders"], minute=minute)
            lineage.ingest(event)
        done = lineage.export(tmp_path / "graph.json")
    assert done.cycles == (("warehouse/orders", "warehouse/orders"),)
    assert validate(tmp_path / "graph.json").sound
    graph = read(tmp_path / "graph.json")
    names = {node["node_id"]: node["name"] for node in graph["nodes"]}
    edges = {(names[edge["source_node_id"]], names[edge["target_node_id"]]) for edge in graph["edges"]}
    third, second = "orders@2026-11-15T06:03:00Z", "orders@2026-11-15T06:02:00Z"
    assert edges == {(second, third), ("news", third)}
    assert graph["metadata"]["custom"]["headwater"] == {"exported_by_version": [["warehouse/orders"] * 2]}
    (version,) = (node for node in graph["nodes"] if node["name"] == third)
    assert version["metadata"]["custom"]["headwater"]["version_of"]["name"] == "orders"


def test_datasets_that_lead_to_each_other(tmp_path: Path) -> None:
    with empty_store(tmp_path) as lineage:
        lineage.ingest(run_event(run="1", job="there", inputs=["a"], outputs=["b"], minute=1))
        lineage.ingest(run_event(run="2", job="back", inputs=["b"], outputs=["a"], minute=2))
        lineage.ingest(run_event(run="3", job="on", inputs=["b"], outputs=["report"], minute=3))
        (path,) = lineage.export(tmp_path / "graph.json").cycles
        assert sorted(path[:-1]) == ["warehouse/a", "warehouse/b"]
        assert path[0] == path[-1]
        lineage.export(tmp_path / "graph.mmd", format="mermaid")
    assert validate(tmp_path / "graph.json").sound
    graph = read(tmp_path / "graph.json")
    names = {node["node_id"]: node["name"] for node in graph["nodes"]}
    a, b = "a@2026-11-15T06:02:00Z", "b@2026-11-15T06:01:00Z"
    assert {(names[e["source_node_id"]], names[e["target_node_id"]]) for e in graph["edges"]} == {
        ("a@before", b),
        (b, a),
        (b, "report"),
    }
    assert lists(exported_after_import(tmp_path / "graph.json", tmp_path / "again")) == lists(graph)
    # A picture may have them.
    assert (tmp_path / "graph.mmd").read_text().count("-->") == 3


def test_column_lineage_within_a_cycle(tmp_path: Path) -> None:
    columns = {"columnLineage": column_lineage({"total": [("orders", "total", "DIRECT", "TRANSFORMATION")]})}
    with empty_store(tmp_path) as lineage:
        for minute in (1, 2):
            output = used("orders", facets=columns)
            lineage.ingest(run_event(run=str(minute), inputs=["orders"], outputs=[output], minute=minute))
        lineage.export(tmp_path / "graph.json")
    assert validate(tmp_path / "graph.json").problems == ()
    (column,) = json.loads((tmp_path / "graph.json").read_text())["column_lineage"]
    assert column["source_table"].endswith("orders@2026-11-15T06:01:00Z")
    assert column["target_table"].endswith("orders@2026-11-15T06:02:00Z")
