"""Folders of pair tables on this machine: lists them, checks their digests, and removes old ones."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from headwater.engines.paths import local_path, resolve_path
from headwater.errors import RowsError
from headwater.rows.pairs.layout import FORMAT, MARKER_FILE, PRUNED_FILE, digest_of
from headwater.rows.pairs.reading import read_amounts, read_json


@dataclass(frozen=True)
class StoredPairTables:
    """The tables of one output of a run. ``written`` is when they were finished."""

    run_id: str
    output: int
    location: str
    mode: str
    written: datetime
    rows: int
    pairs: int
    bytes: int


def list_pair_tables(location: str) -> list[StoredPairTables]:
    """The pair tables below a location, oldest first. Folders without the marker file are ignored."""
    root = local_path(location)
    if not root.is_dir():
        raise RowsError(f"there is no folder {location}")
    return sorted(_find_tables(root), key=lambda tables: (tables.written, tables.run_id, tables.output))


def _find_tables(root: Path) -> Iterator[StoredPairTables]:
    top = resolve_path(root)
    for marker in root.glob(f"*/*/{MARKER_FILE}"):
        folder = marker.parent
        if not folder.name.isdigit() or resolve_path(folder) != top / folder.parent.name / folder.name:
            continue  # ignores symbolic links
        entry = read_json(marker)
        if not isinstance(entry, dict) or entry.get("format") != FORMAT:
            continue
        mode, rows, pairs, size = read_amounts(entry)
        yield StoredPairTables(
            run_id=folder.parent.name,
            output=int(folder.name),
            location=str(folder),
            mode=mode,
            written=datetime.fromtimestamp(marker.stat().st_mtime, UTC),
            rows=rows,
            pairs=pairs,
            bytes=size,
        )


def prune(location: str, older_than: timedelta, *, dry_run: bool = False) -> list[StoredPairTables]:
    """Removes tables older than that, and returns them."""
    until = datetime.now(UTC) - older_than
    old = [tables for tables in list_pair_tables(location) if tables.written < until]
    if not dry_run:
        for tables in old:
            folder = Path(tables.location)
            _record_pruned(local_path(location), tables)
            (folder / MARKER_FILE).unlink()  # first, so that half-removed tables are not read
            shutil.rmtree(folder)
            if not any(folder.parent.iterdir()):
                folder.parent.rmdir()
    return old


def _record_pruned(root: Path, tables: StoredPairTables) -> None:
    line = {
        "run": tables.run_id,
        "output": tables.output,
        "written": tables.written.isoformat(),
        "rows": tables.rows,
        "pruned": datetime.now(UTC).isoformat(),
    }
    with (root / PRUNED_FILE).open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def broken_digests(root: Path, digests: Mapping[str, str]) -> list[str]:
    return [name for name, digest in digests.items() if _digest(root / name) != digest]


def _digest(path: Path) -> str | None:
    if path.is_dir():
        return digest_of([(file.name, file.stat().st_size, _sha256(file)) for file in path.glob("*.parquet")])
    return f"sha256:{_sha256(path)}" if path.is_file() else None


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
