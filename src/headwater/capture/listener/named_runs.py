"""Runs that the user names: `with hw.run("orders_daily", partition="2026-11-15"):`.

One run, however many writes: it starts with the block, each write that ends well is told as it ends, and the end of the
block completes it. Spark's job tags say which execution belongs to which run, thread by thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from typing import Any

from headwater.capture.events.evidence import Declared, EvidenceAsked, RunEnded
from headwater.capture.events.output_quality import Asked
from headwater.capture.events.row_capture import RowsAsked
from headwater.capture.events.run_types import Outcome, RunIdentity
from headwater.capture.listener.statistics import Amount, together
from headwater.redaction.literals import check_mode

TAG = "headwater-run-"
_MOST_TOLD = 1_000  # writes of one run whose measurements are kept for its last event


@dataclass(frozen=True)
class Measuring:
    """What is to be measured of writes: Spark's metrics, but for the nodes named in ``leave_out``; and the quality of
    all columns written, of those named, or of none."""

    telemetry: bool = True
    leave_out: tuple[str, ...] = ()
    quality: Asked = False
    rows: RowsAsked | None = None
    """What is kept for questions about rows; None: as for the whole application."""
    evidence: EvidenceAsked | None = None
    """What a run shall say for itself."""
    literals: str | None = None
    """Whether literals of queries leave the process: "keep", "mask" or "drop"; None: as for the whole application."""

    def __post_init__(self) -> None:
        if self.literals is not None:
            check_mode(self.literals)

    @property
    def kept_literals(self) -> str:
        return self.literals or "keep"


@dataclass
class NamedRun:
    identity: RunIdentity
    started: datetime
    partition: str | None = None
    measuring: Measuring = field(default_factory=Measuring)
    outer: NamedRun | None = None
    told: list[Outcome] = field(default_factory=list)
    facets: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What else its last event shall tell of the run."""
    declared: Declared | None = None
    """What a declared pipeline says of it."""
    describe_failure: Callable[[BaseException], str] | None = None
    """How a failure is described in the run's last event; None: in its own words."""

    @property
    def tag(self) -> str:
        return f"{TAG}{self.identity.run_id}"

    def ended(self) -> RunEnded:
        """What there is to say for it."""
        evidence = self.measuring.evidence or EvidenceAsked()
        whole = len(self.told) < _MOST_TOLD
        return RunEnded(
            [each.evidence for each in self.told if each.evidence is not None],
            together([each.amount for each in self.told]) if whole else Amount(),
            together([amount for each in self.told for amount in each.read.values()]) if whole else Amount(),
            self.declared,
            self.partition,
            evidence.expectations,
            self.measuring.kept_literals,
        )

    def tell(self, outcome: Outcome) -> None:
        if len(self.told) < _MOST_TOLD:
            self.told.append(outcome)


current: ContextVar[NamedRun | None] = ContextVar("headwater run", default=None)


class OpenRuns:
    """The named runs whose end has not been heard of."""

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
        """The run an execution belongs to. A thread of the user's own has no tag of ours: what it writes belongs to the
        run that is open, if there is just one."""
        with self._lock:
            for tag in tags:
                if tag.startswith(TAG):
                    return self._runs.get(tag.removeprefix(TAG))
            running = [run for run in self._runs.values() if run.started <= started]
            return running[0] if len(running) == 1 else None
