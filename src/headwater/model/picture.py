"""Lineage as the page draws it: cards and the links between them, their columns, and a map of all datasets."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from headwater.model.answers import Field, LatestRun
from headwater.model.lineage import Dependency, EdgeType, Origin
from headwater.model.names import Endpoint, Job
from headwater.model.runs import RunState


@dataclass(frozen=True, slots=True)
class Card:
    """A dataset, or a job that an edge starts from or ends in, in short.

    Its own properties (kind, owner, tags, columns, coverage) are those of today; its neighbours, the run and the rows
    are those of the time that was asked for.
    """

    endpoint: Endpoint
    kind: str
    owner: str | None
    tags: tuple[str, ...]
    columns: int
    """The number of top-level columns of its schema."""
    schema: tuple[Field, ...] | None
    """The columns of today; None if they were not requested, or are too many for one answer."""
    upstreams: int
    """The number of all its upstreams, also those that the answer leaves out. A link to itself does not count."""
    downstreams: int
    latest_run: LatestRun | None
    """The last run that wrote it, also a failed one."""
    rows: int | None
    """The row count of the last completed write; if that wrote one partition, of that partition."""
    complete: bool | None
    """As in :class:`~headwater.model.pages.Coverage`."""
    last_seen: datetime | None


@dataclass(frozen=True, slots=True)
class Link:
    """All edges from one node to another as one. The type and the origin are those of the strongest edge: one of a run
    before a declared one, and then the newest."""

    upstream: Endpoint
    downstream: Endpoint
    jobs: tuple[Job, ...]
    type: EdgeType
    origin: Origin


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    nodes: tuple[Card, ...]
    """The requested node first, then the others by distance and name."""
    edges: tuple[Link, ...]
    """All edges between these nodes, not only those on the paths to them."""
    column_edges: tuple[ColumnLink, ...] | None
    """All of them, likewise; None if they were not requested, or are too many for one answer."""
    as_of: datetime | None


@dataclass(frozen=True, slots=True)
class ColumnLink:
    """One column depends on another, by one job. A column of None stands for the whole dataset."""

    upstream: Endpoint
    upstream_column: str | None
    downstream: Endpoint
    downstream_column: str | None
    job: Job | None
    dependency: Dependency
    type: str | None
    """The subtype of OpenLineage: IDENTITY, AGGREGATION, FILTER …"""
    transformation: EdgeType | None
    """The corresponding edge type of WIA-DATA-008; None if the transformation was not recorded."""
    masking: bool
    logic: str | None


@dataclass(frozen=True, slots=True)
class MappedDataset:
    namespace: int
    """Its index in the map's namespaces."""
    name: str
    kind: str
    state: RunState | None
    """The state of the last run that wrote it, if that is among the newest runs."""


@dataclass(frozen=True, slots=True)
class EstateMap:
    """All datasets and edges, each with only as much as it takes to draw it. Numbers are indexes in the lists."""

    namespaces: tuple[str, ...]
    datasets: tuple[MappedDataset, ...]
    edges: tuple[tuple[int, int], ...]
    """From the upstream dataset to the downstream one."""
    truncated: bool
    """There are more datasets or edges than a map holds."""
    as_of: datetime | None
