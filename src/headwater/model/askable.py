"""What can be asked of the rows of a dataset, and how: known before anything is run."""

from __future__ import annotations

from dataclasses import dataclass

from headwater.model.answers import Field
from headwater.model.names import Dataset


@dataclass(frozen=True, slots=True)
class Way:
    possible: bool
    reason: str | None = None
    """Why it is not."""


@dataclass(frozen=True, slots=True)
class AskableRows:
    dataset: Dataset
    run_id: str | None
    """The latest run that wrote it."""
    mode: str | None
    """What that run kept of its rows: `key`, `full` or `sampled`; None where it told nothing."""
    columns: tuple[Field, ...]
    identity: tuple[str, ...]
    """The columns by which pair tables know a row. Without tables there are none: a row is known by all its columns."""
    instant: Way
    """Back to the source rows, at once, by conditions on ``identity``."""
    spark: Way
    """The same by any condition, and why-not: as a task on Spark."""
    forward: Way
    """What its own rows became: as a task on Spark."""
    sources: tuple[Dataset, ...]
    """What the run read: for each it can be asked why a row of it is missing."""
