"""The commands `export`, `import` and `validate`, with text and JSON output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import Run
from tests.exchange.graphs import FORMATS, RAW, complete_graph, lists, read, written


@pytest.mark.parametrize("format", FORMATS)
def test_export_and_import(run: Run, tmp_path: Path, demo_url: str, format: str) -> None:
    name = FORMATS[format]
    done = run("export", "--format", format, "--out", name, "--store", demo_url)
    assert (done.code, done.out) == (0, f"{name} ({format}): 8 nodes, 8 edges, 24 column lineages, 14 provenances.\n")
    checked = run("validate", name)
    assert checked.out.endswith("Valid.\n")
    taken = run("import", name, "--store", "sqlite:///new.db", "--json")
    assert taken.json == {
        "path": name,
        "format": format,
        "counts": {"node": 8, "edge": 8, "column_lineage": 24, "provenance": 14, "quality": 0},
        "events": 8,
        "duplicates": 0,
    }
    again = run("import", name, "--store", "sqlite:///new.db")
    assert again.out.endswith("imported. 8 events of 8 were already in the store.\n")
    run("export", "--out", "again.json", "--store", "sqlite:///new.db")
    assert lists(read(tmp_path / "again.json")) == lists(read(tmp_path / name))


def test_a_part_as_of_a_time(run: Run, tmp_path: Path, demo_url: str) -> None:
    around = ("--dataset", "shop.daily_revenue", "--direction", "upstream", "--depth", "1", "--as-of", "2026-11-14")
    done = run("export", "--out", "part.json.gz", "--gzip", *around, "--store", demo_url, "--json")
    assert done.json["counts"]["node"] == 3
    assert (tmp_path / "part.json.gz").read_bytes()[:2] == b"\x1f\x8b"
    assert run("validate", "part.json.gz").code == 0


def test_violations_are_listed(run: Run, tmp_path: Path) -> None:
    graph = complete_graph()
    graph["nodes"][0]["namespace"] = "the warehouse"
    written(graph, tmp_path / "graph.json")
    found = run("validate", "graph.json", "--json")
    assert found.code == 1
    assert found.json["problems"] == [
        {
            "code": "NamespaceInvalid",
            "rule": "namespace format",
            "element": f"node {RAW} 'raw_customers'",
            "reason": "namespace is not a URI: 'the warehouse'",
        }
    ]
    told = run("validate", "graph.json")
    assert (told.code, "namespace format" in told.out) == (1, True)
    refused = run("import", "graph.json", "--store", "sqlite:///new.db")
    assert refused.code == 1
    assert refused.err == (
        f"Error: node {RAW} 'raw_customers' breaks the rule 'namespace format': "
        "namespace is not a URI: 'the warehouse'.\n"
    )


def test_a_file_without_lineage(run: Run, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    assert run("validate", "notes.txt").err.startswith("Error: notes.txt: neither JSON, JSON lines, GraphML")
    (tmp_path / "later.json").write_text(json.dumps({"version": "3.0.0"}))
    assert "has format version 3.0.0" in run("import", "later.json", "--store", "sqlite:///new.db").err
    assert run("export", "--store", "sqlite:///nowhere.db").code == 1


def test_cycles_are_reported(run: Run, tmp_path: Path) -> None:
    from tests.support.events import run_event

    (tmp_path / "event.json").write_text(json.dumps(run_event(inputs=["a"], outputs=["a"])))
    run("ingest", "event.json", "--store", "sqlite:///new.db")
    done = run("export", "--out", "graph.json", "--store", "sqlite:///new.db")
    assert done.out.splitlines()[1:] == [
        "The format does not allow cycles, so these datasets are exported version by version:",
        "  warehouse/a → warehouse/a",
    ]
