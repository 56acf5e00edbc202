"""Provenance: who created, modified, accessed or deleted a dataset, by what operation, for what purpose."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from headwater.model.json_types import JsonObject
from headwater.model.names import Dataset, Job


class ProvenanceEvent(StrEnum):
    CREATED = "created"
    MODIFIED = "modified"
    ACCESSED = "accessed"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class Agent:
    """Who acted: a `user`, a `service` or a `job`."""

    type: str | None = None
    id: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Operation:
    """What was done: `read`, `write`, `transform` or `export`; by which method, with which parameters."""

    type: str | None = None
    method: str | None = None
    parameters: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Context:
    """The purpose and the legal basis. They are never derived: they are stated, or unknown."""

    purpose: str | None = None
    legal_basis: str | None = None
    retention_period: str | None = None
    sensitivity_level: str | None = None


@dataclass(frozen=True, slots=True)
class Provenance:
    provenance_id: str
    dataset: Dataset
    event: ProvenanceEvent | None
    """None if an imported document does not state it."""
    at: datetime | None
    """The stated time; of a run, its end or its last event. None as above."""
    agent: Agent
    operation: Operation
    context: Context
    stated: bool
    """Whether a person or a tool stated it; if not, it follows from a run."""
    job: Job | None
    run_id: str | None
