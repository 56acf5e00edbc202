"""The elements of a lineage graph: their kinds, and the fields of each kind.

An element is a JSON object; members beyond these fields are preserved and never read. The checks, the columns of
Parquet files and the keys of GraphML all come from this one table of fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from headwater.model.lineage import EdgeType

Document = dict[str, Any]
"""The members of an element. `Any`: :data:`FIELDS` states their types, and `checks.py` checks them, before they are
read."""


class ElementKind(StrEnum):
    GRAPH = "graph"
    """The head: the graph's id, version and creation time."""
    NODE = "node"
    EDGE = "edge"
    COLUMN = "column_lineage"
    PROVENANCE = "provenance"
    QUALITY = "quality"


Element = tuple[ElementKind, Document]


class FieldType(StrEnum):
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
class FieldSpec:
    path: tuple[str, ...]
    type: FieldType = FieldType.TEXT
    required: bool = False
    choices: frozenset[str] = frozenset()
    items: tuple[FieldSpec, ...] = ()
    """The fields of each object, if it is a list of objects."""

    @cached_property
    def name(self) -> str:
        """The name of a column or a key."""
        return "_".join(self.path)


def _field(
    path: str,
    type: FieldType = FieldType.TEXT,
    *,
    required: bool = False,
    choices: str = "",
    items: tuple[FieldSpec, ...] = (),
) -> FieldSpec:
    return FieldSpec(tuple(path.split(".")), type, required, frozenset(choices.split()), items)


NODE_TYPES = "table view column report model file stream"
_SCHEMA_FIELD = (
    _field("name", required=True),
    _field("type"),
    _field("nullable", FieldType.FLAG),
    _field("description"),
)
_DEPENDENCY = (_field("source_table"), _field("source_column"), _field("expression"))
_VALIDATION = (
    _field("rule_name"),
    _field("rule_type", choices="not_null unique range pattern custom"),
    _field("passed", FieldType.FLAG),
    _field("failed_count", FieldType.COUNT),
    _field("details"),
)
_ANOMALY = (
    _field("type", choices="outlier missing duplicate invalid"),
    _field("severity", choices="low medium high critical"),
    _field("count", FieldType.COUNT),
    _field("description"),
)

FIELDS: Mapping[ElementKind, tuple[FieldSpec, ...]] = {
    ElementKind.GRAPH: (
        _field("graph_id", FieldType.ID),
        _field("version"),
        _field("generated_at", FieldType.TIME),
        _field("metadata.producer"),
        _field("metadata.environment", choices="dev staging prod"),
        _field("metadata.custom", FieldType.OBJECT),
    ),
    ElementKind.NODE: (
        _field("node_id", FieldType.ID, required=True),
        _field("node_type", required=True, choices=NODE_TYPES),
        _field("namespace", FieldType.URI, required=True),
        _field("name", required=True),
        _field("qualified_name"),
        _field("created_at", FieldType.TIME),
        _field("updated_at", FieldType.TIME),
        _field("metadata.description"),
        _field("metadata.owner"),
        _field("metadata.tags", FieldType.TEXTS),
        _field("metadata.custom", FieldType.OBJECT),
        _field("schema.fields", FieldType.OBJECTS, items=_SCHEMA_FIELD),
    ),
    ElementKind.EDGE: (
        _field("edge_id", FieldType.ID, required=True),
        _field("source_node_id", FieldType.ID, required=True),
        _field("target_node_id", FieldType.ID, required=True),
        _field("edge_type", required=True, choices=" ".join(EdgeType)),
        _field("transformation.type", choices="sql python spark custom"),
        _field("transformation.logic"),
        _field("transformation.version"),
        _field("transformation.git_commit"),
        _field("metadata.job_name"),
        _field("metadata.execution_time", FieldType.TIME),
        _field("metadata.duration_ms", FieldType.COUNT),
        _field("metadata.records_processed", FieldType.COUNT),
        _field("metadata.custom", FieldType.OBJECT),
        _field("created_at", FieldType.TIME),
    ),
    ElementKind.COLUMN: (
        _field("column_lineage_id", FieldType.ID, required=True),
        _field("source_table", required=True),
        _field("source_column", required=True),
        _field("target_table", required=True),
        _field("target_column", required=True),
        _field("transformation_type", choices="direct computed aggregated joined"),
        _field("transformation_logic"),
        _field("dependencies", FieldType.OBJECTS, items=_DEPENDENCY),
        _field("created_at", FieldType.TIME),
    ),
    ElementKind.PROVENANCE: (
        _field("provenance_id", FieldType.ID, required=True),
        _field("node_id", FieldType.ID, required=True),
        _field("event_type", choices="created modified accessed deleted"),
        _field("event_time", FieldType.TIME),
        _field("agent.type", choices="user service job"),
        _field("agent.id"),
        _field("agent.name"),
        _field("operation.type", choices="read write transform export"),
        _field("operation.method"),
        _field("operation.parameters", FieldType.OBJECT),
        _field("context.purpose"),
        _field("context.legal_basis"),
        _field("context.retention_period"),
        _field("context.sensitivity_level", choices="public internal confidential restricted"),
    ),
    ElementKind.QUALITY: (
        _field("quality_id", FieldType.ID, required=True),
        _field("node_id", FieldType.ID, required=True),
        _field("measured_at", FieldType.TIME),
        _field("metrics.completeness", FieldType.FRACTION),
        _field("metrics.accuracy", FieldType.FRACTION),
        _field("metrics.consistency", FieldType.FRACTION),
        _field("metrics.timeliness", FieldType.FRACTION),
        _field("validations", FieldType.OBJECTS, items=_VALIDATION),
        _field("anomalies", FieldType.OBJECTS, items=_ANOMALY),
    ),
}

ID_OF: Mapping[ElementKind, str] = {kind: fields[0].path[0] for kind, fields in FIELDS.items()}
"""The field with the id of an element of a kind."""

LISTS: Mapping[ElementKind, str] = {
    ElementKind.NODE: "nodes",
    ElementKind.EDGE: "edges",
    ElementKind.COLUMN: "column_lineage",
    ElementKind.PROVENANCE: "provenance",
    ElementKind.QUALITY: "quality",
}
"""The name of the list of elements of each kind in a graph, in the order in which they are written."""


def element_name(kind: ElementKind, document: Mapping[str, object]) -> str:
    """An element in an error message: `edge c3d4e5f6-a7b8-…`, with a node's name, or only its kind."""
    known_by = document.get(ID_OF[kind])
    words = [kind.value.replace("_", " ")]
    if isinstance(known_by, str):
        words.append(known_by)
    name = document.get("name")
    if kind is ElementKind.NODE and isinstance(name, str):
        words.append(f"'{name}'")
    return " ".join(words)
