"""The result of verifying a bundle of evidence."""

from __future__ import annotations

from dataclasses import dataclass

from headwater.model.names import Dataset, Job


@dataclass(frozen=True, slots=True)
class RunHandoff:
    """Datasets that a run read, with the certificate of the run that wrote them."""

    run_id: str
    job: Job
    certificate_id: str
    datasets: tuple[Dataset, ...]
    same_state: bool | None
    """Whether the checksums of the writer and of the reader are equal; None if they cannot be compared."""


@dataclass(frozen=True, slots=True)
class VerifiedBundle:
    """A bundle that was verified without its store."""

    run_id: str
    job: Job
    entries: tuple[int, ...]
    """Numbers of log entries about the run's events and certificates."""
    events: int
    certificates: tuple[str, ...]
    """Ids, the oldest first."""
    number: int | None
    """The number of the newest certificate in the chain of its namespace."""
    broken: tuple[str, ...]
    """Invariants that do not hold, by the newest certificate."""
    undecided: tuple[str, ...]
    """Invariants that it leaves undecided."""
    upstream: tuple[RunHandoff, ...]
    origin: str
    checkpoint: int
    """The number of log entries that the checkpoint covers."""
    root: str
    key: str
    """The key that signed the checkpoint, as a `vkey`."""
    trusted: bool
    """Whether the key was reached from one that the reader trusts. If not, nothing but the file vouches for it."""
    anchored: bool | None
    """Whether the anchor has the same checkpoint; None if no anchor was given."""
