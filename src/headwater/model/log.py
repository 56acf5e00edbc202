"""Proofs and checkpoints of the log, and the result of verifying it. Hashes are in hexadecimal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class InclusionProof:
    """Proof that the entry ``seq``, with the hash ``entry_hash``, is in the tree of ``size`` entries with this root."""

    seq: int
    size: int
    entry_hash: str
    path: tuple[str, ...]
    root: str


@dataclass(frozen=True, slots=True)
class ConsistencyProof:
    """Proof that the log of ``new`` entries extends the log of ``old`` entries."""

    old: int
    new: int
    old_root: str
    path: tuple[str, ...]
    new_root: str


@dataclass(frozen=True, slots=True)
class SignedCheckpoint:
    origin: str
    size: int
    root: str
    key: str
    """The public key of its signature, as a `vkey`."""
    note: str
    """The signed note, complete and with its signature, as other tools read it."""


@dataclass(frozen=True, slots=True)
class LogKey:
    """A public key, and the first entry of the log that it signs."""

    from_entry: int
    key: str
    """As a `vkey`."""


class Verified(NamedTuple):
    """A store that was verified."""

    entries: int
    head: str
    """The hash of the last entry."""
    root: str
    """The root of the tree of all entries."""
    checkpoints: int
    certificates: int
    events: int | None
    """None if events were not verified."""
    anchored: int | None
    """The number of entries that the newest checkpoint of the anchor covers; None if no anchor was given."""
    key: str | None
    """The key in force, as a `vkey`."""
    graph: int | None = None
    """Rows of the graph that equal those of a new fold of all events; None if the graph was not verified."""
    records: int | None = None
    """Records, hot and archived, each of a load in the log; None if records were not verified."""
    archive_files: int | None = None
    """Files of the archive; None if records were not verified."""
    not_covered: tuple[str, ...] = ()
    """Parts of the store that nothing proves, in words."""


@dataclass(frozen=True, slots=True)
class VerifiedRun:
    """A run whose evidence was verified."""

    run_id: str
    entries: tuple[int, ...]
    """Numbers of log entries about its events and certificates."""
    certificates: tuple[str, ...]
    """Ids, the oldest first."""
    signed: int
    """The number of these entries that the newest checkpoint covers."""
    checkpoint: int | None
    """The size of that checkpoint; None if there is none yet."""
    anchored: int | None = None
    """The number of these entries that the newest checkpoint of the anchor covers; None if no anchor was given."""
