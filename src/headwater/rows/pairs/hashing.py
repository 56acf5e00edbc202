"""64-bit hashes of the values that lead from one block to the next.

Two groups of the n in a block share a number with a chance of n² / 2⁶⁵, and the answer about one row is wrong with a
chance of n / 2⁶⁴: for a thousand million groups, one in 2·10¹⁰ answers has rows of another group in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headwater.errors import RowsRefused
from headwater.rows.identity import id_halves

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType


def hash_columns(frame: DataFrame, names: Sequence[str]) -> Column:
    """Equal for equal values, null for null."""
    types = {field.name: field.dataType for field in frame.schema.fields}
    return id_halves([_comparable(frame[name], types[name]) for name in names])[0]


def _comparable(column: Column, type: DataType) -> tuple[Column, DataType]:
    """Converts a column so that Spark's hash agrees with Spark's equality: the hash alone ignores nulls within structs
    and arrays, and collations."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import StringType

    text = type.simpleString()
    nested = text.startswith(("struct<", "array<", "map<")) or text == "variant"
    if nested and any(word in text for word in ("float", "double", "collate", "map<", "variant")):
        raise RowsRefused([f"pair tables cannot be keyed by {text}"])
    if nested:
        return F.to_json(F.struct(column.alias("v")), {"ignoreNullFields": "false"}), StringType()
    if "collate" in text:
        return F.call_function("collation_key", column), StringType()
    return column, type
