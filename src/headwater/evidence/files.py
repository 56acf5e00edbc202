"""How many rows the files of a source have, counted without row lineage; and whether the two counts agree.

Of each file it is known how many of its rows reached the output, and their greatest position. More rows than the file
has, a position beyond its last one, or a file that was not read: then the ledger does not balance, and names the file.

Rows of CSV, JSON and ORC have no positions. There, a row is identified by its content, which takes the place of the
file: all rows with a content that reached the output did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from headwater.jvm import JavaObject
from headwater.rows.provenance import PlanSource, RowProvenance, frame_of_plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

_MAX_SAMPLES = 5
_FILE = {"position": "_metadata.file_path", "table position": "_file"}
BY_CONTENT = "content"
_COUNTED_THROUGH = ("ParquetFileFormat",)
"""Formats whose files have as many rows as positions. Tables that mark rows as deleted have fewer."""
_NONE = "cast(null as bigint)"
_BEYOND = "rows is null or reached > rows or last >= places"
_REACHED = "coalesce(reached, if(last is null, null, rows))"
"""The rows reached. If a content is only known to have been reached, all rows that have it."""


@dataclass(frozen=True)
class FileRowCounts:
    """Of one dataset. ``filtered`` is counted per file: a file with more rows reached than it has stays visible."""

    entered: int
    processed: int
    filtered: int
    beyond: tuple[str, ...] = ()
    distinct: int = 0
    """The number of files, or of contents."""


def file_row_counts(provenance: RowProvenance, source: PlanSource) -> DataFrame:
    """(file, rows, places): by the hash of a file's name, its number of rows and, if known, of positions. Columns that
    row lineage adds to the source are not read."""
    leaf, rows, name = provenance.leaf(source.number), provenance.source_frame(source.number), source.file
    if source.id != BY_CONTENT:
        rows, name = frame_of_plan(rows.sparkSession, leaf), _FILE.get(source.id, "'range'")
    counts = rows.selectExpr(f"xxhash64({name}) as file").groupBy("file").count().withColumnRenamed("count", "rows")
    return counts.selectExpr("file", "rows", f"{'rows' if _is_dense(source, leaf) else _NONE} as places")


def file_format(leaf: JavaObject) -> str | None:
    """Spark's class name; None for a leaf that does not read files."""
    try:
        return str(leaf.relation().fileFormat().getClass().getSimpleName())
    except Exception:  # a relation of another kind has no such method
        return None


def _is_dense(source: PlanSource, leaf: JavaObject) -> bool:
    return source.id == "position" and file_format(leaf) in _COUNTED_THROUGH


def count_file_rows(
    provenance: RowProvenance, sources: Mapping[str, PlanSource], reached: Sequence[tuple[str, DataFrame]]
) -> dict[str, FileRowCounts]:
    """``sources``: by the name of a dataset, one that reads it. ``reached``: by dataset, (file, reached, last): of
    each file the number of rows that reached the output, and their greatest position; of a content ``reached`` may
    be null."""
    from pyspark.sql import functions as F

    if not sources:
        return {}
    names = sorted(sources)
    parts = [
        file_row_counts(provenance, sources[name]).selectExpr(
            f"{index} as dataset", "file", "rows", "places", f"{_NONE} as reached", f"{_NONE} as last"
        )
        for index, name in enumerate(names)
    ]
    parts += [
        rows.selectExpr(
            f"{names.index(name)} as dataset", "file", f"{_NONE} as rows", f"{_NONE} as places", "reached", "last"
        )
        for name, rows in reached
    ]
    sums = [F.sum(name).alias(name) for name in ("rows", "places", "reached")]
    files = reduce(lambda left, right: left.union(right), parts).groupBy("dataset", "file")
    by_file = files.agg(*sums, F.max("last").alias("last")).withColumn("reached", F.expr(_REACHED))
    totals = by_file.groupBy("dataset").agg(
        F.expr("coalesce(sum(rows), 0) as entered"),
        F.expr("coalesce(sum(reached), 0) as processed"),
        F.expr("coalesce(sum(greatest(rows - coalesce(reached, 0), 0)), 0) as filtered"),
        F.expr(f"count_if({_BEYOND}) as beyond"),
        F.expr("count(rows) as distinct"),
    )
    row_of = {names[row["dataset"]]: row for row in totals.collect()}
    return {
        name: FileRowCounts(
            int(row_of[name]["entered"]),
            int(row_of[name]["processed"]),
            int(row_of[name]["filtered"]),
            tuple(_contradicting_files(by_file, index, provenance, sources[name])) if row_of[name]["beyond"] else (),
            int(row_of[name]["distinct"]),
        )
        if name in row_of
        else FileRowCounts(0, 0, 0)
        for index, name in enumerate(names)
    }


def _contradicting_files(files: DataFrame, index: int, provenance: RowProvenance, source: PlanSource) -> list[str]:
    """Some of the files whose counts contradict each other, and how."""
    from pyspark.sql import functions as F

    rows = files.where(f"dataset = {index} and ({_BEYOND})").orderBy("file").limit(_MAX_SAMPLES).collect()
    hashes = [row["file"] for row in rows]
    read = provenance.source_frame(source.number).select(
        F.col(source.file).alias("name"), F.xxhash64(source.file).alias("file")
    )
    names = {row["file"]: row["name"] for row in read.where(F.col("file").isin(hashes)).distinct().collect()}
    return [_contradiction(names.get(row["file"], f"a file that was not read ({row['file']})"), row) for row in rows]


def _contradiction(name: str, row: Row) -> str:
    if row["rows"] is None:
        return f"{name}: {row['reached']} rows, and none were counted in it"
    if row["reached"] > row["rows"]:
        return f"{name}: {row['reached']} rows of {row['rows']}"
    return f"{name}: row {row['last']}, and its last is {row['places'] - 1}"
