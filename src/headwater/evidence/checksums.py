"""Checksums of what a write has read and written. The label names what was hashed, and how.

| label | what is hashed |
| --- | --- |
| `sha256-files` | the list of files: path below the dataset's folder, size, modification time |
| `sha256-version` | the version of a table that has versions |
| `sha256-bytes` | the content of each file |
| `sha256-bytes+files` | the same, but for files too large to be read as one value: what `sha256-files` has |
| `sha256-rows` | the rows, regardless of their order and of the files they are in (rowhash.py) |
| `sha256-list` | several checksums of one dataset, in the order they were taken |

The files are those that were listed when the write's plan was captured (rows/kept_queries): nothing is listed again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING

from headwater.capture.events.writes import CapturedWrite
from headwater.evidence.rowhash import hash_of_rows
from headwater.model.json_types import JsonObject
from headwater.model.names import Dataset
from headwater.proof.canonical import canonical
from headwater.rows.kept_queries.files import PinnedFile, read_file_list
from headwater.rows.kept_queries.restore import changed_files, pinned_scan
from headwater.rows.kept_queries.sources import KeptSource, read_source
from headwater.rows.provenance import frame_of_plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MAX_FILE_BYTES = 512 * 2**20
"""The largest file that Spark reads as one value."""
_JOB = re.compile(r"-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_AS_WRITTEN = ("parquet", "orc")
"""Formats whose files have a schema."""
_CREATED = ("range", "memory")
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
"""The schema of Spark's `binaryFile` source."""

Facts = JsonObject
"""What the row capture of this process noted of a write, or of one of its sources (rows/kept_queries)."""


@dataclass
class Checksums:
    """``unknown``: datasets without a checksum, each with the reason. ``not_read``: files too large to be read."""

    of: dict[str, str] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)
    not_read: dict[str, list[str]] = field(default_factory=dict)


class ChecksumCalculator:
    """Takes the checksums of one application's writes. ``mode`` is "files", "bytes" or "rows"."""

    def __init__(self, spark: SparkSession, mode: str) -> None:
        self._spark = spark
        self._mode = mode

    def inputs(self, captured: Facts, written: CapturedWrite) -> Checksums:
        checksums = Checksums()
        folders = dict(_folders(written))
        sources: dict[str, list[tuple[KeptSource, Facts]]] = {}
        for kept_source in captured.get("sources", ()):
            source = read_source(kept_source)
            for dataset in source.datasets:
                sources.setdefault(str(Dataset(*dataset)), []).append((source, kept_source))
        for name, folder in folders.items():
            if name in sources:
                self._input(name, folder, sources[name], checksums)
            else:
                checksums.unknown[name] = next(
                    iter(captured.get("needs", ())), "which of its files were read is not known"
                )
        return checksums

    def output(self, captured: Facts, written: CapturedWrite) -> Checksums:
        name, output = str(Dataset(*written.target.key)), captured.get("written", {})
        checksums = Checksums()
        if "version" in output:
            checksums.of[name] = _version(output.get("format"), output["version"])
        elif "files" in output:
            files = read_file_list(output["files"])
            rows = self._written_rows(output, files) if self._mode == "rows" else None
            self._add_checksum(name, output.get("uri"), files, rows, checksums)
        else:
            checksums.unknown[name] = output.get("unknown", "what was written is not known")
        return checksums

    def _input(
        self, name: str, folder: str | None, sources: list[tuple[KeptSource, Facts]], checksums: Checksums
    ) -> None:
        kinds = {source.kind for source, _ in sources}
        if kinds == {"files"} and all("files" in facts for _, facts in sources):
            files = _files_below(folder, {file for source, _ in sources for file in source.files}, sources)
            rows = self._read_rows(files, sources) if self._mode == "rows" else None
            self._add_checksum(name, folder, files, rows, checksums)
        elif kinds <= {"delta", "iceberg"} and all(source.version is not None for source, _ in sources):
            versions = sorted({(source.format, source.version) for source, _ in sources})
            if self._mode == "rows" and len(versions) == 1:
                self._rows(name, self._frame(*sources[0]), checksums)
            else:
                checksums.of[name] = combined_checksum([_version(*version) for version in versions])
        elif kinds <= {*_CREATED}:
            checksums.unknown[name] = "it was made in the program: there is no file to hash"
        else:
            checksums.unknown[name] = f"the state of a source of kind {sorted(kinds)[0]} at that time cannot be read"

    def _add_checksum(
        self, name: str, folder: str | None, files: Sequence[PinnedFile], rows: DataFrame | None, checksums: Checksums
    ) -> None:
        if self._mode == "files" or not files:
            checksums.of[name] = _labelled_hash("files", [_file_entry(file, folder) for file in files])
            return
        if rows is not None:
            self._rows(name, rows, checksums)
        else:
            self._bytes(name, folder, files, checksums)
        moved = changed_files(self._spark, list(files))
        if moved:  # the files that were hashed are not those that the job read or wrote
            del checksums.of[name]
            checksums.unknown[name] = f"it was changed before it could be read: {moved[0]}"

    def _rows(self, name: str, rows: DataFrame, checksums: Checksums) -> None:
        checksums.of[name] = f"sha256-rows:{hash_of_rows(rows)}"

    def _frame(self, source: KeptSource, facts: Facts) -> DataFrame:
        return frame_of_plan(self._spark, pinned_scan(self._spark, source, facts))

    def _bytes(self, name: str, folder: str | None, files: Sequence[PinnedFile], checksums: Checksums) -> None:
        large = [file for file in files if file.size > MAX_FILE_BYTES]
        read = self._content_hashes([file for file in files if file.size <= MAX_FILE_BYTES])
        entries = [[_stable_name(file, folder), content] for file, content in read] + [
            _file_entry(file, folder) for file in large
        ]
        if large:
            checksums.not_read[name] = [_relative(file, folder) for file in large]
        checksums.of[name] = _labelled_hash(
            "bytes+files" if large else "bytes", sorted(entries, key=lambda entry: str(entry[0]))
        )

    def _content_hashes(self, files: Sequence[PinnedFile]) -> list[tuple[PinnedFile, str]]:
        """The SHA-256 of each file, by Spark, in parallel."""
        from pyspark.sql import functions as F

        if not files:
            return []
        source = KeptSource("files", (), (), "binaryFile", files=tuple(files))
        frame = self._frame(source, {"options": {}, "schema": _AS_BYTES, "partitions": _UNPARTED})
        rows = frame.select("path", F.sha2("content", 256).alias("hash")).collect()
        hashes = {_without_scheme(row["path"]): row["hash"] for row in rows}
        return [(file, hashes[_without_scheme(file.path)]) for file in files]

    def _read_rows(self, files: Sequence[PinnedFile], sources: list[tuple[KeptSource, Facts]]) -> DataFrame | None:
        """The rows that were read; None if the same files were read with different options: then their bytes are
        hashed."""
        keys = ("format", "schema", "partitions", "options")
        if any(facts[key] != sources[0][1][key] for _, facts in sources for key in keys):
            return None
        first, facts = sources[0]
        return self._frame(replace(first, files=tuple(files)), facts) if files else None

    def _written_rows(self, output: Facts, files: Sequence[PinnedFile]) -> DataFrame | None:
        if output.get("format") not in _AS_WRITTEN or not files:
            return None
        reader = self._spark.read.format(output["format"]).option("basePath", output["uri"])
        return reader.option("__globPaths__", "false").load([file.path for file in files])


