"""JSON schemas of Marquez's answers, as `shapes.py` builds them."""

from __future__ import annotations

from headwater.server.app.document_schemas import (
    BOOLEAN,
    DATE_TIME,
    EVENT,
    FACET,
    INTEGER,
    OBJECT,
    STRING,
    STRINGS,
    array_of,
    closed_object,
    nullable,
)
from headwater.server.app.openapi_schemas import COMPONENTS, Schema

_NOTHING: Schema = {"type": "null"}
_EMPTY: Schema = {"type": "array", "maxItems": 0}
_MOMENT_OR_NULL = nullable(DATE_TIME)
_TEXT_OR_NULL = nullable(STRING)


def _named(name: str, schema: Schema) -> Schema:
    """Register a schema under the prefix Marquez: some of Headwater's own classes have the same name."""
    COMPONENTS[f"Marquez{name}"] = schema
    return {"$ref": f"#/components/schemas/Marquez{name}"}


_ID = _named("Id", closed_object(namespace=STRING, name=STRING))
_VERSION_ID = _named("VersionId", closed_object(namespace=STRING, name=STRING, version=STRING))
_FIELD = _named("Field", closed_object(name=STRING, type={}, tags=_EMPTY, description={}))
_FACETS: Schema = {"type": "object", "additionalProperties": True}
_DATASET_TYPE: Schema = {"enum": ["DB_TABLE", "STREAM"]}

NAMESPACE = _named(
    "Namespace",
    closed_object(
        name=STRING, createdAt=DATE_TIME, updatedAt=DATE_TIME, ownerName=STRING, description=_NOTHING, isHidden=BOOLEAN,
    ),
)  # fmt: skip
DATASET = _named(
    "Dataset",
    closed_object(
        id=_ID,
        type=_DATASET_TYPE,
        name=STRING,
        physicalName=STRING,
        createdAt=DATE_TIME,
        updatedAt=DATE_TIME,
        namespace=STRING,
        sourceName=STRING,
        fields=array_of(_FIELD),
        tags=STRINGS,
        lastModifiedAt=_MOMENT_OR_NULL,
        lastLifecycleState=_TEXT_OR_NULL,
        description=_TEXT_OR_NULL,
        currentVersion=_TEXT_OR_NULL,
        columnLineage=_NOTHING,
        facets=_FACETS,
        deleted=BOOLEAN,
    ),
)
VERSION = _named(
    "Version",
    closed_object(
        id=_VERSION_ID,
        type=_DATASET_TYPE,
        name=STRING,
        physicalName=STRING,
        namespace=STRING,
        sourceName=STRING,
        tags=STRINGS,
        createdAt=DATE_TIME,
        version=STRING,
        fields=array_of(_FIELD),
        description=_TEXT_OR_NULL,
        lifecycleState=_TEXT_OR_NULL,
        createdByRun=nullable(closed_object(id=STRING)),
        facets=_FACETS,
    ),
)
_USED = array_of(closed_object(datasetVersionId=_VERSION_ID, facets=_FACETS))
RUN = _named(
    "Run",
    closed_object(
        id=STRING,
        createdAt=DATE_TIME,
        updatedAt=DATE_TIME,
        nominalStartTime=_MOMENT_OR_NULL,
        nominalEndTime=_MOMENT_OR_NULL,
        state={"enum": ["NEW", "RUNNING", "COMPLETED", "FAILED", "ABORTED"]},
        startedAt=_MOMENT_OR_NULL,
        endedAt=_MOMENT_OR_NULL,
        durationMs=nullable(INTEGER),
        args=OBJECT,
        jobVersion=_VERSION_ID,
        inputDatasetVersions=_USED,
        outputDatasetVersions=_USED,
        facets=_FACETS,
    ),
)
JOB = _named(
    "Job",
    closed_object(
        id=_ID,
        type={"enum": ["BATCH", "STREAM"]},
        name=STRING,
        simpleName=STRING,
        parentJobName=_NOTHING,
        parentJobUuid=_NOTHING,
        createdAt=DATE_TIME,
        updatedAt=DATE_TIME,
        namespace=STRING,
        inputs=array_of(_ID),
        outputs=array_of(_ID),
        location=_TEXT_OR_NULL,
        description=_TEXT_OR_NULL,
        latestRun=nullable(RUN),
        latestRuns=array_of(RUN),
        tags=_EMPTY,
        labels=_EMPTY,
        currentVersion=_NOTHING,
        facets=_FACETS,
    ),
)
RUN_FACETS = closed_object(runId=STRING, facets=FACET)

_EDGES = array_of(closed_object(origin=STRING, destination=STRING))


def _node(kind: str, data: Schema) -> Schema:
    return closed_object(id=STRING, type={"const": kind}, data=data, inEdges=_EDGES, outEdges=_EDGES)


NODE: Schema = {"anyOf": [_node("DATASET", DATASET), _node("JOB", JOB)]}
_HOW: dict[str, Schema] = {"transformationDescription": _TEXT_OR_NULL, "transformationType": _TEXT_OR_NULL}
_INPUT = closed_object(namespace=STRING, dataset=STRING, datasetVersion=_NOTHING, field=STRING, **_HOW)
COLUMN_NODE = _node(
    "DATASET_FIELD",
    closed_object(
        namespace=STRING, dataset=STRING, datasetVersion=_NOTHING, field=STRING, fieldType={}, **_HOW,
        inputFields=array_of(_INPUT),
    ),
)  # fmt: skip
RESULT = closed_object(
    type={"enum": ["DATASET", "JOB"]}, name=STRING, updatedAt=_MOMENT_OR_NULL, namespace=STRING, nodeId=STRING
)


def page(name: str, item: Schema, *, counted: bool = False) -> Schema:
    """Return the schema of a list as Marquez has it: under a name of its own, and with the total if ``counted``."""
    members = {name: array_of(item)}
    return closed_object(**members, totalCount=INTEGER) if counted else closed_object(**members)


EVENTS = page("events", EVENT, counted=True)
