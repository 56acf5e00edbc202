"""Nulls and distinct values of what was written, for those who ask: one more pass of Spark over the output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.capture.naming.dataset_ref import Place

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Asked = bool | Sequence[str]
"""All columns, none, or those named."""


@dataclass(frozen=True)
class ColumnCounts:
    nulls: int
    distinct: int | None
    """Not counting null; None for a type whose values cannot be compared."""


@dataclass(frozen=True)
class Quality:
    rows: int
    columns: dict[str, ColumnCounts]


def measure(spark: SparkSession, place: Place, asked: Asked) -> Quality | None:
    """What the output holds now; None where it cannot be read back (a topic, a database)."""
    from pyspark.sql import functions as F

    frame = _read(spark, place)
    if frame is None:
        return None
    names = [name for name in frame.columns if asked is True or (asked and name in asked)]
    countable = {field.name for field in frame.schema.fields if "map<" not in field.dataType.simpleString()}
    columns = {name: F.col(f"`{name.replace('`', '``')}`") for name in names}
    counts = [F.count(F.lit(1)), *(F.count(column) for column in columns.values())]
    counts += [F.count_distinct(columns[name]) for name in names if name in countable]
    row = list(frame.agg(*counts).collect()[0])
    rows, present, distinct = row[0], row[1 : 1 + len(names)], iter(row[1 + len(names) :])
    return Quality(
        rows,
        {
            name: ColumnCounts(rows - found, next(distinct) if name in countable else None)
            for name, found in zip(names, present, strict=True)
        },
    )


def _read(spark: SparkSession, place: Place) -> DataFrame | None:
    if place.also is not None:
        return spark.table(place.also[1])
    if place.kind == "FILE" and place.uri is not None and place.format is not None:
        return spark.read.format(place.format).load(place.uri)
    return None
