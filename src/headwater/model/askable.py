"""Which questions about the rows of a dataset can be answered, and how: known before anything runs."""

from __future__ import annotations

from dataclasses import dataclass

from headwater.model.answers import Field
from headwater.model.names import Dataset


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether one kind of question can be answered."""

    possible: bool
    reason: str | None = None
    """Why it is not possible."""


@dataclass(frozen=True, slots=True)
class AskableRows:
    dataset: Dataset
    run_id: str | None
    """The latest run that wrote it."""
    mode: str | None
    """How that run captured its rows: `key`, `full` or `sampled`; None if it did not."""
    columns: tuple[Field, ...]
    identity: tuple[str, ...]
    """The columns that identify a row in the pair tables. Empty without pair tables: then all columns identify it."""
    instant: Availability
    """Traces to the source rows by conditions on ``identity``, from the pair tables alone."""
    spark: Availability
    """The same by any condition, and why-not: as a task on Spark."""
    forward: Availability
    """Traces from its own rows to the rows made of them: as a task on Spark."""
    sources: tuple[Dataset, ...]
    """The inputs of the run: why-not can be asked about the rows of each."""
