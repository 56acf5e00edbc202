"""Quality that was measured or stated in a store is in its exports, and is imported again."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from headwater.exchange.validating import validate
from headwater.store.access.visibility import EVERYTHING, Visibility
from tests.exchange.graphs import FORMATS, empty_store, exported_after_import, lists, read
from tests.support.events import JOB_NAMESPACE, NAMESPACE, Json, at, run_event, used

CHECKS = {"headwater_quality": {"checks": True}}
DOCUMENT: dict[str, Any] = {
    "metrics": {"completeness": 0.75},
    "validations": [{"rule_name": "r", "rule_type": "unique", "passed": False, "failed_count": 1, "details": "id"}],
    "anomalies": [{"type": "duplicate", "severity": "low", "count": 1, "description": "r"}],
    "rows": 4,
}


def measured_store(run: str, dataset: str, minute: float) -> Json:
    facet = {**DOCUMENT, "measured_at": at(minute).isoformat()}
    use = {**used(dataset), "inputFacets": {"headwater_quality": facet}}
    return run_event(run=run, job="check", inputs=[use], minute=minute, job_facets=CHECKS)


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_preserves_quality(tmp_path: Path, format: str) -> None:
    with empty_store(tmp_path) as lineage:
        lineage.ingest(run_event(run="w", inputs=["a"], outputs=["x"], minute=1))
        lineage.ingest(measured_store("1", "x", 2))
        lineage.ingest(measured_store("2", "a", 3))
        lineage.set_quality("x", DOCUMENT)
        done = lineage.export(tmp_path / FORMATS[format], format=format)
        lineage.export(tmp_path / "once.json")
        lineage.export(tmp_path / "twice.json")
    assert done.counts["quality"] == 3
    once = read(tmp_path / "once.json")
    assert lists(read(tmp_path / "twice.json")) == lists(once), "ids stay"
    assert validate(tmp_path / FORMATS[format]).sound
    assert lists(read(tmp_path / FORMATS[format])) == lists(once)
    assert lists(exported_after_import(tmp_path / FORMATS[format], tmp_path / "again")) == lists(once)
    names = {node["node_id"]: node["name"] for node in once["nodes"]}
    assert sorted(names[one["node_id"]] for one in once["quality"]) == ["a", "x", "x"]
    assert all(one.items() >= DOCUMENT.items() for one in once["quality"])


def test_an_import_into_the_same_store_adds_no_duplicates(tmp_path: Path) -> None:
    with empty_store(tmp_path) as lineage:
        lineage.ingest(run_event(run="w", outputs=["x"], minute=1))
        lineage.ingest(measured_store("1", "x", 2))
        lineage.export(tmp_path / "once.json")
        lineage.import_(tmp_path / "once.json")
        lineage.export(tmp_path / "again.json")
    assert read(tmp_path / "again.json")["quality"] == read(tmp_path / "once.json")["quality"]


def test_within_a_cycle_quality_belongs_to_the_measured_version(tmp_path: Path) -> None:
    with empty_store(tmp_path) as lineage:
        for minute in (1, 2, 3):
            event = run_event(run=f"run {minute}", inputs=["orders"], outputs=["orders"], minute=minute)
            lineage.ingest(event)
        lineage.ingest(measured_store("1", "orders", 2.5))
        lineage.ingest(measured_store("2", "orders", 4))
        lineage.export(tmp_path / "graph.json")
    assert validate(tmp_path / "graph.json").sound
    graph = read(tmp_path / "graph.json")
    names = {node["node_id"]: node["name"] for node in graph["nodes"]}
    told = {one["measured_at"]: names[one["node_id"]] for one in graph["quality"]}
    assert told == {
        "2026-11-15T06:02:30Z": "orders@2026-11-15T06:02:00Z",
        "2026-11-15T06:04:00Z": "orders@2026-11-15T06:03:00Z",
    }


def test_as_of_a_time_and_with_limited_visibility(tmp_path: Path) -> None:
    with empty_store(tmp_path) as lineage:
        lineage.ingest(run_event(run="w", outputs=["x"], minute=1))
        lineage.ingest(measured_store("1", "x", 2))
        lineage.ingest(measured_store("2", "x", 5))
        assert lineage.export(tmp_path / "then.json", as_of=at(3)).counts["quality"] == 1
        assert lineage.export(tmp_path / "late.json", as_of=at(5) + timedelta(hours=1)).counts["quality"] == 2
        for seen, expected in (([NAMESPACE], 0), ([NAMESPACE, JOB_NAMESPACE], 2)):
            lineage._visibility = Visibility.of(seen)
            assert lineage.export(tmp_path / "limited.json").counts.get("quality", 0) == expected
            lineage._visibility = EVERYTHING
