"""Work that takes longer than a request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


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
    result: Any
    """Where it succeeded."""
    problem: Mapping[str, Any] | None
    """Where it failed: a code and what is to be said of it."""
