"""Files of the archive as Spark writes them: first where nobody looks, then under their names, then read back.

What is read back from the files has to be what was handed to the writer: as many rows, and the same sums over hashes of
all their columns. Until a commit names them the files count for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from headwater.errors import ArchiveUnusable
from headwater.records.archive.archive import JSONL, RECORDS, TRACES, WORK_FOLDER, ArchiveFile, Compaction, FileKeys
from headwater.records.compaction.shipping import register_shipped_modules
from headwater.records.executor.file_totals import TOTALS_SCHEMA, merge_totals, total_files
from headwater.records.tracing.spark_traces import RECORD_COLUMNS, RECORD_SCHEMA, TRACE_COLUMNS, TRACE_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column, DataFrame

    from headwater.records.compaction.hadoop_fs import HadoopFolder

COLUMNS: dict[str, Sequence[str]] = {RECORDS: RECORD_COLUMNS, TRACES: TRACE_COLUMNS, JSONL: ("value",)}
SCHEMAS = {RECORDS: RECORD_SCHEMA, TRACES: TRACE_SCHEMA, JSONL: "value string, day date"}
ROOT_EXPRESSIONS = {RECORDS: "root_id", TRACES: "root_id", JSONL: "get_json_object(value, '$.root_id')"}
"""Whose root a row is of."""
_LOW = 0xFFFFFFFF
_DIGESTS = {
    RECORDS: "digest",
    # A trace is known by its root, its leaf and the nodes on the way.
    TRACES: r"unhex(substring(sha2(concat_ws('\n', root_id, record_id, lineage.node_id), 256), 1, 32))",
    JSONL: "unhex(substring(sha2(value, 256), 1, 32))",
}


@dataclass(frozen=True, slots=True)
class RowSums:
    """Of rows, in whatever order: how many, and the two halves of their hashes added up."""

    rows: int
    high: int
    low: int


def sum_aggregates(kind: str) -> list[Column]:
    """The aggregates that make :class:`Sums` of rows of that kind, with their day."""
    from pyspark.sql import functions as F

    return [
        F.count(F.lit(1)).alias("rows"),
        *(
            F.coalesce(F.sum(half), F.lit(0)).alias(name)
            for name, half in zip(("high", "low"), _halves(kind), strict=True)
        ),
    ]


def _halves(kind: str) -> tuple[Column, Column]:
    from pyspark.sql import functions as F

    # Sums of halves cannot leave the range of a long below two thousand million rows.
    hashed = F.xxhash64("day", *COLUMNS[kind])
    return F.shiftright(hashed, 32), hashed.bitwiseAND(F.lit(_LOW))


class ArchiveWriter:
    """Of one compaction."""

    def __init__(self, place: HadoopFolder, compaction: Compaction) -> None:
        self._place = place
        self._compaction = compaction
        self._renamed: list[str] = []
        self.added: list[ArchiveFile] = []

    def write(self, kind: str, frame: DataFrame) -> list[ArchiveFile]:
        """Rows with their ``day``; they are evaluated once. Verified, but not committed."""
        from pyspark.sql import Observation

        seen = Observation()
        staged = f"{self._compaction.folder}/{kind}"
        rows = frame.select("day", *COLUMNS[kind]).observe(seen, *sum_aggregates(kind))
        writer = rows.write.partitionBy("day")
        writer.text(self._place.full_path(staged)) if kind == JSONL else writer.parquet(self._place.full_path(staged))
        handed = RowSums(**{"rows": 0, "high": 0, "low": 0, **seen.get})
        sizes = self._named(kind, staged)
        files = self._read_back(kind, handed, sizes)
        self.added += files
        return files

    def _named(self, kind: str, staged: str) -> dict[str, tuple[date, int]]:
        """Each file under its name in the archive, and on disk; its day and size."""
        named = {}
        for number, file in enumerate(self._place.files(staged), start=len(self._renamed)):
            folder = file.path.split("/")[0]
            day = date.fromisoformat(folder.removeprefix("day="))
            path = self._compaction.path(kind, day, number)
            self._renamed.append(path)
            self._place.rename(f"{staged}/{file.path}", path)
            named[path] = day, file.bytes
        self._place.sync(named)
        return named

    def _read_back(self, kind: str, handed: RowSums, named: dict[str, tuple[date, int]]) -> list[ArchiveFile]:
        tallies = file_totals(self._place, kind, list(named)) if named else []
        found = RowSums(*(sum(each[name] for each in tallies) for name in ("rows", "high", "low")))
        if found != handed:
            raise ArchiveUnusable(
                f"What was written to {self._place.location} is not what was to be archived: {handed.rows} rows were "
                f"written, {found.rows} are read back{'' if found.rows != handed.rows else ', with other contents'}. "
                "Nothing was committed."
            )
        by_name = {path.rpartition("/")[2]: path for path in named}
        files = []
        for each in tallies:
            path = by_name[each["file"]]
            day, size = named[path]
            keys = FileKeys(*(each[name] for name in ("first", "last", "roots", "nodes")))
            files.append(ArchiveFile(path, kind, day, each["rows"], each["digest"], size, keys))
        return sorted(files, key=lambda file: file.path)

    def discard(self) -> None:
        """Nothing of it stays. Another attempt at the same may be under way."""
        self._place.remove([*self._renamed, self._compaction.folder])

    def clear(self) -> None:
        """It was committed, and so no other will be."""
        self._place.remove([f"{WORK_FOLDER}/{self._compaction.id}"])


def read(place: HadoopFolder, kind: str, paths: Sequence[str]) -> DataFrame:
    """Files of the archive, with their day."""
    reader = place.spark.read.option("basePath", place.full_path(kind)).schema(SCHEMAS[kind])
    full = [place.full_path(path) for path in paths]
    return reader.text(full) if kind == JSONL else reader.parquet(*full)


def file_totals(place: HadoopFolder, kind: str, paths: Sequence[str]) -> list[dict[str, Any]]:
    """What each file holds, in the words of :data:`~headwater.records.executor.file_totals.TOTALS_SCHEMA`."""
    from pyspark.sql import functions as F

    register_shipped_modules()
    high, low = _halves(kind)
    nodes = _key("node_id") if kind == RECORDS else "cast(null as binary)"
    told = read(place, kind, paths).select(
        F.col("_metadata.file_name").alias("file"),
        F.expr(_DIGESTS[kind]).alias("digest"),
        high,
        low,
        F.expr(_key(ROOT_EXPRESSIONS[kind])).alias("root_key"),
        F.expr(nodes).alias("node_key"),
    )
    by_file: dict[str, dict[str, Any]] = {}
    for row in told.mapInArrow(total_files, TOTALS_SCHEMA).collect():
        each = {name: bytes(value) if isinstance(value, bytearray) else value for name, value in row.asDict().items()}
        before = by_file.get(row.file)
        by_file[row.file] = each if before is None else merge_totals(before, each)
    return list(by_file.values())


def _key(name: str) -> str:
    """As :func:`headwater.model.records.key_of_id` makes it."""
    return f"unhex(substring(sha2({name}, 256), 1, 32))"
