"""The parameters that questions share."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import BeforeValidator, WithJsonSchema

from headwater.formats.openlineage.event import as_utc, parse_time
from headwater.model.names import Dataset, Endpoint, Job
from headwater.model.runs import RunState

MOST = 1000


def moment(value: Any) -> Any:
    """An ISO 8601 date or time; UTC where it names no zone."""
    if value is None:
        return None
    found = parse_time(value)
    if found is None:
        raise ValueError("not a date or a time. Write 2026-11-10 or 2026-11-10T08:30:00Z")
    return as_utc(found)


Moment = Annotated[
    datetime | None,
    BeforeValidator(moment),
    WithJsonSchema({"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}),
    Query(),
]
Limit = Annotated[int, Query(ge=1, le=MOST, description="At most so many.")]
Cursor = Annotated[str | None, Query(max_length=100_000, description="`next` of the page before.")]
Text = Annotated[str | None, Query(max_length=10_000)]
State = Annotated[RunState | None, Query()]
Depth = Annotated[int | None, Query(ge=1, le=100_000, description="At most so many hops; 100 unless told.")]
Segment = Annotated[str, Path(description="One segment, percent-encoded; slashes too.")]

DatasetParameter = Annotated[
    str,
    Query(
        max_length=100_000,
        description="`name` where only one namespace has it, else `namespace/name`; with `namespace`, the name.",
    ),
]
NamespaceParameter = Annotated[str | None, Query(max_length=100_000, description="Of the dataset, to name it exactly.")]

JobParameter = Annotated[bool, Query(description="With `namespace`: the name is of a job, which an edge can lead to.")]


def named(dataset: str, namespace: str | None) -> str | Dataset:
    return dataset if namespace is None else Dataset(namespace, dataset)


def endpoint_named(dataset: str, namespace: str | None, job: bool) -> str | Endpoint:
    return Job(namespace, dataset) if job and namespace is not None else named(dataset, namespace)
