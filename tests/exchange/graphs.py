"""Graphs to write, read and import: the format's own example, and those that Hypothesis generates."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import UUID, uuid4

from hypothesis import strategies as st

import headwater as hw
from headwater.client import Lineage
from headwater.exchange.opening import LineageFile
from headwater.formats.wia.elements import ID_OF, LISTS, Document, Element, ElementKind
from headwater.formats.wia.json_graph import graph_document
from headwater.model.lineage import EdgeType

FORMATS = {"wia-json": "graph.json", "wia-jsonl": "graph.jsonl", "wia-parquet": "tables", "graphml": "graph.graphml"}
"""That a graph can be read from, and what a test calls the file."""

WAREHOUSE = "postgres://warehouse:5432"
RAW = "a1b2c3d4-e5f6-7890-abcd-ef1234567890"
CLEAN = "b2c3d4e5-f6a7-8901-bcde-f12345678901"
CLEANING = "c3d4e5f6-a7b8-9012-cdef-123456789012"
_CREATED = "2025-01-01T00:00:00Z"


def example() -> Document:
    """The example of the format's own documentation."""
    made = "2025-12-26T10:00:00Z"
    return {
        "graph_id": "550e8400-e29b-41d4-a716-446655440000",
        "version": "1.0.0",
        "generated_at": made,
        "nodes": [
            _table(RAW, "raw_customers", "2025-12-26T09:00:00Z"),
            _table(CLEAN, "cleaned_customers", made),
        ],
        "edges": [
            {
                "edge_id": CLEANING,
                "source_node_id": RAW,
                "target_node_id": CLEAN,
                "edge_type": "derived_from",
                "transformation": {
                    "type": "sql",
                    "logic": "SELECT * FROM raw_customers WHERE active = true",
                    "version": "1.0",
                },
                "created_at": made,
            }
        ],
    }


def _table(node_id: str, name: str, updated_at: str) -> Document:
    return {
        "node_id": node_id,
        "node_type": "table",
        "namespace": WAREHOUSE,
        "name": name,
        "qualified_name": f"{WAREHOUSE}/public.{name}",
        "created_at": _CREATED,
        "updated_at": updated_at,
    }


def complete_graph() -> Document:
    """Every structure of the format, with every field."""
    graph = example()
    graph["nodes"][0] |= {
        "metadata": {"description": "As it came", "owner": "crm", "tags": ["pii"], "custom": {"tier": 1}},
        "schema": {"fields": [{"name": "email", "type": "string", "nullable": False, "description": "One each"}]},
    }
    graph["edges"][0]["transformation"]["git_commit"] = "0123abc"
    graph["edges"][0]["metadata"] = {
        "job_name": "clean",
        "execution_time": "2025-12-26T09:59:00Z",
        "duration_ms": 1500,
        "records_processed": 42,
        "custom": {"pool": "night"},
    }
    graph["column_lineage"] = [
        {
            "column_lineage_id": "10000000-0000-4000-8000-000000000001",
            "source_table": f"{WAREHOUSE}/public.raw_customers",
            "source_column": "email",
            "target_table": f"{WAREHOUSE}/public.cleaned_customers",
            "target_column": "email",
            "transformation_type": "computed",
            "transformation_logic": "lower(email)",
            "dependencies": [
                {
                    "source_table": f"{WAREHOUSE}/public.raw_customers",
                    "source_column": "email",
                    "expression": "lower(email)",
                }
            ],
            "created_at": _CREATED,
        }
    ]
    graph["provenance"] = [
        {
            "provenance_id": "20000000-0000-4000-8000-000000000001",
            "node_id": RAW,
            "event_type": "accessed",
            "event_time": "2025-12-26T09:30:00Z",
            "agent": {"type": "job", "id": "clean-1", "name": "clean"},
            "operation": {"type": "read", "method": "scan", "parameters": {"partition": "2025-12-26"}},
            "context": {
                "purpose": "billing",
                "legal_basis": "contract",
                "retention_period": "P7Y",
                "sensitivity_level": "confidential",
            },
        }
    ]
    graph["quality"] = [
        {
            "quality_id": "30000000-0000-4000-8000-000000000001",
            "node_id": CLEAN,
            "measured_at": "2025-12-26T10:01:00Z",
            "metrics": {"completeness": 0.99, "accuracy": 1, "consistency": 0.5, "timeliness": 0},
            "validations": [
                {
                    "rule_name": "email there",
                    "rule_type": "not_null",
                    "passed": False,
                    "failed_count": 3,
                    "details": "three",
                }
            ],
            "anomalies": [{"type": "missing", "severity": "low", "count": 3, "description": "no email"}],
        }
    ]
    return graph


