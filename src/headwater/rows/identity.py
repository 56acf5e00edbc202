"""The id of a result row: 128 bits of the columns that identify it, the same in every execution.

Two hashes of 64 bits of the values (jvm/RowHash.java). Rows with equal columns share an id.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from headwater.jvm import JavaObject, gateway_of
from headwater.rows.column_names import OUT_ID
from headwater.rows.provenance import block_classes

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

ColumnPath = str | tuple[str, ...]
"""A column of a frame, or a column and the fields below it."""


def out_id(frame: DataFrame, columns: Iterable[ColumnPath], *, exact: bool) -> Column:
    from pyspark.sql import functions as F

    halves = [F.lpad(F.hex(half), 16, "0") for half in id_halves(frame, columns, exact=exact)]
    return F.lower(F.concat(*halves)).alias(OUT_ID)


def id_halves(frame: DataFrame, columns: Iterable[ColumnPath], *, exact: bool) -> list[Column]:
    """The two numbers of 64 bits that make up the id. ``exact``: every difference between values counts; otherwise
    values that SQL takes for equal, as 0.0 and -0.0, have equal ids."""
    from pyspark.sql import functions as F

    row_hash, paths = _row_hash(frame, columns, exact)
    schema = frame._jdf.schema()
    with_keys = row_hash.columns(frame.sparkSession._jsparkSession, schema, paths)
    if with_keys is None:
        return [F.expr(str(text)) for text in row_hash.halves(schema, paths)]
    from pyspark.sql.classic.column import Column

    return [Column(half) for half in with_keys]


def hashable_values(frame: DataFrame, columns: Iterable[ColumnPath]) -> list[str]:
    """SQL of the values to hash, for hashes that values have in common which SQL takes for equal."""
    row_hash, paths = _row_hash(frame, columns, exact=False)
    return [str(text) for text in row_hash.parts(frame._jdf.schema(), paths)]


def _row_hash(frame: DataFrame, columns: Iterable[ColumnPath], exact: bool) -> tuple[JavaObject, JavaObject]:
    gateway = gateway_of(frame.sparkSession.sparkContext)
    paths = gateway.jvm.java.util.ArrayList()
    for column in columns:
        path = gateway.jvm.java.util.ArrayList()
        for name in (column,) if isinstance(column, str) else column:
            path.add(name)
        paths.add(path)
    return block_classes(gateway).new("RowHash", exact), paths
