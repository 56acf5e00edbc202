"""Lists that are read page by page, and what stands in them."""

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
    """Where to go on; None at the end. It stays good while others write."""


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
    """Of its latest run, and so the outputs."""
    outputs: tuple[Dataset, ...]
    runs: tuple[Run, ...]
    """The newest first, at most ten."""


@dataclass(frozen=True, slots=True)
class ReceivedEvent:
    """An event without its body, which may be many megabytes."""

    number: int
    """Events are numbered as they arrive."""
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
    """How what was looked for fits, the best first."""

    EXACT = "exact"
    PREFIX = "prefix"
    WORD = "word"
    PIECE = "piece"
    FUZZY = "fuzzy"


@dataclass(frozen=True, slots=True)
class Hit:
    endpoint: Endpoint
    """Of a column its dataset, of a run its job."""
    type: str
    """`dataset`, `job`, `column` or `run`."""
    match: Match
    score: float
    """For a fuzzy match, how near it is: at most 100."""
    column: str | None = None
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class Coverage:
    """What is known, and what is not, of how a dataset comes about."""

    dataset: Dataset
    upstreams: int
    unknown: int
    """Upstreams of which nobody recorded which columns flowed."""
    complete: bool | None
    """By its producer's own word; None where it said nothing."""
    gaps: tuple[JsonObject, ...]


class Counts(NamedTuple):
    datasets: int
    jobs: int
    runs: int
    events: int
    edges: int
    """That hold now."""
    column_edges: int


# -- all around one node -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Flow:
    """An edge that holds now. The columns are None between datasets, or where nobody recorded which."""

    upstream: Endpoint
    upstream_column: str | None
    downstream: Endpoint
    downstream_column: str | None
    job: Job | None
    type: str
    """Of the edge; for a column, how it depends."""
    logic: str | None


@dataclass(frozen=True, slots=True)
class Sketch:
    """A dataset as far as a picture of many of them shows it."""

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
