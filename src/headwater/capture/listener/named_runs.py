"""Runs that the user names: `with hw.run("orders_daily", partition="2026-11-15"):`.

One run for all writes of the block: it starts with the block, each successful write is reported when it ends, and the
end of the block completes it. Spark's job tags tell which execution belongs to which run, thread by thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock

from headwater.capture.events.evidence import DeclaredEvidence, EndedRun, EvidenceOptions
from headwater.capture.events.output_quality import QualityColumns
from headwater.capture.events.row_capture import RowCaptureOptions
from headwater.capture.events.run_types import RunIdentity, WriteOutcome
from headwater.capture.listener.statistics import Amount, sum_amounts
from headwater.plan.lineage import Gap
from headwater.redaction.literals import check_mode

TAG = "headwater-run-"
_MAX_OUTCOMES = 1_000  # writes of one run whose metrics are kept for its last event


@dataclass(frozen=True)
class CaptureOptions:
    """What is measured of writes: Spark's metrics, without the nodes in ``leave_out``; and the quality of all columns
    written, of the named ones, or of none."""

    telemetry: bool = True
    leave_out: tuple[str, ...] = ()
    quality: QualityColumns = False
    rows: RowCaptureOptions | None = None
    """The row capture; None: as for the application."""
    evidence: EvidenceOptions | None = None
    """The evidence of a run."""
    literals: str | None = None
    """Whether literals of queries leave the process: "keep", "mask" or "drop"; None: as for the application."""

    def __post_init__(self) -> None:
        if self.literals is not None:
            check_mode(self.literals)

    @property
    def literals_mode(self) -> str:
        return self.literals or "keep"


@dataclass
class NamedRun:
    identity: RunIdentity
    started: datetime
    partition: str | None = None
    options: CaptureOptions = field(default_factory=CaptureOptions)
    outer: NamedRun | None = None
    outcomes: list[WriteOutcome] = field(default_factory=list)
    facets: dict[str, dict[str, object]] = field(default_factory=dict)
    """Further facets of the run's last event."""
    gaps: list[Gap] = field(default_factory=list)
    """What it does that is not captured and belongs to no output."""
    declared: DeclaredEvidence | None = None
    """The evidence of a declared pipeline."""
    describe_failure: Callable[[BaseException], str] | None = None
    """How a failure is described in the run's last event; None: by its own message."""

    @property
    def tag(self) -> str:
        return f"{TAG}{self.identity.run_id}"

    def to_ended_run(self) -> EndedRun:
        """What its evidence is made of."""
        evidence = self.options.evidence or EvidenceOptions()
        complete = len(self.outcomes) < _MAX_OUTCOMES
        return EndedRun(
            parts=[outcome.evidence for outcome in self.outcomes if outcome.evidence is not None],
            written=sum_amounts([outcome.amount for outcome in self.outcomes]) if complete else Amount(),
            read=sum_amounts([amount for outcome in self.outcomes for amount in outcome.read.values()])
            if complete
            else Amount(),
            declared=self.declared,
            partition=self.partition,
            expectations=evidence.expectations,
            literals=self.options.literals_mode,
        )

    def add_outcome(self, outcome: WriteOutcome) -> None:
        if len(self.outcomes) < _MAX_OUTCOMES:
            self.outcomes.append(outcome)


current: ContextVar[NamedRun | None] = ContextVar("headwater run", default=None)


class NamedRunRegistry:
    """The named runs whose end has not been read yet."""

    def __init__(self) -> None:
        self._runs: dict[str, NamedRun] = {}
        self._lock = Lock()

    def add(self, run: NamedRun) -> None:
        with self._lock:
            self._runs[run.identity.run_id] = run

    def get(self, run_id: str) -> NamedRun | None:
        with self._lock:
            return self._runs.get(run_id)

    def remove(self, run_id: str) -> NamedRun | None:
        with self._lock:
            return self._runs.pop(run_id, None)

    def all(self) -> list[NamedRun]:
        with self._lock:
            return list(self._runs.values())

    def owner(self, tags: Iterable[str], started: datetime) -> NamedRun | None:
        """The run that an execution belongs to. A thread that the user starts has no job tag of a run: what it writes
        belongs to the open run, if there is exactly one."""
        with self._lock:
            for tag in tags:
                if tag.startswith(TAG):
                    return self._runs.get(tag.removeprefix(TAG))
            running = [run for run in self._runs.values() if run.started <= started]
            return running[0] if len(running) == 1 else None
