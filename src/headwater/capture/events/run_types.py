"""What events tell of: runs, their place among others, and how they ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from headwater.capture.events.output_quality import Quality
from headwater.capture.events.writes import Written
from headwater.capture.listener.code import CodeLocation
from headwater.capture.listener.statistics import Amount, NodeTelemetry


@dataclass(frozen=True)
class Engine:
    """What stays the same for all the events of an application."""

    namespace: str
    spark_version: str
    headwater_version: str
    code: CodeLocation | None = None

    @property
    def producer(self) -> str:
        return f"urn:headwater:capture:{self.headwater_version}"


@dataclass(frozen=True)
class ParentRun:
    namespace: str
    job: str
    run_id: str
    root: ParentRun | None = None


@dataclass(frozen=True)
class RunIdentity:
    run_id: str
    job: str
    parent: ParentRun | None = None
    streaming: bool = False
    namespace: str | None = None
    """Of the job, where it is not that of the application."""


@dataclass(frozen=True)
class Failure:
    message: str
    language: str = "JAVA"
    stack_trace: str | None = None


@dataclass(frozen=True)
class Outcome:
    """A write that has ended well, with what was measured of it."""

    written: Written
    amount: Amount = field(default_factory=Amount)
    read: Mapping[tuple[str, str], Amount] = field(default_factory=dict)
    nodes: Sequence[NodeTelemetry] = ()
    partition: str | None = None
    quality: Quality | None = None
    rows: dict[str, Any] | None = None
    """What was kept for questions about its rows."""
    evidence: Any = None
    """What it says for itself (evidence.py)."""

    @property
    def kept(self) -> bool:
        """Whether anything was written: where something was there already, it may be that nothing was."""
        return not self.written.if_absent or bool(self.amount.rows or self.amount.files)


def moment(milliseconds: int) -> datetime:
    """A time as Spark tells it."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
