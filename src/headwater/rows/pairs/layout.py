"""The location and the content of pair tables, shared by writer and lookup.

    <location>/<run id>/<number of the output>/
        headwater-pairs.json    marks the folder as pair tables: the facet entry
        files.json              by source: the file that a number stands for
        block-0/                a row for each row of the output: its id, its identity, its source rows, its links
        block-1/ …              rows that are reached by a link: the owner, its source rows, its links

A block's table is wide: one row holds the ids of all its sources, for they were one row of a join; sources that are
independent of each other are in different blocks. A source row is a file and a position in it, both numbers, and null
where an outer join found nothing. A link is the hash of the values that lead to the block below, whose owners are the
hashes of its keys.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

FORMAT = "headwater-pairs-1"
MARKER_FILE = "headwater-pairs.json"
FILES = "files.json"
PRUNED_FILE = "headwater-pruned.jsonl"
"""In the location: a line for each folder of tables that was pruned, so that a lookup can say so."""

OUT_HI, OUT_LO, OWNER = "__hw_out_hi", "__hw_out_lo", "__hw_owner"


def source_file(number: int) -> str:
    return f"__hw_s{number}_file"


def source_row(number: int) -> str:
    return f"__hw_s{number}_row"


def link_hash(number: int) -> str:
    return f"__hw_l{number}"


def block_folder(number: int) -> str:
    return f"block-{number}"


def digest_of(files: Sequence[tuple[str, int, str]]) -> str:
    """``files``: name, size and SHA-256 of each. It can be checked with `sha256sum`."""
    lines = (f"{name}\t{size}\t{sha256}\n" for name, size, sha256 in sorted(files))
    return f"sha256:{hashlib.sha256(''.join(lines).encode()).hexdigest()}"


@dataclass(frozen=True)
class TableLink:
    number: int
    to: int
    kind: str


@dataclass(frozen=True)
class TableBlock:
    """``sources`` and ``links`` are columns of its table."""

    number: int
    kind: str
    sources: tuple[int, ...]
    links: tuple[TableLink, ...]


@dataclass(frozen=True)
class TableSource:
    """One occurrence of a dataset. ``id`` says what its numbers are: a position, or the hash of the content."""

    number: int
    namespace: str
    name: str
    id: str
    grain: str

    @property
    def has_positions(self) -> bool:
        return self.id in ("position", "table position")


@dataclass(frozen=True)
class TableLayout:
    """What a lookup needs in addition to the files."""

    location: str
    mode: str
    sample: float | None
    identity: tuple[str, ...]
    sources: tuple[TableSource, ...]
    blocks: tuple[TableBlock, ...]
    digests: Mapping[str, str]
    """Of each folder's files, and of `files.json`."""
    notes: tuple[str, ...] = ()

    @property
    def structure(self) -> tuple[object, ...]:
        """Everything that determines how the files are read: all but their location and the notes."""
        return self.mode, self.sample, self.identity, self.sources, self.blocks, self.digests
