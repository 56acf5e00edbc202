"""What needs attention: failed runs, unbalanced ledgers, datasets with gaps in their lineage."""

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
    """Failed runs in the last seven days."""


@dataclass(frozen=True, slots=True)
class FailedRun:
    run: Run
    message: str | None
    """The start of its error message; None if it has none, or if parts of the run are hidden."""


@dataclass(frozen=True, slots=True)
class Overview:
    counts: Totals
    failures: tuple[FailedRun, ...]
    """The newest first, as in the other lists."""
    unbalanced: tuple[Run, ...]
    """Runs whose ledger does not account for every row."""
    uncovered: tuple[Coverage, ...]
    """Datasets with incomplete lineage, the last written first."""
    recent: tuple[Run, ...]
