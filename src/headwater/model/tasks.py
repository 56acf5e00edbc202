"""Work that takes longer than a request."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from headwater.model.json_types import JsonObject, JsonValue


class TaskState(StrEnum):
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Progress:
    text: str
    done: int
    total: int
    """0 where nobody knows yet."""


@dataclass(frozen=True, slots=True)
class Task:
    id: str
    kind: str
    owner: str
    state: TaskState
    started_at: datetime
    progress: Progress | None
    result: JsonValue
    """Where it succeeded."""
    problem: JsonObject | None
    """Where it failed: a code and what is to be said of it."""
