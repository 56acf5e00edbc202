"""Provenance in files: derived and stated provenance is exported, imported, and not duplicated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import headwater as hw
from headwater.client import Lineage
from headwater.examples import orders_events
from headwater.exchange.validating import validate
from headwater.store.access.visibility import Visibility
from tests.exchange.graphs import FORMATS, empty_store, exported_after_import, lists, read
from tests.support.events import at, run_event, run_id

AGENT = {"type": "user", "id": "ann", "name": "Ann"}


def without_basis(lineage: Lineage, name: str) -> list[tuple[Any, ...]]:
    """All fields but those that say where the answer is from."""
    return [
        (one.provenance_id, one.event, one.at, one.agent, one.operation, one.context)
        for one in lineage.provenance(name, limit=1000)
    ]


@pytest.mark.parametrize("format", FORMATS)
def test_export_and_import(tmp_path: Path, format: str) -> None:
    with empty_store(tmp_path) as lineage:
        lineage.ingest_many(orders_events())
        operation = {"type": "export", "method": "csv", "parameters": {"rows": 3}}
        lineage.state_provenance("shop.daily_revenue", "accessed", agent=AGENT, operation=operation, purpose="audit")
        lineage.export(tmp_path / FORMATS[format], format=format)
    assert validate(tmp_path / FORMATS[format]).problems == ()
    once = read(tmp_path / FORMATS[format])
    assert {document["event_type"] for document in once["provenance"]} == {"created", "modified", "accessed"}
    (stated,) = [document for document in once["provenance"] if document["agent"]["type"] == "user"]
    assert (stated["agent"], stated["operation"], stated["context"]) == (AGENT, operation, {"purpose": "audit"})
    assert lists(exported_after_import(tmp_path / FORMATS[format], tmp_path / "again")) == lists(once)


def test_the_newest_of_each_job_and_the_first(tmp_path: Path) -> None:
    with empty_store(tmp_path) as lineage:
        for minute in range(6):
            job, run = f"job{minute % 2}", f"run{minute}"
            lineage.ingest(run_event(run=run, job=job, inputs=["raw"], outputs=["made"], minute=minute))
        lineage.export(tmp_path / "all.json")
        lineage.export(tmp_path / "then.json", as_of=at(2))
        name = {node["node_id"]: node["name"] for node in read(tmp_path / "all.json")["nodes"]}

    def runs(file: str) -> set[tuple[str, str, str]]:
        documents = read(tmp_path / file)["provenance"]
        return {(name[each["node_id"]], each["event_type"], each["headwater"]["run_id"]) for each in documents}

    first = ("made", "created", run_id("run0"))
    assert runs("all.json") == {
        *{("raw", "accessed", run_id("run4")), ("raw", "accessed", run_id("run5"))},
        *{("made", "modified", run_id("run4")), ("made", "modified", run_id("run5")), first},
    }
    assert runs("then.json") == {
        *{("raw", "accessed", run_id("run1")), ("raw", "accessed", run_id("run2"))},
        *{("made", "modified", run_id("run1")), ("made", "modified", run_id("run2")), first},
    }


def test_an_import_into_the_same_store_adds_no_duplicates(tmp_path: Path, store_url: str) -> None:
    with hw.connect(store_url) as lineage:
        lineage.ingest(run_event(run="one", inputs=["raw"], outputs=["made"], minute=1))
        lineage.ingest(run_event(run="two", inputs=["raw"], outputs=["made"], minute=2))
        lineage.export(tmp_path / "out.json")
        before = [without_basis(lineage, name) for name in ("raw", "made")]
        lineage.import_(tmp_path / "out.json")
        assert [without_basis(lineage, name) for name in ("raw", "made")] == before
        lineage.export(tmp_path / "again.json")
    assert lists(read(tmp_path / "again.json"))["provenance"] == lists(read(tmp_path / "out.json"))["provenance"]


def test_another_store_answers_the_same_from_the_import(tmp_path: Path) -> None:
    with empty_store(tmp_path) as lineage, empty_store(tmp_path) as other:
        lineage.ingest(run_event(run="one", inputs=["raw"], outputs=["made"], minute=1))
        lineage.export(tmp_path / "out.json")
        other.import_(tmp_path / "out.json")
        assert without_basis(other, "made") == without_basis(lineage, "made")
        assert [(one.stated, one.run_id) for one in other.provenance("made")] == [(True, None)]
        other.ingest(run_event(run="two", outputs=["made"], minute=2))
        assert [one.event for one in other.provenance("made")] == ["modified", "created"]


def test_a_hidden_job_is_not_exported(tmp_path: Path) -> None:
    with empty_store(tmp_path) as lineage, empty_store(tmp_path) as other:
        lineage.ingest(run_event(run="one", inputs=["raw"], outputs=["made"], minute=1))
        lineage.export(tmp_path / "out.json")
        other.import_(tmp_path / "out.json")
        for store in (lineage, other):
            namespace = store.dataset("made").summary.dataset.namespace
            visibility = Visibility.of([namespace])
            assert store.visible_to(visibility).provenance("made") == []
            with store.visible_to(visibility).graphs.stream() as graph:
                assert "provenance" not in {str(kind) for kind, _ in graph.elements()}
            assert len(store.provenance("made")) == 1
