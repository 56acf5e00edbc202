"""Files that must not be imported: one clear error, in little memory, and the store is unchanged."""

from __future__ import annotations

import gzip
import json
import random
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import headwater as hw
from headwater.errors import ExchangeError, FileRefused, HeadwaterError
from headwater.exchange.validating import validate
from tests.exchange.graphs import FORMATS, complete_graph, empty_store, example, written
from tests.support.events import run_event

_NODE = json.dumps(example()["nodes"][0])


def _xml(inside: str, before: str = "") -> str:
    return f'<?xml version="1.0"?>{before}<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{inside}</graphml>'


_LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
TEXTS = {
    "nothing": "",
    "white space": " \n ",
    "a list": "[]",
    "no JSON": "{nodes: []}",
    "half of it": '{"nodes": [' + _NODE,
    "half a node": '{"nodes": [' + _NODE[:50],
    "half a literal": '{"nodes": [], "x": tru',
    "two graphs": '{"nodes": []} {"nodes": []}',
    "a number among the nodes": '{"nodes": [1]}',
    "an object for the nodes": '{"nodes": {"a": 1}, "edges": 3}',
    "not a number": '{"nodes": [{"x": NaN}]}',
    "a number of many digits": '{"nodes": [{"x": ' + "9" * 5_000 + "}]}",
    "nested arrays": '{"nodes": [' + "[" * 100_000,
    "nested objects": '{"nodes": [' + '{"a":' * 100_000,
    "nested, and closed": '{"nodes": [{"x": ' + "[" * 500 + "]" * 500 + "}]}",
    "a nested line": '{"event": "node", "data": ' + '{"a":' * 100_000,
    "a line of another kind": '{"event": "dragon", "data": {}}\n',
    "a line without data": '{"event": "node", "data": {}}\n{"event": "node"}\n',
    "lines that break off": '{"event": "graph", "data": {"version": "1.0.0"}}\n{"event": "no',
    "events that are none": '{"eventTime": "2026-11-15T06:00:00Z", "producer": "x"}\n',
    "another XML": "<html></html>",
    "XML without a graph": _xml(""),
    "XML that breaks off": _xml("<graph>")[:-15],
    "an entity bomb": _xml("<graph>&l9;</graph>", f'<!DOCTYPE x [<!ENTITY l0 "ha">{_LAUGHS}]>'),
    "an entity of the machine": _xml("<graph>&x;</graph>", '<!DOCTYPE x [<!ENTITY x SYSTEM "file:///etc/hostname">]>'),
    "deep XML": _xml("<a>" * 10_000),
    "a node in a node": _xml('<graph><node id="a"><node id="b"/></node></graph>'),
    "JSON in XML that is none": _xml('<graph><data key="quality">[</data></graph>'),
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_unreadable_files_are_refused_in_one_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "given"
    file.write_text(text)
    assert_refused(file)


def assert_refused(file: Path) -> str:
    with empty_store(file.parent) as lineage:
        lineage.ingest(run_event(inputs=["a"], outputs=["b"]))
        before = lineage.audit()
        with pytest.raises(ExchangeError) as refusal:
            lineage.import_(file)
        assert lineage.audit() == before
        assert [str(each.dataset) for each in lineage.datasets()] == ["warehouse/a", "warehouse/b"]
    message = str(refusal.value)
    assert "\n" not in message
    assert len(message) < 1_000
    return message


def test_a_missing_file(tmp_path: Path) -> None:
    assert "No such file" in assert_refused(tmp_path / "nowhere.json")
    (tmp_path / "empty").mkdir()
    assert "it contains no lineage_nodes.parquet" in assert_refused(tmp_path / "empty")


def test_bytes_that_are_not_text(tmp_path: Path) -> None:
    file = tmp_path / "graph.json"
    file.write_bytes(b'{"nodes": [{"name": "\xff\xfe"}]}')
    assert "not UTF-8" in assert_refused(file)


@pytest.mark.parametrize("filling", [b" ", b'{"a":', b"9"], ids=["white space", "nesting", "digits"])
def test_a_gzip_bomb_is_refused_in_little_memory(tmp_path: Path, filling: bytes) -> None:
    file = tmp_path / "graph.json.gz"
    with gzip.open(file, "wb", compresslevel=9) as packed:
        packed.write(b'{"nodes": [')
        for _ in range(80):
            packed.write(filling * (2**20 // len(filling)))
    tracemalloc.start()
    try:
        assert_refused(file)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 400 * 2**20


def test_a_truncated_gzip_file(tmp_path: Path) -> None:
    file = tmp_path / "graph.json.gz"
    packed = gzip.compress(random.Random(1).randbytes(100) + json.dumps(complete_graph()).encode())
    file.write_bytes(gzip.compress(json.dumps(complete_graph()).encode())[:-20])
    assert "truncated or damaged" in assert_refused(file)
    file.write_bytes(packed[:2] + b"\0" * 50)
    assert_refused(file)


def test_invalid_parquet_files(tmp_path: Path) -> None:
    with hw.connect("memory://") as lineage:
        lineage.import_(written(complete_graph(), tmp_path / "given.json"))
        lineage.export(tmp_path / "tables", format="wia-parquet")
    edges = tmp_path / "tables" / "lineage_edges.parquet"
    edges.write_bytes(edges.read_bytes()[:-30])
    assert "lineage_edges.parquet cannot be read" in assert_refused(tmp_path / "tables")
    edges.write_bytes((tmp_path / "tables" / "lineage_quality.parquet").read_bytes())
    assert_refused(tmp_path / "tables")


@pytest.mark.parametrize("format", [name for name in FORMATS if name != "wia-parquet"])
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_file_is_refused_or_still_valid(tmp_path: Path, format: str, data: st.DataObject) -> None:
    """Truncated, or with some bytes changed: the result is a Headwater error or a valid graph."""
    sound = tmp_path / FORMATS[format]
    if not sound.exists():
        with hw.connect("memory://") as lineage:
            lineage.import_(written(complete_graph(), tmp_path / "given.json"))
            lineage.export(sound, format=format)
    content = bytearray(sound.read_bytes())
    for _ in range(data.draw(st.integers(0, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    damaged = tmp_path / "damaged"
    damaged.write_bytes(bytes(content[: data.draw(st.integers(0, len(content)))]))
    with empty_store(tmp_path) as lineage:
        try:
            checked = validate(damaged)
            lineage.import_(damaged)
        except HeadwaterError:
            assert lineage.datasets() == []
        else:
            assert checked.sound


def test_a_failed_export_leaves_no_file(tmp_path: Path) -> None:
    with hw.connect("memory://") as lineage:
        with pytest.raises(FileRefused, match="No such file"):
            lineage.export(tmp_path / "no" / "where" / "graph.json")
        with pytest.raises(ExchangeError, match="'xml' is not a format"):
            lineage.export(tmp_path / "graph.xml", format="xml")
        with pytest.raises(ExchangeError, match="'up' is not a direction"):
            lineage.export(tmp_path / "graph.json", direction="up")
        with pytest.raises(ExchangeError, match="compressed by themselves"):
            lineage.export(tmp_path / "tables", format="wia-parquet", gzip=True)
    assert list(tmp_path.iterdir()) == []