def _folders(written: CapturedWrite) -> Iterator[tuple[str, str | None]]:
    """What was read, and its folder; of a view, what the view reads."""
    for item in written.inputs:
        if item.dataset.kind != "VIEW":
            yield str(Dataset(*item.dataset.key)), item.dataset.uri
    for view in written.views:
        yield from _folders(view.written)


def combined_checksum(checksums: Iterable[str]) -> str:
    """One checksum of several."""
    several = list(dict.fromkeys(checksums))
    return several[0] if len(several) == 1 else _labelled_hash("list", several)


def _labelled_hash(kind: str, content: object) -> str:
    return f"sha256-{kind}:{sha256(canonical(content).encode()).hexdigest()}"


def _version(format: str | None, version: str | None) -> str:
    return _labelled_hash("version", [format, version])


def _files_below(
    folder: str | None, files: set[PinnedFile], sources: list[tuple[KeptSource, Facts]]
) -> list[PinnedFile]:
    """Of a source that reads several folders, the files of one."""
    all_files = sorted(files, key=lambda file: file.path)
    if folder is None or all(len(source.datasets) == 1 for source, _ in sources):
        return all_files
    return [
        file for file in all_files if _without_scheme(file.path).startswith(f"{_without_scheme(folder).rstrip('/')}/")
    ]


def _file_entry(file: PinnedFile, folder: str | None) -> list[str | int]:
    return [_relative(file, folder), file.size, file.time]


def _stable_name(file: PinnedFile, folder: str | None) -> str:
    """Without the id that Spark gives the files of one write: the same rows written again have the same file names."""
    return _JOB.sub("", _relative(file, folder))


def _relative(file: PinnedFile, folder: str | None) -> str:
    path, parent = _without_scheme(file.path), _without_scheme(folder or "").rstrip("/")
    return path.removeprefix(f"{parent}/") if parent and path.startswith(f"{parent}/") else path


def _without_scheme(path: str) -> str:
    return re.sub(r"^file:/+", "/", path)
