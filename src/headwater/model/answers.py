"""Answers of the store: frozen dataclasses, the same from a local store and over HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from headwater.model.certificates import Certificate
from headwater.model.json_types import JsonValue
from headwater.model.lineage import Basis, ColumnEdge, Dependency, Edge, EdgeType, Origin
from headwater.model.names import Dataset, Endpoint, Job
from headwater.model.runs import DatasetUse, Facets, Problem, Run, RunState


@dataclass(frozen=True, slots=True)
class Receipt:
    """An event was accepted. ``duplicate``: the store had it already. ``problems``: violations of the specification."""

    digest: str
    duplicate: bool
    problems: tuple[Problem, ...]


# -- datasets ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DatasetSummary:
    dataset: Dataset
    kind: str
    owner: str | None
    tags: tuple[str, ...]
    aliases: tuple[Dataset, ...]
    first_seen: datetime | None
    last_seen: datetime | None


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    type: str | None
    description: str | None


@dataclass(frozen=True, slots=True)
class Version:
    """The state of a dataset, or of one of its partitions, as one run or declaration left it."""

    written_at: datetime
    valid_to: datetime | None
    partition: str | None
    label: str | None
    origin: Origin
    job: Job | None
    run_id: str | None
    schema: tuple[Field, ...] | None


@dataclass(frozen=True, slots=True)
class DatasetDetail:
    summary: DatasetSummary
    schema: tuple[Field, ...]
    facets: Facets
    versions: tuple[Version, ...]
    """The newest first, at most a hundred."""
    partitions: tuple[str, ...]


# -- graph ---------------------------------------------------------------------------------------


class Grain(StrEnum):
    """What a node of the graph is."""

    DATASET = "dataset"
    COLUMN = "column"
    PARTITION = "partition"

    @property
    def mark(self) -> str:
        """The separator between the name of a dataset and the name of its part."""
        return "#" if self is Grain.COLUMN else "@"


class Direction(StrEnum):
    UPSTREAM = "upstream"
    DOWNSTREAM = "downstream"


class Via(NamedTuple):
    """The edge by which a node was reached, with the job and the run that made it."""

    job: Job | None
    run_id: str | None
    origin: Origin
    basis: Basis | None
    type: EdgeType | None
    transformation: str | None
    dependency: Dependency | None = None
    masking: bool | None = None
    logic: str | None = None
    via_job: bool = False
    """The edge goes through a hub: one job read and wrote too many datasets to pair, and no event states which flowed
    into which."""


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A dataset, or a column or partition of it, ``depth`` hops away. ``part`` of None is the dataset as a whole."""

    endpoint: Endpoint
    part: str | None
    grain: Grain
    depth: int
    via: Via
    parent: Node | None
    """The node one hop nearer on a shortest path; None for a neighbour of the start."""
    dependency: Dependency | None = None
    """Of a column: the strongest dependency over all paths, which need not be that of the shortest one."""

    @property
    def label(self) -> str:
        """`namespace/name`, `namespace/name#column` or `namespace/name@partition`."""
        return str(self.endpoint) if self.part is None else f"{self.endpoint}{self.grain.mark}{self.part}"

    @property
    def path(self) -> list[Node]:
        """A shortest path, nearest first, ending in this node."""
        path, node = [self], self.parent
        while node is not None:
            path.append(node)
            node = node.parent
        return path[::-1]


@dataclass(frozen=True, slots=True)
class Closure:
    """Everything upstream or downstream of one dataset, column or partition; nearest first."""

    endpoint: Endpoint
    part: str | None
    grain: Grain
    direction: Direction
    max_depth: int
    as_of: datetime | None
    truncated: bool
    """There are more nodes beyond ``max_depth``."""
    in_cycle: bool
    """A path leads back to the start."""
    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class TouchedColumn:
    """A column that a change reaches. A ``name`` of None is the whole dataset, and so all of its columns."""

    name: str | None
    dependency: Dependency


@dataclass(frozen=True, slots=True)
class LatestRun:
    run_id: str
    state: RunState
    last_event_at: datetime


@dataclass(frozen=True, slots=True)
class Affected:
    """A dataset or job that a change reaches, with the columns that it reaches."""

    endpoint: Endpoint
    depth: int
    columns: tuple[TouchedColumn, ...]
    jobs: tuple[Job, ...]
    owner: str | None
    latest_run: LatestRun | None
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Impact:
    endpoint: Endpoint
    column: str | None
    max_depth: int
    as_of: datetime | None
    truncated: bool
    affected: tuple[Affected, ...]
    readers: tuple[Job, ...]
    """Jobs that read the dataset or an affected one, and from which nothing flows on: reports, checks, exports."""


# -- runs ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RunDetail:
    run: Run
    run_facets: Facets
    job_facets: Facets
    inputs: tuple[DatasetUse, ...]
    outputs: tuple[DatasetUse, ...]
    edges: tuple[Edge, ...]
    """Its lineage: only a run that completed has any."""
    column_edges: tuple[ColumnEdge, ...]
    children: tuple[Run, ...]
    problems: tuple[Problem, ...]
    event_count: int
    certificates: tuple[Certificate, ...] = ()
    """The newest first."""


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between two runs. ``before`` is None if it was added, ``after`` is None if it was removed."""

    what: str
    name: str
    before: JsonValue
    after: JsonValue


@dataclass(frozen=True, slots=True)
class RunDiff:
    run_a: Run
    run_b: Run
    inputs: tuple[Change, ...]
    outputs: tuple[Change, ...]
    schema: tuple[Change, ...]
    column_edges: tuple[Change, ...]

    @property
    def same(self) -> bool:
        return not (self.inputs or self.outputs or self.schema or self.column_edges)
