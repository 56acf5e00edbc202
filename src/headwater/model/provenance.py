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
    """Who did it: a `user`, a `service` or a `job`."""

    type: str | None = None
    id: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Operation:
    """What was done: `read`, `write`, `transform` or `export`; how, and with what."""

    type: str | None = None
    method: str | None = None
    parameters: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Context:
    """What it was done for, and by what right. Nothing of this is ever derived: it is stated, or not known."""

    purpose: str | None = None
    legal_basis: str | None = None
    retention_period: str | None = None
    sensitivity_level: str | None = None


@dataclass(frozen=True, slots=True)
class Provenance:
    provenance_id: str
    dataset: Dataset
    event: ProvenanceEvent | None
    """None where a document that was imported does not say."""
    at: datetime | None
    """When a run ended, or was last heard of; or what was stated. None as above."""
    agent: Agent
    operation: Operation
    context: Context
    stated: bool
    """Somebody said so; else it follows from a run."""
    job: Job | None
    run_id: str | None
