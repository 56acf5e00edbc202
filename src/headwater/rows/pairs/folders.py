"""Folders of pair tables on this machine: what there is, whether it is whole, and removing what has grown old."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from headwater.engines.paths import local_path, resolve_path
from headwater.errors import RowsError
from headwater.rows.pairs.layout import FORMAT, MARK, digest_of
from headwater.rows.pairs.reading import read_amounts, read_json


@dataclass(frozen=True)
class KeptTables:
    """The tables of one output of a run. ``written`` is when they were finished."""

    run_id: str
    output: int
    location: str
    mode: str
    written: datetime
    rows: int
    pairs: int
    bytes: int


def kept_tables(location: str) -> list[KeptTables]:
    """What lies below a location, oldest first. Folders without our mark are somebody else's."""
    root = local_path(location)
    if not root.is_dir():
        raise RowsError(f"there is no folder {location}")
    return sorted(_marked(root), key=lambda each: (each.written, each.run_id, each.output))


def _marked(root: Path) -> Iterator[KeptTables]:
    top = resolve_path(root)
    for mark in root.glob(f"*/*/{MARK}"):
        folder = mark.parent
        if not folder.name.isdigit() or resolve_path(folder) != top / folder.parent.name / folder.name:
            continue  # behind a symbolic link is somebody else's folder
        entry = read_json(mark)
        if not isinstance(entry, dict) or entry.get("format") != FORMAT:
            continue
        mode, rows, pairs, size = read_amounts(entry)
        yield KeptTables(
            folder.parent.name,
            int(folder.name),
            str(folder),
            mode,
            datetime.fromtimestamp(mark.stat().st_mtime, UTC),
            rows,
            pairs,
            size,
        )


def prune(location: str, older_than: timedelta, *, dry_run: bool = False) -> list[KeptTables]:
    """Removes the tables that were written before, and says which these are."""
    until = datetime.now(UTC) - older_than
    old = [each for each in kept_tables(location) if each.written < until]
    if not dry_run:
        for each in old:
            folder = Path(each.location)
            (folder / MARK).unlink()  # first: what is half gone is not to be read
            shutil.rmtree(folder)
            if not any(folder.parent.iterdir()):
                folder.parent.rmdir()
    return old


def broken_digests(root: Path, digests: Mapping[str, str]) -> list[str]:
    return [name for name, digest in digests.items() if _digest(root / name) != digest]


def _digest(path: Path) -> str | None:
    if path.is_dir():
        return digest_of([(file.name, file.stat().st_size, _sha256(file)) for file in path.glob("*.parquet")])
    return f"sha256:{_sha256(path)}" if path.is_file() else None


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
