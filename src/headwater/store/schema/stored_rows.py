"""Rows of the tables, as queries return them: what SQLAlchemy gives by the name of a column has these types.

A query may select more than one of these says, and less of it: a row has the columns that its query selects.
"""

from __future__ import annotations

from typing import Any, Protocol

PlainRow = tuple[Any, ...]
"""A row as the driver gives it: the values of whatever columns a statement selects. In a store that somebody tampered
with, they may be of any type."""

StampedFacet = list[Any]
"""[micros, digest as hex, body], as a list of JSON. The first two are the stamp of the event that stated the facet, and
the body is whatever its producer sent."""

FacetDocument = dict[str, StampedFacet]
"""Facets by name, as ``dataset.facets`` and ``job.facets`` hold them."""


class StoredName(Protocol):
    """What one name of a dataset is known as, where no more of its row is asked for."""

    id: int
    namespace: str
    name: str


class StoredDataset(StoredName, Protocol):
    canonical_id: int
    is_job: int
    kind: str
    owner: str | None
    tags: list[str]
    facets: FacetDocument
    first_seen: int | None
    last_seen: int | None


class StoredJob(StoredName, Protocol):
    owner: str | None
    last_seen: int
    facets: FacetDocument


class StoredRun(Protocol):
    id: int
    key: bytes
    run_id: str
    job_id: int
    state: str
    started_at: int | None
    ended_at: int | None
    first_event_at: int
    last_event_at: int
    parent_run_id: str | None


class StoredVersion(Protocol):
    id: int
    dataset_id: int
    partition_id: int | None
    origin: str
    job_id: int | None
    run_id: int | None
    event_id: int | None
    written_at: int
    tiebreak: bytes
    valid_to: int
    label: str | None
    upstream_digest: bytes
    column_digest: bytes
    digest: bytes


class StoredEdge(Protocol):
    id: int
    job_id: int | None
    origin: str
    upstream_id: int
    downstream_id: int
    type: str
    valid_from: int
    valid_to: int


class StoredColumnEdge(Protocol):
    id: int
    job_id: int | None
    upstream_id: int
    upstream_column_id: int | None
    downstream_id: int
    downstream_column_id: int | None
    dependency: str
    subtype: str | None
    masking: int
    logic: str | None
