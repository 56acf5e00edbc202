"""The pair tables and files that a lookup reads: decided in one place, before DuckDB is opened.

An event names the folder of its run's tables. It is trusted only if the folder agrees: the marker file that the job
wrote there must describe the same tables, and if the caller knows the run, the folder must have its name. So an event
cannot point to other files, to tables of another structure, or to the tables of another run.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from headwater.engines.paths import local_path, require_below, resolve_path
from headwater.errors import EngineError, LayoutInvalid, PathNotAllowed, RowsError, shorten
from headwater.rows.pairs.layout import MARKER_FILE, PRUNED_FILE, TableLayout
from headwater.rows.pairs.reading import read_json, read_layout, read_lines


@dataclass(frozen=True, slots=True)
class LookupRoots:
    """Folders below which a lookup may read; None allows all files that the user may read.

    ``tables`` is for pair tables; ``sources`` for the files that they name, where the source rows themselves are.
    """

    tables: tuple[Path, ...] | None = None
    sources: tuple[Path, ...] | None = None

    @classmethod
    def of_server(cls, rows_location: str, rows_roots: Sequence[str] = ()) -> LookupRoots:
        """Tables below the rows location. Files of sources: those that such tables name, and where the operator names
        roots, only below these or the rows location. A lookup reads this machine: roots elsewhere allow nothing."""
        tables = local_path(rows_location)
        local = [root for root in rows_roots if "://" not in root or root.startswith("file:")]
        allowed = (tables, *map(local_path, local))
        return cls(allowed, allowed if rows_roots else None)

    def table_folder(self, path: Path) -> Path:
        return _resolve_below(path, self.tables)

    def source_file(self, location: str) -> Path:
        path = local_path(location)
        if not path.is_absolute() or ".." in path.parts:
            raise PathNotAllowed(location, "it is not an absolute path without '..'")
        if self.sources is not None:
            require_below(path, self.sources)
        return path


def _resolve_below(path: Path, roots: Iterable[Path] | None) -> Path:
    return resolve_path(path) if roots is None else require_below(path, roots)


@dataclass(frozen=True, slots=True)
class OpenTables:
    """``folder`` is resolved, and ``layout`` comes from its marker file."""

    folder: Path
    layout: TableLayout


def open_folder(folder: str | Path, roots: LookupRoots) -> OpenTables:
    """The tables in a folder that a user names. It may have been moved since it was written."""
    path = roots.table_folder(local_path(str(folder)))
    if not os.path.isfile(path / MARKER_FILE):
        raise RowsError(f"there are no pair tables at {shorten(str(folder))}{_pruned_text(path, roots)}")
    layout = read_layout(read_json(path / MARKER_FILE))
    return OpenTables(path, replace(layout, location=str(path)))


def open_facet(facet: object, output: int, roots: LookupRoots, run_id: str | None) -> OpenTables:
    """The tables that the facet of a run describes, or one of its entries; ``output`` chooses among several."""
    described = read_layout(_entry(facet, output))
    path = roots.table_folder(local_path(described.location))
    if run_id is not None and path.parent.name.lower() != run_id.lower():
        raise LayoutInvalid("location", "it is not a folder of this run")
    if not os.path.isfile(path / MARKER_FILE):
        raise RowsError(f"there are no pair tables at {shorten(described.location)}{_pruned_text(path, roots)}")
    written = read_layout(read_json(path / MARKER_FILE))
    if written.structure != described.structure:
        raise LayoutInvalid("the entry", "the folder that it names holds other tables than it describes")
    return OpenTables(path, replace(written, location=described.location))


def _pruned_text(folder: Path, roots: LookupRoots) -> str:
    """What is recorded of pruned tables that were in this folder."""
    record = folder.parent.parent / PRUNED_FILE
    try:
        roots.table_folder(record.parent)
        lines = read_lines(record)
    except (EngineError, RowsError):
        return ""
    for line in reversed(lines):
        if line.get("run") == folder.parent.name and str(line.get("output")) == folder.name:
            written, pruned = (shorten(str(line.get(name)))[:10] for name in ("written", "pruned"))
            return (
                f": those of {written} were pruned on {pruned}, with {line.get('rows')} rows. The run may still be "
                f"traced in Spark: headwater trace {folder.parent.name}"
            )
    return ""


def _entry(facet: object, output: int) -> Any:
    if not isinstance(facet, Mapping):
        raise LayoutInvalid("the facet", "it is not an object")
    if "outputs" not in facet:
        return facet
    entries = facet["outputs"]
    if not isinstance(entries, list | tuple):
        raise LayoutInvalid("outputs", "it is not a list")
    if not 0 <= output < len(entries):
        raise RowsError(f"The run has {len(entries)} outputs with pair tables, counted from 0.")
    return entries[output]


def with_resolved(paths: Iterable[Path]) -> list[str]:
    """The paths and their resolved forms: DuckDB compares one or the other, depending on its version."""
    folders: dict[str, str] = {}
    result: dict[str, None] = {}
    for path in paths:
        folder, name = os.path.split(path)
        if folder not in folders:
            folders[folder] = os.path.realpath(folder)
        real = os.path.join(folders[folder], name)
        result |= {str(path): None, os.path.realpath(real) if os.path.islink(real) else real: None}
    return list(result)
