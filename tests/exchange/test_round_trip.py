"""Export, import into an empty store, export: the same graph. All formats have the same content."""

from __future__ import annotations

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings

import headwater as hw
from headwater.examples import orders_events
from headwater.exchange.export_formats import Format
from headwater.exchange.opening import LineageFile
from headwater.exchange.validating import validate
from headwater.formats.wia.elements import Document
from tests.exchange.graphs import (
    FORMATS,
    complete_graph,
    elements,
    empty_store,
    example,
    exported_after_import,
    graphs,
    kinds,
    lists,
    read,
    written,
)
from tests.support.events import run_event

SLOW = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("graph", [example(), complete_graph()], ids=["the format's own example", "every structure"])
@pytest.mark.parametrize("format", FORMATS)
def test_an_imported_graph_keeps_its_ids(tmp_path: Path, graph: Document, format: str) -> None:
    file = written(graph, tmp_path / "given.json")
    assert validate(file).sound
    once = exported_after_import(file, tmp_path / "once", format)
    assert lists(once) == lists(graph)
    assert lists(exported_after_import(tmp_path / "once" / FORMATS[format], tmp_path / "twice")) == lists(graph)


@pytest.mark.parametrize("format", FORMATS)
def test_captured_lineage_is_preserved(tmp_path: Path, format: str) -> None:
    with empty_store(tmp_path) as lineage:
        lineage.ingest_many(orders_events())
        done = lineage.export(tmp_path / FORMATS[format], format=format)
        lineage.export(tmp_path / "once.json")
    assert (done.counts["node"], done.counts["edge"], done.counts["column_lineage"]) == (8, 8, 24)
    assert validate(tmp_path / FORMATS[format]).sound
    once = read(tmp_path / "once.json")
    assert lists(read(tmp_path / FORMATS[format])) == lists(once)
    assert lists(exported_after_import(tmp_path / FORMATS[format], tmp_path / "again")) == lists(once)


def test_imported_lineage_can_be_queried(tmp_path: Path) -> None:
    with empty_store(tmp_path) as lineage:
        lineage.import_(written(complete_graph(), tmp_path / "given.json"))
        (node,) = lineage.upstream("public.cleaned_customers").nodes
        assert node.endpoint.name == "public.raw_customers"
        (column,) = lineage.upstream("public.cleaned_customers", column="email").nodes
        assert (column.part, column.via.logic) == ("email", "lower(email)")
        summary = lineage.dataset("public.raw_customers").summary
        assert (summary.owner, summary.tags) == ("crm", ("pii",))


@SLOW
@given(graph=graphs())
def test_every_format_preserves_every_graph(graph: Document) -> None:
    check_every_format(graph)


@pytest.mark.long
@settings(SLOW, max_examples=100)
@given(graph=graphs())
def test_every_format_preserves_many_graphs(graph: Document) -> None:
    check_every_format(graph)


def check_every_format(graph: Document) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        file = written(graph, folder / "given.json")
        assert validate(file).problems == ()
        assert kinds(LineageFile(file).elements()) == kinds(elements(graph))
        for format in FORMATS:
            assert lists(exported_after_import(file, folder / format, format)) == lists(graph)


@pytest.mark.parametrize("gzip", [False, True])
def test_the_names_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gzip: bool) -> None:
    monkeypatch.chdir(tmp_path)
    with hw.connect("memory://") as lineage:
        lineage.ingest(run_event(inputs=["a"], outputs=["b"]))
        names = {format: lineage.export(format=format, gzip=gzip and format != "wia-parquet").path for format in Format}
        end = r"\.gz" if gzip else ""
        assert_like(names[Format.JSON], rf"lineage_graph_\d{{8}}T\d{{6}}Z\.json{end}")
        assert_like(names[Format.JSONL], rf"lineage_events_\d{{4}}-\d\d-\d\d\.jsonl{end}")
        for format in FORMATS:
            assert lists(read(tmp_path / names[Format(format)])) == lists(read(tmp_path / names[Format.JSON]))
    assert {file.name for file in tmp_path.iterdir()} == set(names.values())


def assert_like(text: str, pattern: str) -> None:
    assert re.fullmatch(pattern, text), text