def elements(graph: Document) -> list[Element]:
    head = {name: value for name, value in graph.items() if name not in LISTS.values()}
    return [(ElementKind.GRAPH, head), *((kind, each) for kind, name in LISTS.items() for each in graph.get(name, ()))]


def written(graph: Any, file: Path) -> Path:
    file.write_text(json.dumps(graph))
    return file


def read(file: Path) -> Document:
    return graph_document(LineageFile(file).elements())


def lists(graph: Document) -> dict[str, dict[str, Document]]:
    """The elements by their ids, because their order has no meaning."""
    return {name: {str(UUID(each[ID_OF[kind]])): each for each in graph.get(name, ())} for kind, name in LISTS.items()}


def empty_store(folder: Path) -> Lineage:
    """In a file of its own: copying one is faster than migrating each time."""
    file = folder / f"{uuid4()}.db"
    file.write_bytes(_template())
    return hw.connect(f"sqlite:///{file}")


@cache
def _template() -> bytes:
    with TemporaryDirectory() as folder:
        hw.connect(f"sqlite:///{folder}/store.db").close()
        return Path(folder, "store.db").read_bytes()


def exported_after_import(file: Path, folder: Path, format: str = "wia-json") -> Document:
    """The export of an empty store that imported ``file``."""
    folder.mkdir(exist_ok=True)
    with empty_store(folder) as lineage:
        lineage.import_(file)
        lineage.export(folder / FORMATS[format], format=format)
    return read(folder / FORMATS[format])


# -- any graph ------------------------------------------------------------------------------------

_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_name = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=12)
_any = st.recursive(st.none() | st.booleans() | st.integers(-10, 10) | _text, lambda inner: st.lists(inner, max_size=2))
_object = st.dictionaries(_text, _any, max_size=2)
_times = st.datetimes().map(lambda moment: moment.isoformat() + "Z")
_ids = st.uuids(version=4).map(str)


def _document(required: dict[str, Any], optional: dict[str, Any]) -> Any:
    return st.fixed_dictionaries(required, optional=optional | {"of_a_later_version": _any})


_metadata = _document(
    {}, {"description": _text, "owner": _text, "tags": st.lists(_text, max_size=2), "custom": _object}
)
_fields = st.lists(_document({"name": _name}, {"type": _text, "nullable": st.booleans()}), max_size=2)
_node = _document(
    {
        "node_type": st.sampled_from(["table", "view", "column", "report", "model", "file", "stream"]),
        "namespace": st.sampled_from([WAREHOUSE, "s3://lake", "urn:x", "headwater:shop%20floor"]),
        "name": _name,
    },
    {
        "qualified_name": _name,
        "created_at": _times,
        "updated_at": _times,
        "metadata": _metadata,
        "schema": st.fixed_dictionaries({"fields": _fields}),
    },
)
_edge = _document(
    {"edge_type": st.sampled_from(list(map(str, EdgeType)))},
    {
        "transformation": _document({}, {"type": st.sampled_from(["sql", "custom"]), "logic": _text}),
        "metadata": _document({}, {"job_name": _text, "duration_ms": st.integers(0, 2**53), "custom": _object}),
        "created_at": _times,
    },
)
_provenance = _document(
    {"event_type": st.sampled_from(["created", "modified", "accessed", "deleted"])},
    {"event_time": _times, "agent": _document({}, {"id": _text}), "operation": _document({}, {"parameters": _object})},
)
_quality = _document({}, {"measured_at": _times, "metrics": _document({}, {"accuracy": st.floats(0, 1)})})


@st.composite
def graphs(draw: st.DrawFn) -> Document:
    """Valid graphs: edges lead from earlier nodes to later ones."""
    nodes = [{"node_id": draw(_ids)} | draw(_node) for _ in range(draw(st.integers(0, 4)))]
    pairs = [(source, target) for target in range(len(nodes)) for source in range(target)]
    chosen = draw(st.lists(st.sampled_from(pairs), max_size=5)) if pairs else []
    edges = [
        {"edge_id": draw(_ids), "source_node_id": nodes[s]["node_id"], "target_node_id": nodes[t]["node_id"]}
        | draw(_edge)
        for s, t in chosen
    ]
    said = [
        [{known_by: draw(_ids), "node_id": node["node_id"]} | draw(what) for node in nodes if draw(st.booleans())]
        for known_by, what in (("provenance_id", _provenance), ("quality_id", _quality))
    ]
    graph: Document = {"version": "1.3.0", "generated_at": "2026-11-15T06:00:00Z", "nodes": nodes, "edges": edges}
    return graph | {"provenance": said[0], "quality": said[1]}


def kinds(stream: Iterable[Element]) -> list[Element]:
    """Without the heads, because a file may contain its version twice."""
    return [(kind, document) for kind, document in stream if kind is not ElementKind.GRAPH]
