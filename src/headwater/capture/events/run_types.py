"""Types for a run, its parent and its outcome, as events carry them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from headwater.capture.events.output_quality import OutputQuality
from headwater.capture.events.writes import CapturedWrite
from headwater.capture.listener.code import CodeLocation
from headwater.capture.listener.statistics import Amount, NodeTelemetry


@dataclass(frozen=True)
class Engine:
    """What is the same in all events of an application."""

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
    """Of the job, if it differs from the application's."""


@dataclass(frozen=True)
class Failure:
    message: str
    language: str = "JAVA"
    stack_trace: str | None = None


@dataclass(frozen=True)
class WriteOutcome:
    """A successful write, with its metrics."""

    written: CapturedWrite
    amount: Amount = field(default_factory=Amount)
    read: Mapping[tuple[str, str], Amount] = field(default_factory=dict)
    nodes: Sequence[NodeTelemetry] = ()
    partition: str | None = None
    quality: OutputQuality | None = None
    rows: dict[str, object] | None = None
    """What the row capture recorded."""
    evidence: object = None
    """The evidence of the write, as its provider has it (evidence.py)."""

    @property
    def wrote_anything(self) -> bool:
        """Whether anything was written: a command that skips existing targets may write nothing."""
        return not self.written.if_absent or bool(self.amount.rows or self.amount.files)


def time_from_millis(milliseconds: int) -> datetime:
    """A time as Spark states it."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
