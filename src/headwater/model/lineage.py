"""Lineage edges: which data flowed into which, by which job and run, and when the edge was valid."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from headwater.model.names import Endpoint, Job


class EdgeType(StrEnum):
    """How a downstream dataset derives from an upstream one (the five types of WIA-DATA-008)."""

    DERIVED_FROM = "derived_from"
    AGGREGATED_FROM = "aggregated_from"
    JOINED_WITH = "joined_with"
    FILTERED_FROM = "filtered_from"
    PROJECTED_FROM = "projected_from"


class Basis(StrEnum):
    """The evidence for an edge, strongest first: a stronger statement of a producer overrides a weaker one."""

    LINEAGE = "lineage"
    COLUMN_LINEAGE = "columnLineage"
    INPUTS = "inputs"


class Origin(StrEnum):
    """The source of a statement: a run that completed, or the static declaration of a job or a dataset."""

    RUN = "run"
    JOB = "job"
    DATASET = "dataset"


class Dependency(StrEnum):
    """How one column depends on another, strongest first.

    DIRECT: the value comes from it. INDIRECT: it only decides whether or where the value appears. UNKNOWN: data flowed
    between the two datasets, and the columns were not recorded; producers never state this, Headwater derives it.
    """

    DIRECT = "DIRECT"
    INDIRECT = "INDIRECT"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, slots=True)
class Edge:
    """Data flowed from ``upstream`` into ``downstream``.

    A ``partition`` or ``upstream_partition`` of None is the whole dataset. ``run_id`` is None for a declared edge,
    ``valid_to`` while the edge is valid.
    """

    downstream: Endpoint
    partition: str | None
    run_id: str | None
    upstream: Endpoint
    upstream_partition: str | None
    consumed_at: datetime
    valid_to: datetime | None
    type: EdgeType
    transformation: str | None
    basis: Basis
    origin: Origin
    job: Job | None
    via_job: bool = False
    """One end is the job: it read and wrote too many datasets to pair, and no event states which flowed into which."""


@dataclass(frozen=True, slots=True, order=True)
class ColumnEdge:
    """One column depends on another. A column of None stands for the dataset as a whole."""

    upstream: Endpoint
    upstream_column: str | None
    downstream: Endpoint
    downstream_column: str | None
    dependency: Dependency
    subtype: str | None
    masking: bool
    logic: str | None
