"""Lists that are read page by page, and their items."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Generic, NamedTuple, TypeVar

from headwater.model.answers import LatestRun
from headwater.model.json_types import JsonObject
from headwater.model.names import Dataset, Endpoint, Job
from headwater.model.runs import Facets, Problem, Run

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    items: tuple[Item, ...]
    next: str | None
    """The cursor of the next page; None at the end. It stays valid while others write."""


@dataclass(frozen=True, slots=True)
class NamespaceSummary:
    name: str
    datasets: int
    jobs: int


@dataclass(frozen=True, slots=True)
class JobSummary:
    job: Job
    owner: str | None
    last_seen: datetime
    latest_run: LatestRun | None


@dataclass(frozen=True, slots=True)
class JobDetail:
    summary: JobSummary
    facets: Facets
    inputs: tuple[Dataset, ...]
    """Those of its latest run, as with the outputs."""
    outputs: tuple[Dataset, ...]
    runs: tuple[Run, ...]
    """The newest first, at most ten."""


@dataclass(frozen=True, slots=True)
class ReceivedEvent:
    """An event without its body, which may have many megabytes."""

    number: int
    """Events are numbered in the order of their arrival."""
    digest: str
    kind: str
    event_type: str | None
    event_time: datetime
    received_at: datetime
    run_id: str | None
    job: Job | None
    dataset: Dataset | None
    problems: tuple[Problem, ...]


class Match(StrEnum):
    """How a name matches the text of a search, the best first."""

    EXACT = "exact"
    PREFIX = "prefix"
    WORD = "word"
    PIECE = "piece"
    FUZZY = "fuzzy"


@dataclass(frozen=True, slots=True)
class Hit:
    endpoint: Endpoint
    """The dataset or job; of a column its dataset, of a run its job."""
    type: str
    """`dataset`, `job`, `column` or `run`."""
    match: Match
    score: float
    """The similarity of a fuzzy match, at most 100."""
    column: str | None = None
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class Coverage:
    """How complete the lineage of a dataset is."""

    dataset: Dataset
    upstreams: int
    unknown: int
    """Upstreams without recorded column lineage."""
    complete: bool | None
    """Whether its producer states that the lineage is complete; None if it states nothing."""
    gaps: tuple[JsonObject, ...]


class Counts(NamedTuple):
    datasets: int
    jobs: int
    runs: int
    events: int
    edges: int
    """Those that are valid now."""
    column_edges: int


# -- the surroundings of one node ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Flow:
    """An edge that is valid now. The columns are None for an edge between datasets, or if they were not recorded."""

    upstream: Endpoint
    upstream_column: str | None
    downstream: Endpoint
    downstream_column: str | None
    job: Job | None
    type: str
    """The type of the edge; for a column, its dependency."""
    logic: str | None


@dataclass(frozen=True, slots=True)
class Sketch:
    """A dataset in short, for an answer with many of them."""

    dataset: Dataset
    tags: tuple[str, ...]
    first_seen: datetime | None
    last_seen: datetime | None
    facets: Facets


@dataclass(frozen=True, slots=True)
class Surroundings:
    flows: tuple[Flow, ...]
    datasets: tuple[Sketch, ...]
    jobs: tuple[JobSummary, ...]
