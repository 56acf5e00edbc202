"""Runs: their states and times, and the facets of their events."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from headwater.model.json_types import JsonObject
from headwater.model.names import Dataset, Job

Facets = JsonObject
"""Facets by name, each exactly as its producer sent it."""


class RunState(StrEnum):
    UNKNOWN = "UNKNOWN"
    START = "START"
    RUNNING = "RUNNING"
    COMPLETE = "COMPLETE"
    FAIL = "FAIL"
    ABORT = "ABORT"

    @property
    def terminal(self) -> bool:
        return self in (RunState.COMPLETE, RunState.FAIL, RunState.ABORT)


@dataclass(frozen=True, slots=True)
class Run:
    run_id: str
    job: Job
    state: RunState
    started_at: datetime | None
    ended_at: datetime | None
    last_event_at: datetime
    nominal_start: datetime | None
    nominal_end: datetime | None
    parent_run_id: str | None


@dataclass(frozen=True, slots=True)
class DatasetUse:
    """A dataset as one run or event used it. ``io_facets`` are OpenLineage's input or output facets."""

    dataset: Dataset
    facets: Facets
    io_facets: Facets
    partitions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OutputFacet:
    """A facet of an output of a completed run."""

    dataset: Dataset
    run_id: str
    job: Job
    completed_at: datetime
    facet: Facets


@dataclass(frozen=True, slots=True)
class Problem:
    """A violation of the specification in an event that was accepted."""

    path: str
    reason: str
