"""Checksums of what a write has read and written. The label says what was hashed, and how.

| label | what is hashed |
| --- | --- |
| `sha256-files` | the list of files: path below the dataset's folder, size, time of the last change |
| `sha256-version` | the version of a table that has versions |
| `sha256-bytes` | the content of each file |
| `sha256-bytes+files` | the same, but for files too large to be read as one: of these what `sha256-files` has |
| `sha256-rows` | the rows, whatever their order and however they lie in files (rowhash.py) |
| `sha256-list` | several checksums of one dataset, in the order they were taken |

Which files these are was found out when the write's plan was kept (rows/keep): nothing is listed again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from headwater.capture.events.writes import Written
from headwater.evidence.rowhash import hash_of_rows
from headwater.model.names import Dataset
from headwater.proof.canonical import canonical
from headwater.rows.kept_queries.files import PinnedFile, read_file_list
from headwater.rows.kept_queries.restore import changed_files, pinned_scan
from headwater.rows.kept_queries.sources import KeptSource, read_source
from headwater.rows.provenance import frame_of_plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LARGEST = 512 * 2**20
"""Bytes of a file that Spark is asked to hold as one value."""
_JOB = re.compile(r"-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_AS_WRITTEN = ("parquet", "orc")
"""Formats that say themselves which columns of which types they hold."""
_MADE_UP = ("range", "memory")
_BINARY_FILE = {"path": "string", "modificationTime": "timestamp", "length": "long", "content": "binary"}
_UNPARTED = '{"type":"struct","fields":[]}'
_AS_BYTES = json.dumps(
    {
        "type": "struct",
        "fields": [
            {"name": name, "type": type, "nullable": True, "metadata": {}} for name, type in _BINARY_FILE.items()
        ],
    }
)
"""How Spark reads files as they are."""

Facts = Mapping[str, Any]


@dataclass
class Checksums:
    """``unknown``: datasets without a checksum, each with the reason. ``not_read``: files too large to be read."""

    of: dict[str, str] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)
    not_read: dict[str, list[str]] = field(default_factory=dict)


class Checker:
    """Takes the checksums of one application's writes. ``mode`` is "files", "bytes" or "rows"."""

    def __init__(self, spark: SparkSession, mode: str) -> None:
        self._spark = spark
        self._mode = mode

    def inputs(self, kept: Facts, written: Written) -> Checksums:
        found = Checksums()
        folders = dict(_folders(written))
        sources: dict[str, list[tuple[KeptSource, Facts]]] = {}
        for each in kept.get("sources", ()):
            source = read_source(each)
            for dataset in source.datasets:
                sources.setdefault(str(Dataset(*dataset)), []).append((source, each))
        for name, folder in folders.items():
            if name in sources:
                self._input(name, folder, sources[name], found)
            else:
                found.unknown[name] = next(iter(kept.get("needs", ())), "which of its files were read is not known")
        return found

    def output(self, kept: Facts, written: Written) -> Checksums:
        name, about = str(Dataset(*written.target.key)), kept.get("written", {})
        found = Checksums()
        if "version" in about:
            found.of[name] = _version(about.get("format"), about["version"])
        elif "files" in about:
            files = read_file_list(about["files"])
            rows = self._written_rows(about, files) if self._mode == "rows" else None
            self._checked(name, about.get("uri"), files, rows, found)
        else:
            found.unknown[name] = about.get("unknown", "what was written is not known")
        return found

    def _input(self, name: str, folder: str | None, sources: list[tuple[KeptSource, Facts]], found: Checksums) -> None:
        kinds = {source.kind for source, _ in sources}
        if kinds == {"files"} and all("files" in kept for _, kept in sources):
            files = _below(folder, {file for source, _ in sources for file in source.files}, sources)
            rows = self._read_rows(files, sources) if self._mode == "rows" else None
            self._checked(name, folder, files, rows, found)
        elif kinds <= {"delta", "iceberg"} and all(source.version is not None for source, _ in sources):
            versions = sorted({(source.format, source.version) for source, _ in sources})
            if self._mode == "rows" and len(versions) == 1:
                self._rows(name, self._frame(*sources[0]), found)
            else:
                found.of[name] = joined([_version(*version) for version in versions])
        elif kinds <= {*_MADE_UP}:
            found.unknown[name] = "it was made in the program: there is no file to hash"
        else:
            found.unknown[name] = f"the state of a source of kind {sorted(kinds)[0]} at that time cannot be asked for"

    def _checked(
        self, name: str, folder: str | None, files: Sequence[PinnedFile], rows: DataFrame | None, found: Checksums
    ) -> None:
        if self._mode == "files" or not files:
            found.of[name] = _labelled("files", [_listed(file, folder) for file in files])
            return
        if rows is not None:
            self._rows(name, rows, found)
        else:
            self._bytes(name, folder, files, found)
        moved = changed_files(self._spark, list(files))
        if moved:  # what was hashed is not what the job had before it
            del found.of[name]
            found.unknown[name] = f"it was changed before it could be read: {moved[0]}"

    def _rows(self, name: str, rows: DataFrame, found: Checksums) -> None:
        found.of[name] = f"sha256-rows:{hash_of_rows(rows)}"

    def _frame(self, source: KeptSource, kept: Facts) -> DataFrame:
        return frame_of_plan(self._spark, pinned_scan(self._spark, source, kept))

    def _bytes(self, name: str, folder: str | None, files: Sequence[PinnedFile], found: Checksums) -> None:
        large = [file for file in files if file.size > LARGEST]
        read = self._contents([file for file in files if file.size <= LARGEST])
        told = [[_named(file, folder), content] for file, content in read] + [_listed(file, folder) for file in large]
        if large:
            found.not_read[name] = [_relative(file, folder) for file in large]
        found.of[name] = _labelled("bytes+files" if large else "bytes", sorted(told, key=lambda each: str(each[0])))

    def _contents(self, files: Sequence[PinnedFile]) -> list[tuple[PinnedFile, str]]:
        """The SHA-256 of each, by Spark, side by side."""
        from pyspark.sql import functions as F

        if not files:
            return []
        source = KeptSource("files", (), (), "binaryFile", files=tuple(files))
        frame = self._frame(source, {"options": {}, "schema": _AS_BYTES, "partitions": _UNPARTED})
        found = frame.select("path", F.sha2("content", 256).alias("hash")).collect()
        hashes = {_plain(row["path"]): row["hash"] for row in found}
        return [(file, hashes[_plain(file.path)]) for file in files]

    def _read_rows(self, files: Sequence[PinnedFile], sources: list[tuple[KeptSource, Facts]]) -> DataFrame | None:
        """The rows of what was read; None if the same files were read in several ways: then it is their bytes."""
        about = ("format", "schema", "partitions", "options")
        if any(kept[key] != sources[0][1][key] for _, kept in sources for key in about):
            return None
        first, kept = sources[0]
        return self._frame(replace(first, files=tuple(files)), kept) if files else None

    def _written_rows(self, about: Facts, files: Sequence[PinnedFile]) -> DataFrame | None:
        if about.get("format") not in _AS_WRITTEN or not files:
            return None
        reader = self._spark.read.format(about["format"]).option("basePath", about["uri"])
        return reader.option("__globPaths__", "false").load([file.path for file in files])


