"""How many rows the files of a source have, found out without row lineage; and whether what that says can be true.

Of each file it is known how many of its rows reached the output, and the furthest of their places. More rows than the
file has, a place beyond its last one, or a file that was not read: then the ledger does not balance, and says where.

Rows of CSV, JSON and ORC have no places. There a row goes by its content, which takes the place of the file: all rows
with a content that reached the output did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

from headwater.rows.provenance import PlanSource, RowProvenance, frame_of_plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MOST_SHOWN = 5
_FILE = {"position": "_metadata.file_path", "table position": "_file"}
BY_CONTENT = "content"
_COUNTED_THROUGH = ("ParquetFileFormat",)
"""Formats whose files have as many rows as places. Tables that mark rows as deleted have fewer."""
_NONE = "cast(null as bigint)"
_BEYOND = "rows is null or reached > rows or last >= places"
_REACHED = "coalesce(reached, if(last is null, null, rows))"
"""Of a content that is only known to have been reached, all rows that have it."""


@dataclass(frozen=True)
class Tally:
    """Of one dataset. ``filtered`` is counted file by file: where more rows were reached than there are, they show."""

    entered: int
    processed: int
    filtered: int
    beyond: tuple[str, ...] = ()
    distinct: int = 0
    """How many files there are, or contents."""


def rows_of_files(provenance: RowProvenance, source: PlanSource) -> DataFrame:
    """(file, rows, places): by the hash of a file's name, how many rows it has, and how many places for rows where that
    is known. Nothing of what row lineage adds to the source is read."""
    leaf, every, name = provenance.leaf(source.number), provenance.source_frame(source.number), source.file
    if source.id != BY_CONTENT:
        every, name = frame_of_plan(every.sparkSession, leaf), _FILE.get(source.id, "'range'")
    counted = every.selectExpr(f"xxhash64({name}) as file").groupBy("file").count().withColumnRenamed("count", "rows")
    return counted.selectExpr("file", "rows", f"{'rows' if _is_dense(source, leaf) else _NONE} as places")


def file_format(leaf: Any) -> str | None:
    """In Spark's words; None of a leaf that reads no files."""
    try:
        return str(leaf.relation().fileFormat().getClass().getSimpleName())
    except Exception:  # one of another kind has no such thing to ask for
        return None


def _is_dense(source: PlanSource, leaf: Any) -> bool:
    return source.id == "position" and file_format(leaf) in _COUNTED_THROUGH


def tallies(
    provenance: RowProvenance, sources: Mapping[str, PlanSource], reached: Sequence[tuple[str, DataFrame]]
) -> dict[str, Tally]:
    """``sources``: by the name of a dataset, one that reads it. ``reached``: by dataset, (file, reached, last): of each
    file how many rows reached the output, and the last of their places; of a content ``reached`` may be null."""
    from pyspark.sql import functions as F

    if not sources:
        return {}
    names = sorted(sources)
    parts = [
        rows_of_files(provenance, sources[name]).selectExpr(
            f"{place} as dataset", "file", "rows", "places", f"{_NONE} as reached", f"{_NONE} as last"
        )
        for place, name in enumerate(names)
    ]
    parts += [
        rows.selectExpr(
            f"{names.index(name)} as dataset", "file", f"{_NONE} as rows", f"{_NONE} as places", "reached", "last"
        )
        for name, rows in reached
    ]
    sums = [F.sum(name).alias(name) for name in ("rows", "places", "reached")]
    files = reduce(lambda one, other: one.union(other), parts).groupBy("dataset", "file")
    each = files.agg(*sums, F.max("last").alias("last")).withColumn("reached", F.expr(_REACHED))
    found = each.groupBy("dataset").agg(
        F.expr("coalesce(sum(rows), 0) as entered"),
        F.expr("coalesce(sum(reached), 0) as processed"),
        F.expr("coalesce(sum(greatest(rows - coalesce(reached, 0), 0)), 0) as filtered"),
        F.expr(f"count_if({_BEYOND}) as beyond"),
        F.expr("count(rows) as distinct"),
    )
    told = {names[row["dataset"]]: row for row in found.collect()}
    return {
        name: Tally(
            int(told[name]["entered"]),
            int(told[name]["processed"]),
            int(told[name]["filtered"]),
            tuple(_named(each, place, provenance, sources[name])) if told[name]["beyond"] else (),
            int(told[name]["distinct"]),
        )
        if name in told
        else Tally(0, 0, 0)
        for place, name in enumerate(names)
    }


def _named(files: DataFrame, place: int, provenance: RowProvenance, source: PlanSource) -> list[str]:
    """Some of the files that cannot have the rows that are said to come from them, and why not."""
    from pyspark.sql import functions as F

    wrong = files.where(f"dataset = {place} and ({_BEYOND})").orderBy("file").limit(_MOST_SHOWN).collect()
    hashes = [row["file"] for row in wrong]
    read = provenance.source_frame(source.number).select(
        F.col(source.file).alias("name"), F.xxhash64(source.file).alias("file")
    )
    known = {row["file"]: row["name"] for row in read.where(F.col("file").isin(hashes)).distinct().collect()}
    return [_in_words(known.get(row["file"], f"a file that was not read ({row['file']})"), row) for row in wrong]


def _in_words(name: str, row: Any) -> str:
    if row["rows"] is None:
        return f"{name}: {row['reached']} rows, and none were counted in it"
    if row["reached"] > row["rows"]:
        return f"{name}: {row['reached']} rows of {row['rows']}"
    return f"{name}: row {row['last']}, and its last is {row['places'] - 1}"
