"""What a lineage graph is made of: the kinds of elements, and the fields that each of them has.

An element is a plain document, as JSON has it; what a document says beyond these fields is kept and never looked at.
One table of fields serves all that has to know them: the checks, the columns of Parquet files, the keys of GraphML.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from headwater.model.lineage import EdgeType

Document = dict[str, Any]


class Kind(StrEnum):
    GRAPH = "graph"
    """The head: which graph, of which version, when it was made."""
    NODE = "node"
    EDGE = "edge"
    COLUMN = "column_lineage"
    PROVENANCE = "provenance"
    QUALITY = "quality"


Element = tuple[Kind, Document]


class Type(StrEnum):
    ID = "id"
    """A UUID."""
    TEXT = "text"
    TIME = "time"
    URI = "uri"
    COUNT = "count"
    FRACTION = "fraction"
    """From 0 to 1."""
    FLAG = "flag"
    TEXTS = "texts"
    OBJECT = "object"
    OBJECTS = "objects"


@dataclass(frozen=True)
class Field:
    path: tuple[str, ...]
    type: Type = Type.TEXT
    required: bool = False
    choices: frozenset[str] = frozenset()
    items: tuple[Field, ...] = ()
    """The fields of each, where it is a list of objects."""

    @cached_property
    def name(self) -> str:
        """What a column or a key is called."""
        return "_".join(self.path)


def _field(
    path: str,
    type: Type = Type.TEXT,
    *,
    required: bool = False,
    choices: str = "",
    items: tuple[Field, ...] = (),
) -> Field:
    return Field(tuple(path.split(".")), type, required, frozenset(choices.split()), items)


NODE_TYPES = "table view column report model file stream"
_SCHEMA_FIELD = (
    _field("name", required=True),
    _field("type"),
    _field("nullable", Type.FLAG),
    _field("description"),
)
_DEPENDENCY = (_field("source_table"), _field("source_column"), _field("expression"))
_VALIDATION = (
    _field("rule_name"),
    _field("rule_type", choices="not_null unique range pattern custom"),
    _field("passed", Type.FLAG),
    _field("failed_count", Type.COUNT),
    _field("details"),
)
_ANOMALY = (
    _field("type", choices="outlier missing duplicate invalid"),
    _field("severity", choices="low medium high critical"),
    _field("count", Type.COUNT),
    _field("description"),
)

FIELDS: Mapping[Kind, tuple[Field, ...]] = {
    Kind.GRAPH: (
        _field("graph_id", Type.ID),
        _field("version"),
        _field("generated_at", Type.TIME),
        _field("metadata.producer"),
        _field("metadata.environment", choices="dev staging prod"),
        _field("metadata.custom", Type.OBJECT),
    ),
    Kind.NODE: (
        _field("node_id", Type.ID, required=True),
        _field("node_type", required=True, choices=NODE_TYPES),
        _field("namespace", Type.URI, required=True),
        _field("name", required=True),
        _field("qualified_name"),
        _field("created_at", Type.TIME),
        _field("updated_at", Type.TIME),
        _field("metadata.description"),
        _field("metadata.owner"),
        _field("metadata.tags", Type.TEXTS),
        _field("metadata.custom", Type.OBJECT),
        _field("schema.fields", Type.OBJECTS, items=_SCHEMA_FIELD),
    ),
    Kind.EDGE: (
        _field("edge_id", Type.ID, required=True),
        _field("source_node_id", Type.ID, required=True),
        _field("target_node_id", Type.ID, required=True),
        _field("edge_type", required=True, choices=" ".join(EdgeType)),
        _field("transformation.type", choices="sql python spark custom"),
        _field("transformation.logic"),
        _field("transformation.version"),
        _field("transformation.git_commit"),
        _field("metadata.job_name"),
        _field("metadata.execution_time", Type.TIME),
        _field("metadata.duration_ms", Type.COUNT),
        _field("metadata.records_processed", Type.COUNT),
        _field("metadata.custom", Type.OBJECT),
        _field("created_at", Type.TIME),
    ),
    Kind.COLUMN: (
        _field("column_lineage_id", Type.ID, required=True),
        _field("source_table", required=True),
        _field("source_column", required=True),
        _field("target_table", required=True),
        _field("target_column", required=True),
        _field("transformation_type", choices="direct computed aggregated joined"),
        _field("transformation_logic"),
        _field("dependencies", Type.OBJECTS, items=_DEPENDENCY),
        _field("created_at", Type.TIME),
    ),
    Kind.PROVENANCE: (
        _field("provenance_id", Type.ID, required=True),
        _field("node_id", Type.ID, required=True),
        _field("event_type", choices="created modified accessed deleted"),
        _field("event_time", Type.TIME),
        _field("agent.type", choices="user service job"),
        _field("agent.id"),
        _field("agent.name"),
        _field("operation.type", choices="read write transform export"),
        _field("operation.method"),
        _field("operation.parameters", Type.OBJECT),
        _field("context.purpose"),
        _field("context.legal_basis"),
        _field("context.retention_period"),
        _field("context.sensitivity_level", choices="public internal confidential restricted"),
    ),
    Kind.QUALITY: (
        _field("quality_id", Type.ID, required=True),
        _field("node_id", Type.ID, required=True),
        _field("measured_at", Type.TIME),
        _field("metrics.completeness", Type.FRACTION),
        _field("metrics.accuracy", Type.FRACTION),
        _field("metrics.consistency", Type.FRACTION),
        _field("metrics.timeliness", Type.FRACTION),
        _field("validations", Type.OBJECTS, items=_VALIDATION),
        _field("anomalies", Type.OBJECTS, items=_ANOMALY),
    ),
}

ID_OF: Mapping[Kind, str] = {kind: fields[0].path[0] for kind, fields in FIELDS.items()}
"""The field that an element of a kind is known by."""

LISTS: Mapping[Kind, str] = {
    Kind.NODE: "nodes",
    Kind.EDGE: "edges",
    Kind.COLUMN: "column_lineage",
    Kind.PROVENANCE: "provenance",
    Kind.QUALITY: "quality",
}
"""What a graph calls the list of its elements of each kind, in the order in which they are written."""


def named(kind: Kind, document: Mapping[str, Any]) -> str:
    """An element in an error: `edge c3d4e5f6-a7b8-…`, with a node's name, or its kind alone."""
    known_by = document.get(ID_OF[kind])
    words = [kind.value.replace("_", " ")]
    if isinstance(known_by, str):
        words.append(known_by)
    name = document.get("name")
    if kind is Kind.NODE and isinstance(name, str):
        words.append(f"'{name}'")
    return " ".join(words)