def _folders(written: Written) -> Iterator[tuple[str, str | None]]:
    """What was read, and the folder it lies in; of a view what it reads itself."""
    for item in written.inputs:
        if item.place.kind != "VIEW":
            yield str(Dataset(*item.place.key)), item.place.uri
    for view in written.views:
        yield from _folders(view.written)


def joined(checksums: Iterable[str]) -> str:
    """One checksum of several."""
    several = list(dict.fromkeys(checksums))
    return several[0] if len(several) == 1 else _labelled("list", several)


def _labelled(what: str, told: Any) -> str:
    return f"sha256-{what}:{sha256(canonical(told).encode()).hexdigest()}"


def _version(format: str | None, version: str | None) -> str:
    return _labelled("version", [format, version])


def _below(folder: str | None, files: set[PinnedFile], sources: list[tuple[KeptSource, Facts]]) -> list[PinnedFile]:
    """Of a reader of several folders, the files of one."""
    every = sorted(files, key=lambda file: file.path)
    if folder is None or all(len(source.datasets) == 1 for source, _ in sources):
        return every
    return [file for file in every if _plain(file.path).startswith(f"{_plain(folder).rstrip('/')}/")]


def _listed(file: PinnedFile, folder: str | None) -> list[Any]:
    return [_relative(file, folder), file.size, file.time]


def _named(file: PinnedFile, folder: str | None) -> str:
    """Without the id that Spark gives the files of one write: the same rows written again have the same names."""
    return _JOB.sub("", _relative(file, folder))


def _relative(file: PinnedFile, folder: str | None) -> str:
    path, above = _plain(file.path), _plain(folder or "").rstrip("/")
    return path.removeprefix(f"{above}/") if above and path.startswith(f"{above}/") else path


def _plain(path: str) -> str:
    return re.sub(r"^file:/+", "/", path)
