"""What somebody should look at first."""

from __future__ import annotations

from dataclasses import dataclass

from headwater.model.pages import Coverage
from headwater.model.runs import Run


@dataclass(frozen=True, slots=True)
class Totals:
    datasets: int
    jobs: int
    runs: int
    failed: int
    """Runs, in the last seven days."""


@dataclass(frozen=True, slots=True)
class FailedRun:
    run: Run
    message: str | None
    """The beginning of what it said; None where it said nothing, or not all of the run may be seen."""


@dataclass(frozen=True, slots=True)
class Overview:
    counts: Totals
    failures: tuple[FailedRun, ...]
    """The newest first, and so the others."""
    unbalanced: tuple[Run, ...]
    """Whose ledger does not account for every row."""
    uncovered: tuple[Coverage, ...]
    """Datasets of which it is not wholly known how they come about, the last written first."""
    recent: tuple[Run, ...]
