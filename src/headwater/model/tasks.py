"""Tasks: work that takes longer than a request."""

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
    """0 as long as it is unknown."""


@dataclass(frozen=True, slots=True)
class Task:
    id: str
    kind: str
    owner: str
    state: TaskState
    started_at: datetime
    progress: Progress | None
    result: JsonValue
    """The result of a task that succeeded."""
    problem: JsonObject | None
    """The problem of a task that failed: a code and a message."""
