"""The items that made a row together: those that it carries, or those in a table of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add, or_
from typing import TYPE_CHECKING

from headwater.pipeline.items.general_path import ROW_HI, ROW_LO
from headwater.pipeline.items.item_ids import sample_items

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def count_items(ids: Sequence[tuple[str, str]]) -> Column:
    """The number of distinct items in the columns, without the array that would be made for every row."""
    from pyspark.sql import functions as F

    unique_ids = list(dict.fromkeys(ids))
    counted = [
        F.when(
            _is_present(item_id)
            & ~reduce(or_, [_is_same_item(item_id, earlier) for earlier in unique_ids[:position]], F.lit(False)),
            1,
        ).otherwise(0)
        for position, item_id in enumerate(unique_ids)
    ]
    return reduce(add, counted, F.lit(0))


def other_items(own: tuple[str, str], ids: Sequence[tuple[str, str]]) -> list[tuple[Column, Column]]:
    """The other items in the columns, each with the condition that there is one."""
    from pyspark.sql import functions as F

    return [
        (
            _is_present(item_id) & ~_is_same_item(item_id, own),
            F.struct(F.col(item_id[0]).alias("hi"), F.col(item_id[1]).alias("lo")),
        )
        for item_id in dict.fromkeys(ids)
        if item_id != own
    ]


def _is_present(item_id: tuple[str, str]) -> Column:
    from pyspark.sql import functions as F

    return F.col(item_id[0]).isNotNull()


def _is_same_item(left: tuple[str, str], right: tuple[str, str]) -> Column:
    from pyspark.sql import functions as F

    return F.col(left[0]).eqNullSafe(F.col(right[0])) & F.col(left[1]).eqNullSafe(F.col(right[1]))


def contributor_table(rows: DataFrame, *, counted: bool, named: bool) -> DataFrame:
    """A table of the items that made each row. ``rows`` are (row, item), each once."""
    from pyspark.sql import functions as F

    no_items = F.lit(None).cast("array<struct<hi:bigint,lo:bigint>>")
    names = F.col("__hw_names")
    return sample_items(rows, (ROW_HI, ROW_LO)).select(
        F.col(ROW_HI).alias("hi"),
        F.col(ROW_LO).alias("lo"),
        (F.col("__hw_count") if counted else F.lit(None)).cast("bigint").alias("contributors"),
        (names if named else no_items).alias("names"),
        (F.col("__hw_cut") if named else F.lit(False)).alias("cut"),
    )
