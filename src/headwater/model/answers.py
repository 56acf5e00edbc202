"""What the store answers with. Plain frozen data: the same whether it comes from a local store or over HTTP."""

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
    """An event was taken: ``duplicate`` if it was there already, ``problems`` if it is off-specification."""

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
    """What one run, or one declaration, made of a dataset or of one of its partitions."""

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
        """What stands between the name of a dataset and that of its part."""
        return "#" if self is Grain.COLUMN else "@"


class Direction(StrEnum):
    UPSTREAM = "upstream"
    DOWNSTREAM = "downstream"


class Via(NamedTuple):
    """The edge by which a node was reached, and the job and run behind it."""

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
    """Both are of one job that read and wrote too many datasets to pair, and nobody states which went into which."""


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A dataset, or a column or partition of it, ``depth`` hops away. ``part`` of None is the dataset as a whole."""

    endpoint: Endpoint
    part: str | None
    grain: Grain
    depth: int
    via: Via
    parent: Node | None
    """The node one hop nearer on a shortest path; None next to where the question started."""
    dependency: Dependency | None = None
    """For a column: the strongest way that leads there, which need not be the shortest."""

    @property
    def label(self) -> str:
        """In one line: `namespace/name`, `namespace/name#column` or `namespace/name@partition`."""
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
    """There is more beyond ``max_depth``."""
    in_cycle: bool
    """The way leads back to where it started."""
    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class TouchedColumn:
    """A column that a change reaches; ``name`` of None is the dataset as a whole, and so every column of it."""

    name: str | None
    dependency: Dependency


@dataclass(frozen=True, slots=True)
class LatestRun:
    run_id: str
    state: RunState
    last_event_at: datetime


@dataclass(frozen=True, slots=True)
class Affected:
    """An asset that a change reaches, and which of its columns."""

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
    """Jobs that read the dataset or an affected one without writing anything on: reports, checks, exports."""


# -- runs ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RunDetail:
    run: Run
    run_facets: Facets
    job_facets: Facets
    inputs: tuple[DatasetUse, ...]
    outputs: tuple[DatasetUse, ...]
    edges: tuple[Edge, ...]
    """Its lineage rows: only a run that completed has any."""
    column_edges: tuple[ColumnEdge, ...]
    children: tuple[Run, ...]
    problems: tuple[Problem, ...]
    event_count: int
    certificates: tuple[Certificate, ...] = ()
    """The newest first."""


@dataclass(frozen=True, slots=True)
class Change:
    """One difference: ``before`` of None was added, ``after`` of None removed, both there: changed."""

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
