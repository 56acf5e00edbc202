"""What a bundle of evidence was found to show."""

from __future__ import annotations

from dataclasses import dataclass

from headwater.model.names import Dataset, Job


@dataclass(frozen=True, slots=True)
class HandedOn:
    """What a run read, by the certificate of the run that wrote it."""

    run_id: str
    job: Job
    certificate_id: str
    datasets: tuple[Dataset, ...]
    same_state: bool | None
    """Whether what the one left is what the other found, by their checksums; None where these cannot be compared."""


@dataclass(frozen=True, slots=True)
class VerifiedBundle:
    """What was recomputed of a bundle and holds, without the store it comes from."""

    run_id: str
    job: Job
    entries: tuple[int, ...]
    """Of the log: about the run's events and its certificates."""
    events: int
    certificates: tuple[str, ...]
    """Ids, the oldest first."""
    number: int | None
    """Of the newest certificate in the chain of its namespace."""
    broken: tuple[str, ...]
    """What the newest certificate says was promised and does not hold."""
    undecided: tuple[str, ...]
    """What it says nobody could tell."""
    upstream: tuple[HandedOn, ...]
    origin: str
    checkpoint: int
    """Its size."""
    root: str
    key: str
    """The key that signed the checkpoint, as a `vkey`."""
    trusted: bool
    """Whether it was followed from a key that the reader named; else the key in the file vouches for itself alone."""
    anchored: bool | None
    """The second place has this very checkpoint; None where none was named."""
