"""What a picture of lineage shows: cards and the links between them, their columns, and the whole estate as a map."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from headwater.model.answers import Field, LatestRun
from headwater.model.lineage import Dependency, EdgeType, Origin
from headwater.model.names import Endpoint, Job
from headwater.model.runs import RunState


@dataclass(frozen=True, slots=True)
class Card:
    """A dataset, or a job that an edge starts from or ends in, in a few words.

    What it is itself (kind, owner, tags, columns, coverage) is what is known today; its neighbours, the run and the
    rows are those of the moment that was asked for.
    """

    endpoint: Endpoint
    kind: str
    owner: str | None
    tags: tuple[str, ...]
    columns: int
    """How many its schema has; nested ones are part of theirs."""
    schema: tuple[Field, ...] | None
    """These columns, as they are today; None where they were not asked for, or are too many for one answer."""
    upstreams: int
    """How many it has in all, shown or not. Itself is none of its neighbours, though a link may lead there."""
    downstreams: int
    latest_run: LatestRun | None
    """The last that wrote it, however it ended."""
    rows: int | None
    """As many as the last completed write said it wrote; of a partition, where it wrote one."""
    complete: bool | None
    """As in :class:`~headwater.model.pages.Coverage`."""
    last_seen: datetime | None


@dataclass(frozen=True, slots=True)
class Link:
    """All edges from one node to another in one. Their type and origin are those of the strongest: what a run told
    before what is only declared, and then the newest."""

    upstream: Endpoint
    downstream: Endpoint
    jobs: tuple[Job, ...]
    type: EdgeType
    origin: Origin


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    nodes: tuple[Card, ...]
    """The one that was asked for, then the nearest first and by name."""
    edges: tuple[Link, ...]
    """Every one between two of the nodes, not only those by which they were found."""
    column_edges: tuple[ColumnLink, ...] | None
    """Likewise every one; None where they were not asked for, or are too many for one answer."""
    as_of: datetime | None


@dataclass(frozen=True, slots=True)
class ColumnLink:
    """One column depends on another, by one job. A column of None stands for the dataset as a whole."""

    upstream: Endpoint
    upstream_column: str | None
    downstream: Endpoint
    downstream_column: str | None
    job: Job | None
    dependency: Dependency
    type: str | None
    """The subtype of OpenLineage: IDENTITY, AGGREGATION, FILTER …"""
    transformation: EdgeType | None
    """What that comes to in the five words of WIA; None where nobody recorded how."""
    masking: bool
    logic: str | None


@dataclass(frozen=True, slots=True)
class MappedDataset:
    namespace: int
    """Its place among the map's namespaces."""
    name: str
    kind: str
    state: RunState | None
    """Of the last run that wrote it, as far as the newest runs tell."""


@dataclass(frozen=True, slots=True)
class EstateMap:
    """Everything at once, and as little of each as draws it. Numbers are places in the lists."""

    namespaces: tuple[str, ...]
    datasets: tuple[MappedDataset, ...]
    edges: tuple[tuple[int, int], ...]
    """From the upstream dataset to the downstream one."""
    truncated: bool
    """There are more datasets or edges than a map holds."""
    as_of: datetime | None
