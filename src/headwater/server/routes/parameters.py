"""Query parameters that routes share."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import Path, Query
from pydantic import BeforeValidator, WithJsonSchema

from headwater.formats.openlineage.event import as_utc, parse_time
from headwater.model.names import Dataset, Endpoint, Job
from headwater.model.runs import RunState

MAX_RESULTS = 1000


def parse_moment(value: object) -> datetime | None:
    """Parse an ISO 8601 date or time; UTC if it names no zone."""
    if value is None:
        return None
    time = parse_time(value)
    if time is None:
        raise ValueError("not a date or a time. Write 2026-11-10 or 2026-11-10T08:30:00Z")
    return as_utc(time)


Moment = Annotated[
    datetime | None,
    BeforeValidator(parse_moment),
    WithJsonSchema({"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}),
    Query(),
]
Limit = Annotated[int, Query(ge=1, le=MAX_RESULTS, description="Maximum number of results.")]
Cursor = Annotated[str | None, Query(max_length=100_000, description="`next` of the previous page.")]
Text = Annotated[str | None, Query(max_length=10_000)]
State = Annotated[RunState | None, Query()]
Depth = Annotated[int | None, Query(ge=1, le=100_000, description="Maximum number of hops; 100 by default.")]
Segment = Annotated[str, Path(description="One path segment, percent-encoded, including slashes.")]

DatasetParameter = Annotated[
    str,
    Query(
        max_length=100_000,
        description="`namespace/name`, or `name` where the name is unique or `namespace` is given.",
    ),
]
NamespaceParameter = Annotated[
    str | None, Query(max_length=100_000, description="Namespace of the dataset, to name it exactly.")
]

JobParameter = Annotated[
    bool, Query(description="With `namespace`: the name is that of a job, which an edge can lead to.")
]


def dataset_reference(dataset: str, namespace: str | None) -> str | Dataset:
    return dataset if namespace is None else Dataset(namespace, dataset)


def endpoint_named(dataset: str, namespace: str | None, job: bool) -> str | Endpoint:
    return Job(namespace, dataset) if job and namespace is not None else dataset_reference(dataset, namespace)
