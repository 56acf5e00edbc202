"""Writes files of the archive with Spark: into a temporary folder, then under their names, and then reads them back.

The rows that are read back must equal those that were written: as many rows, and the same sums over hashes of all
columns. The files become part of the archive only by a commit.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from headwater.errors import ArchiveUnusable
from headwater.records.archive.archive import JSONL, RECORDS, TRACES, WORK_FOLDER, ArchiveFile, Compaction, FileKeys
from headwater.records.compaction.shipping import register_shipped_modules
from headwater.records.executor.file_totals import TOTALS_SCHEMA, FileTotals, merge_totals, total_files
from headwater.records.tracing.spark_traces import RECORD_COLUMNS, RECORD_SCHEMA, TRACE_COLUMNS, TRACE_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column, DataFrame

    from headwater.records.compaction.hadoop_fs import HadoopFolder

COLUMNS: dict[str, Sequence[str]] = {RECORDS: RECORD_COLUMNS, TRACES: TRACE_COLUMNS, JSONL: ("value",)}
SCHEMAS = {RECORDS: RECORD_SCHEMA, TRACES: TRACE_SCHEMA, JSONL: "value string, day date"}
ROOT_EXPRESSIONS = {RECORDS: "root_id", TRACES: "root_id", JSONL: "get_json_object(value, '$.root_id')"}
"""The expression for the root of a row."""
_LOW_HALF = 0xFFFFFFFF
_DIGESTS = {
    RECORDS: "digest",
    # A trace is identified by its root, its leaf and the nodes of its lineage.
    TRACES: r"unhex(substring(sha2(concat_ws('\n', root_id, record_id, lineage.node_id), 256), 1, 32))",
    JSONL: "unhex(substring(sha2(value, 256), 1, 32))",
}


@dataclass(frozen=True, slots=True)
class RowSums:
    """The number of rows, and the sums of the two halves of their hashes: independent of their order."""

    rows: int
    high: int
    low: int


def sum_aggregates(kind: str) -> list[Column]:
    """The aggregates that compute :class:`RowSums` of rows of that kind."""
    from pyspark.sql import functions as F

    return [
        F.count(F.lit(1)).alias("rows"),
        *(
            F.coalesce(F.sum(half), F.lit(0)).alias(name)
            for name, half in zip(("high", "low"), _hash_halves(kind), strict=True)
        ),
    ]


def _hash_halves(kind: str) -> tuple[Column, Column]:
    from pyspark.sql import functions as F

    # The sum of halves stays in the range of a long up to two billion rows.
    hashed = F.xxhash64("day", *COLUMNS[kind])
    return F.shiftright(hashed, 32), hashed.bitwiseAND(F.lit(_LOW_HALF))


class ArchiveWriter:
    """Writes the files of one compaction."""

    def __init__(self, archive_folder: HadoopFolder, compaction: Compaction) -> None:
        self._folder = archive_folder
        self._compaction = compaction
        self._renamed: list[str] = []
        self.added: list[ArchiveFile] = []

    def write(self, kind: str, frame: DataFrame) -> list[ArchiveFile]:
        """Write rows with their ``day``, which are evaluated once, and verify the files. Nothing is committed."""
        from pyspark.sql import Observation

        observation = Observation()
        staged = f"{self._compaction.folder}/{kind}"
        rows = frame.select("day", *COLUMNS[kind]).observe(observation, *sum_aggregates(kind))
        writer = rows.write.partitionBy("day")
        writer.text(self._folder.full_path(staged)) if kind == JSONL else writer.parquet(self._folder.full_path(staged))
        written = RowSums(**{"rows": 0, "high": 0, "low": 0, **observation.get})
        sizes = self._publish(kind, staged)
        files = self._read_back(kind, written, sizes)
        self.added += files
        return files

    def _publish(self, kind: str, staged: str) -> dict[str, tuple[date, int]]:
        """Move each file to its name in the archive and sync it; returns day and size by path."""
        published = {}
        for number, file in enumerate(self._folder.files(staged), start=len(self._renamed)):
            folder = file.path.split("/")[0]
            day = date.fromisoformat(folder.removeprefix("day="))
            path = self._compaction.path(kind, day, number)
            self._renamed.append(path)
            self._folder.rename(f"{staged}/{file.path}", path)
            published[path] = day, file.bytes
        self._folder.sync(published)
        return published

    def _read_back(self, kind: str, written: RowSums, published: dict[str, tuple[date, int]]) -> list[ArchiveFile]:
        totals_of_files = file_totals(self._folder, kind, list(published)) if published else []
        read_back = RowSums(
            rows=sum(totals.rows for totals in totals_of_files),
            high=sum(totals.high for totals in totals_of_files),
            low=sum(totals.low for totals in totals_of_files),
        )
        if read_back != written:
            raise ArchiveUnusable(
                f"The files at {self._folder.location} differ from what was written: {written.rows} rows were written, "
                f"{read_back.rows} were read back{'' if read_back.rows != written.rows else ' with other contents'}. "
                "Nothing was committed."
            )
        by_name = {path.rpartition("/")[2]: path for path in published}
        files = []
        for totals in totals_of_files:
            path = by_name[totals.file]
            day, size = published[path]
            keys = FileKeys(totals.first, totals.last, totals.roots, totals.nodes)
            files.append(
                ArchiveFile(
                    path=path, kind=kind, day=day, rows=totals.rows, digest=totals.digest, bytes=size, keys=keys
                )
            )
        return sorted(files, key=lambda file: file.path)

    def discard(self) -> None:
        """Remove all files of the attempt. Another attempt at the same compaction may be under way."""
        self._folder.remove([*self._renamed, self._compaction.folder])

    def clear(self) -> None:
        """Remove the folder of the compaction: it is committed, so no other attempt needs it."""
        self._folder.remove([f"{WORK_FOLDER}/{self._compaction.id}"])


def read(archive_folder: HadoopFolder, kind: str, paths: Sequence[str]) -> DataFrame:
    """The rows of files of the archive, with their day."""
    reader = archive_folder.spark.read.option("basePath", archive_folder.full_path(kind)).schema(SCHEMAS[kind])
    full = [archive_folder.full_path(path) for path in paths]
    return reader.text(full) if kind == JSONL else reader.parquet(*full)


def file_totals(archive_folder: HadoopFolder, kind: str, paths: Sequence[str]) -> list[FileTotals]:
    """The totals of each file."""
    from pyspark.sql import functions as F

    register_shipped_modules()
    high, low = _hash_halves(kind)
    nodes = _key("node_id") if kind == RECORDS else "cast(null as binary)"
    hashed_rows = read(archive_folder, kind, paths).select(
        F.col("_metadata.file_name").alias("file"),
        F.expr(_DIGESTS[kind]).alias("digest"),
        high,
        low,
        F.expr(_key(ROOT_EXPRESSIONS[kind])).alias("root_key"),
        F.expr(nodes).alias("node_key"),
    )
    by_file: dict[str, FileTotals] = {}
    for row in hashed_rows.mapInArrow(total_files, TOTALS_SCHEMA).collect():
        totals = FileTotals._make(bytes(value) if isinstance(value, bytearray) else value for value in row)
        earlier_part = by_file.get(totals.file)
        by_file[totals.file] = totals if earlier_part is None else merge_totals(earlier_part, totals)
    return list(by_file.values())


def _key(name: str) -> str:
    """The expression that computes :func:`headwater.model.records.key_of_id` in SQL."""
    return f"unhex(substring(sha2({name}, 256), 1, 32))"