def test_ids_are_random_and_stable(tmp_path: Path, durable_url: str) -> None:
    def ids() -> list[str]:
        with hw.connect(durable_url) as lineage:
            lineage.ingest(run_event(inputs=["a"], outputs=["b"]))
            lineage.export(tmp_path / "graph.json")
        graph = read(tmp_path / "graph.json")
        assert all(each["node_id"][14] == "4" and each["node_id"][19] in "89ab" for each in graph["nodes"])
        return [each["node_id"] for each in graph["nodes"]] + [each["edge_id"] for each in graph["edges"]]

    first = ids()
    assert ids() == first
    assert len(set(first)) == 3
    with empty_store(tmp_path) as other:
        other.ingest(run_event(inputs=["a"], outputs=["b"]))
        other.export(tmp_path / "other.json")
    assert not {each["node_id"] for each in read(tmp_path / "other.json")["nodes"]} & set(first)


def test_later_statements_are_exported(tmp_path: Path) -> None:
    """An import does not freeze a dataset: later statements of runs are exported, under the same id."""
    with empty_store(tmp_path) as lineage:
        lineage.import_(written(complete_graph(), tmp_path / "given.json"))
        facet = {"_producer": "urn:x", "_schemaURL": "urn:x", "description": "As it is now"}
        use = {"namespace": "postgres://warehouse:5432", "name": "public.raw_customers"}
        lineage.ingest(run_event(outputs=[use | {"facets": {"documentation": facet}}], minute=5))
        lineage.export(tmp_path / "later.json")
    before, after = (
        lists(graph)["nodes"][complete_graph()["nodes"][0]["node_id"]]
        for graph in (complete_graph(), read(tmp_path / "later.json"))
    )
    assert after["metadata"] == before["metadata"] | {"description": "As it is now"}
    assert after["updated_at"] > before["updated_at"]
    assert after["schema"] == before["schema"]


def test_importing_twice_adds_nothing(tmp_path: Path, store_url: str) -> None:
    file = written(complete_graph(), tmp_path / "given.json")
    with hw.connect(store_url) as lineage:
        first, second = lineage.import_(file), lineage.import_(file)
    assert (first.events, first.duplicates) == (2, 0)
    assert (second.events, second.duplicates) == (2, 2)


def test_events_are_preserved(tmp_path: Path) -> None:
    with empty_store(tmp_path) as lineage, empty_store(tmp_path) as other:
        lineage.ingest_many(orders_events())
        lineage.export(tmp_path / "events.jsonl", format="openlineage")
        taken = other.import_(tmp_path / "events.jsonl")
        assert (taken.format, taken.events) == ("openlineage", 52)
        other.export(tmp_path / "again.jsonl", format="openlineage")
    assert (tmp_path / "events.jsonl").read_bytes() == (tmp_path / "again.jsonl").read_bytes()


def test_a_part_as_events(tmp_path: Path) -> None:
    with empty_store(tmp_path) as lineage, empty_store(tmp_path) as other:
        lineage.ingest_many(orders_events())
        for name, format in (("part.json", "wia-json"), ("part.jsonl", "openlineage")):
            lineage.export(tmp_path / name, format=format, datasets=["shop.daily_revenue"], depth=1)
        other.import_(tmp_path / "part.jsonl")
        other.export(tmp_path / "again.json")
    assert lists(read(tmp_path / "part.json")) == lists(read(tmp_path / "again.json"))
    assert all("eventTime" in json.loads(line) for line in (tmp_path / "part.jsonl").read_text().splitlines())


def test_two_files_with_the_same_id(tmp_path: Path) -> None:
    """The first keeps it: an export has no id twice."""
    second = example()
    for node in second["nodes"]:
        node["qualified_name"] = node["qualified_name"].replace("public", "private")
    with empty_store(tmp_path) as lineage:
        lineage.import_(written(example(), tmp_path / "first.json"))
        lineage.import_(written(second, tmp_path / "second.json"))
        lineage.export(tmp_path / "both.json")
    assert validate(tmp_path / "both.json").problems == ()
    both = read(tmp_path / "both.json")
    assert (len(both["nodes"]), len(both["edges"])) == (4, 2)
    assert example()["edges"][0] in both["edges"]
