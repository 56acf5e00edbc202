"""What the log answers: proofs, checkpoints, and whether all of it holds. Hashes are hexadecimal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class InclusionProof:
    """That the entry ``seq``, whose hash is ``entry_hash``, is in the tree over ``size`` entries with that root."""

    seq: int
    size: int
    entry_hash: str
    path: tuple[str, ...]
    root: str


@dataclass(frozen=True, slots=True)
class ConsistencyProof:
    """That the log of ``new`` entries begins with the log of ``old`` entries."""

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
    """The public key it is signed with, as a `vkey`."""
    note: str
    """What was signed, with its signature: the whole of it, as other tools read it."""


@dataclass(frozen=True, slots=True)
class LogKey:
    """A public key, and the entry of the log from which on it signs."""

    from_entry: int
    key: str
    """As a `vkey`."""


class Verified(NamedTuple):
    """What was recomputed and holds."""

    entries: int
    head: str
    """The hash of the last entry."""
    root: str
    """The root over all of them."""
    checkpoints: int
    certificates: int
    events: int | None
    """None where they were not looked at."""
    anchored: int | None
    """How many entries the newest checkpoint in the second place covers; None where none was named."""
    key: str | None
    """The key in force, as a `vkey`."""
    graph: int | None = None
    """Rows of the graph that were compared with a fresh fold of all events; None where they were not."""
    records: int | None = None
    """Records, hot and archived, each of a load that the log has; None where they were not looked at."""
    archive_files: int | None = None
    """Files of the archive of records; None where they were not looked at."""
    not_covered: tuple[str, ...] = ()
    """What the store holds and nothing proves, in words."""


@dataclass(frozen=True, slots=True)
class VerifiedRun:
    """What was recomputed of one run and holds."""

    run_id: str
    entries: tuple[int, ...]
    """Of the log: about its events and its certificates."""
    certificates: tuple[str, ...]
    """Ids, the oldest first."""
    signed: int
    """How many of the entries the newest checkpoint covers."""
    checkpoint: int | None
    """Its size; None where nothing was signed yet."""
    anchored: int | None = None
    """How many of the entries the newest checkpoint in the second place covers; None where none was named."""
