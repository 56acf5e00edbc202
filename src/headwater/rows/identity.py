"""The id of a result row: 128 bits of the columns that identify it, the same in every execution.

Two hashes of 64 bits, of values and of which of them are null (Spark's hash passes over nulls). Rows with equal columns
share an id.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType

OUT_ID = "out_id"
_SEEDS = (0, 1)
_NESTED = ("struct<", "array<", "map<", "variant")


def out_id(columns: Sequence[tuple[Column, DataType]]) -> Column:
    from pyspark.sql import functions as F

    halves = [F.lpad(F.hex(half), 16, "0") for half in id_halves(columns)]
    return F.lower(F.concat(*halves)).alias(OUT_ID)


def id_halves(columns: Sequence[tuple[Column, DataType]]) -> list[Column]:
    """The two numbers of 64 bits that make up the id."""
    from pyspark.sql import functions as F

    values: list[Column] = []
    for column, type in columns:
        values += [column.isNull(), _hashable(column, type)]
    return [F.xxhash64(F.lit(seed), *values) for seed in _SEEDS]


def _hashable(column: Column, type: DataType) -> Column:
    from pyspark.sql import functions as F

    nested = type.simpleString().startswith(_NESTED)  # within these too, the hash would pass over nulls
    return F.to_json(F.struct(column), {"ignoreNullFields": "false"}) if nested else column
