"""Which pair tables a lookup reads, and which files: decided in one place, before DuckDB is opened.

An event says where the tables of its run are. It is believed only as far as the folder itself agrees: the mark in it,
which the job wrote there, must describe the same tables, and a caller that knows the run also has the folder's name
checked against it. So an event cannot point at files that are no pair tables, at tables of another shape, or at
the tables of another run.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from headwater.engines.paths import below, local_path, resolved
from headwater.errors import LayoutInvalid, PathNotAllowed, RowsError, shorten
from headwater.rows.pairs.layout import MARK, Layout
from headwater.rows.pairs.reading import read_json, read_layout


@dataclass(frozen=True, slots=True)
class LookupRoots:
    """Folders below which a lookup may read; None: anywhere on this machine, as the user that asks may.

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
        return _below(path, self.tables)

    def source_file(self, location: str) -> Path:
        path = local_path(location)
        if not path.is_absolute() or ".." in path.parts:
            raise PathNotAllowed(location, "it is not an absolute path without '..'")
        if self.sources is not None:
            below(path, self.sources)
        return path


def _below(path: Path, roots: Iterable[Path] | None) -> Path:
    return resolved(path) if roots is None else below(path, roots)


@dataclass(frozen=True, slots=True)
class OpenTables:
    """``folder`` is resolved, and ``layout`` is what the mark in it says."""

    folder: Path
    layout: Layout


def tables_in(folder: str | Path, roots: LookupRoots) -> OpenTables:
    """The tables in a folder that a person names. It may have been moved since it was written."""
    path = roots.table_folder(local_path(str(folder)))
    if not os.path.isfile(path / MARK):
        raise RowsError(f"there are no pair tables at {shorten(str(folder))}")
    layout = read_layout(read_json(path / MARK))
    return OpenTables(path, replace(layout, location=str(path)))


def tables_of(facet: object, output: int, roots: LookupRoots, run_id: str | None) -> OpenTables:
    """The tables that the facet of a run describes, or one of its entries; ``output`` chooses among several."""
    described = read_layout(_entry(facet, output))
    path = roots.table_folder(local_path(described.location))
    if run_id is not None and path.parent.name.lower() != run_id.lower():
        raise LayoutInvalid("location", "it is not a folder of this run")
    if not os.path.isfile(path / MARK):
        raise RowsError(f"there are no pair tables at {shorten(described.location)}")
    written = read_layout(read_json(path / MARK))
    if written.structure != described.structure:
        raise LayoutInvalid("the entry", "the folder that it names holds other tables than it describes")
    return OpenTables(path, replace(written, location=described.location))


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
    """The paths, and what they are once links are followed: DuckDB compares one or the other, by its version."""
    folders: dict[str, str] = {}
    found: dict[str, None] = {}
    for path in paths:
        folder, name = os.path.split(path)
        if folder not in folders:
            folders[folder] = os.path.realpath(folder)
        real = os.path.join(folders[folder], name)
        found |= {str(path): None, os.path.realpath(real) if os.path.islink(real) else real: None}
    return list(found)
