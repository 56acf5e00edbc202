"""Marquez's shapes as schemas: what `shapes.py` makes, member by member."""

from __future__ import annotations

from typing import Any

from headwater.server.app.document_schemas import (
    ANY,
    EVENT,
    FACET,
    MOMENT,
    NUMBER,
    TEXT,
    TEXTS,
    TRUTH,
    closed,
    listed,
    or_null,
)
from headwater.server.app.openapi_schemas import COMPONENTS, Schema

_NOTHING: Schema = {"type": "null"}
_EMPTY: Schema = {"type": "array", "maxItems": 0}
_MOMENT_OR_NULL = or_null(MOMENT)
_TEXT_OR_NULL = or_null(TEXT)


def _named(name: str, schema: Schema) -> Schema:
    """Beside our own classes, some of which are called the same."""
    COMPONENTS[f"Marquez{name}"] = schema
    return {"$ref": f"#/components/schemas/Marquez{name}"}


_ID = _named("Id", closed(namespace=TEXT, name=TEXT))
_VERSION_ID = _named("VersionId", closed(namespace=TEXT, name=TEXT, version=TEXT))
_FIELD = _named("Field", closed(name=TEXT, type={}, tags=_EMPTY, description={}))
_FACETS: Schema = {"type": "object", "additionalProperties": True}
_DATASET_TYPE: Schema = {"enum": ["DB_TABLE", "STREAM"]}

NAMESPACE = _named(
    "Namespace",
    closed(
        name=TEXT, createdAt=MOMENT, updatedAt=MOMENT, ownerName=TEXT, description=_NOTHING, isHidden=TRUTH,
    ),
)  # fmt: skip
DATASET = _named(
    "Dataset",
    closed(
        id=_ID, type=_DATASET_TYPE, name=TEXT, physicalName=TEXT, createdAt=MOMENT, updatedAt=MOMENT, namespace=TEXT,
        sourceName=TEXT, fields=listed(_FIELD), tags=TEXTS, lastModifiedAt=_MOMENT_OR_NULL,
        lastLifecycleState=_TEXT_OR_NULL, description=_TEXT_OR_NULL, currentVersion=_TEXT_OR_NULL,
        columnLineage=_NOTHING, facets=_FACETS, deleted=TRUTH,
    ),
)  # fmt: skip
VERSION = _named(
    "Version",
    closed(
        id=_VERSION_ID, type=_DATASET_TYPE, name=TEXT, physicalName=TEXT, namespace=TEXT, sourceName=TEXT, tags=TEXTS,
        createdAt=MOMENT, version=TEXT, fields=listed(_FIELD), description=_TEXT_OR_NULL, lifecycleState=_TEXT_OR_NULL,
        createdByRun=or_null(closed(id=TEXT)), facets=_FACETS,
    ),
)  # fmt: skip
_USED = listed(closed(datasetVersionId=_VERSION_ID, facets=_FACETS))
RUN = _named(
    "Run",
    closed(
        id=TEXT, createdAt=MOMENT, updatedAt=MOMENT, nominalStartTime=_MOMENT_OR_NULL, nominalEndTime=_MOMENT_OR_NULL,
        state={"enum": ["NEW", "RUNNING", "COMPLETED", "FAILED", "ABORTED"]}, startedAt=_MOMENT_OR_NULL,
        endedAt=_MOMENT_OR_NULL, durationMs=or_null(NUMBER), args=ANY, jobVersion=_VERSION_ID,
        inputDatasetVersions=_USED, outputDatasetVersions=_USED, facets=_FACETS,
    ),
)  # fmt: skip
JOB = _named(
    "Job",
    closed(
        id=_ID, type={"enum": ["BATCH", "STREAM"]}, name=TEXT, simpleName=TEXT, parentJobName=_NOTHING,
        parentJobUuid=_NOTHING, createdAt=MOMENT, updatedAt=MOMENT, namespace=TEXT, inputs=listed(_ID),
        outputs=listed(_ID), location=_TEXT_OR_NULL, description=_TEXT_OR_NULL, latestRun=or_null(RUN),
        latestRuns=listed(RUN), tags=_EMPTY, labels=_EMPTY, currentVersion=_NOTHING, facets=_FACETS,
    ),
)  # fmt: skip
RUN_FACETS = closed(runId=TEXT, facets=FACET)

_EDGES = listed(closed(origin=TEXT, destination=TEXT))


def _node(kind: str, data: Schema) -> Schema:
    return closed(id=TEXT, type={"const": kind}, data=data, inEdges=_EDGES, outEdges=_EDGES)


NODE = {"anyOf": [_node("DATASET", DATASET), _node("JOB", JOB)]}
_HOW = {"transformationDescription": _TEXT_OR_NULL, "transformationType": _TEXT_OR_NULL}
_INPUT = closed(namespace=TEXT, dataset=TEXT, datasetVersion=_NOTHING, field=TEXT, **_HOW)
COLUMN_NODE = _node(
    "DATASET_FIELD",
    closed(
        namespace=TEXT, dataset=TEXT, datasetVersion=_NOTHING, field=TEXT, fieldType={}, **_HOW,
        inputFields=listed(_INPUT),
    ),
)  # fmt: skip
RESULT = closed(type={"enum": ["DATASET", "JOB"]}, name=TEXT, updatedAt=_MOMENT_OR_NULL, namespace=TEXT, nodeId=TEXT)


def page(name: str, item: Schema, *, counted: bool = False) -> Schema:
    """A list as Marquez has it: under its own name, some of them with how many there are in all."""
    members: dict[str, Any] = {name: listed(item)}
    return closed(**members, totalCount=NUMBER) if counted else closed(**members)


EVENTS = page("events", EVENT, counted=True)
