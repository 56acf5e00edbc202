"""Lineage facts: which data flowed into which, by which job and run, and when that held."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from headwater.model.names import Endpoint, Job


class EdgeType(StrEnum):
    """How a downstream dataset comes out of an upstream one (the five types of WIA-DATA-008)."""

    DERIVED_FROM = "derived_from"
    AGGREGATED_FROM = "aggregated_from"
    JOINED_WITH = "joined_with"
    FILTERED_FROM = "filtered_from"
    PROJECTED_FROM = "projected_from"


class Basis(StrEnum):
    """What an edge rests on, strongest first: the order in which a producer's statements are believed."""

    LINEAGE = "lineage"
    COLUMN_LINEAGE = "columnLineage"
    INPUTS = "inputs"


class Origin(StrEnum):
    """Who said so: a run that completed, a job's static declaration, or a dataset's."""

    RUN = "run"
    JOB = "job"
    DATASET = "dataset"


class Dependency(StrEnum):
    """How one column depends on another, strongest first.

    DIRECT: the value comes from there. INDIRECT: it only decides whether or where the value appears. UNKNOWN: data
    flowed between the two datasets and nobody recorded which columns; never stated by a producer, always said by us.
    """

    DIRECT = "DIRECT"
    INDIRECT = "INDIRECT"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, slots=True)
class Edge:
    """Data flowed from ``upstream`` into ``downstream``: FlowStone's lineage row, with what else is known.

    ``partition``, ``upstream_partition``: None means the whole dataset. ``run_id`` is None for a declared edge.
    ``valid_to`` is None while the edge holds.
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
    """One end is the job, which read and wrote too many datasets to pair; nobody states which went into which."""


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
