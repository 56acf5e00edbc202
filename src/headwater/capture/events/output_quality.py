"""Nulls and distinct values of what was written, if requested: one more pass of Spark over the output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.capture.naming.dataset_ref import DatasetRef

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

QualityColumns = bool | Sequence[str]
"""All columns, none, or the named ones."""


@dataclass(frozen=True)
class ColumnCounts:
    nulls: int
    distinct: int | None
    """Without null; None for a type whose values cannot be compared."""


@dataclass(frozen=True)
class OutputQuality:
    rows: int
    columns: dict[str, ColumnCounts]


def measure(spark: SparkSession, dataset: DatasetRef, wanted: QualityColumns) -> OutputQuality | None:
    """Counts over the output as it is now; None if it cannot be read back (a topic, a database)."""
    from pyspark.sql import functions as F

    frame = _read(spark, dataset)
    if frame is None:
        return None
    names = [name for name in frame.columns if wanted is True or (wanted and name in wanted)]
    countable = {field.name for field in frame.schema.fields if "map<" not in field.dataType.simpleString()}
    columns = {name: F.col(f"`{name.replace('`', '``')}`") for name in names}
    counts = [F.count(F.lit(1)), *(F.count(column) for column in columns.values())]
    counts += [F.count_distinct(columns[name]) for name in names if name in countable]
    row = list(frame.agg(*counts).collect()[0])
    rows, present, distinct = row[0], row[1 : 1 + len(names)], iter(row[1 + len(names) :])
    return OutputQuality(
        rows,
        {
            name: ColumnCounts(rows - count, next(distinct) if name in countable else None)
            for name, count in zip(names, present, strict=True)
        },
    )


def _read(spark: SparkSession, dataset: DatasetRef) -> DataFrame | None:
    if dataset.symlink is not None:
        return spark.table(dataset.symlink[1])
    if dataset.kind == "FILE" and dataset.uri is not None and dataset.format is not None:
        return spark.read.format(dataset.format).load(dataset.uri)
    return None
