"""Correlation ids: 128 bits that identify a row of a source, the same in every run.

Within Spark an id is two numbers. They are hashes of the declared key, else of the row's position in its file, else of
its content and a number among equal rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import UUID, uuid5

from headwater.redaction.shapes import MARK
from headwater.rows.identity import hashable_values, id_halves

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

HI, LO = "__hw_hi", "__hw_lo"
KEY = "__hw_key"
ID = (HI, LO)
MAX_NAMED = 100
"""Maximum number of contributors that a record names."""


@dataclass(frozen=True)
class ItemIdSql:
    """SQL expressions for the id and the key of a table's rows."""

    hi: str
    lo: str
    key: str


def source_salt(pipeline_id: str, source: str) -> str:
    """A salt, so that rows of two sources with equal keys are two items."""
    return uuid5(UUID(pipeline_id), source).hex


def key_ids(salt: str, rows: DataFrame, names: Sequence[str]) -> ItemIdSql:
    """Ids from key columns of the rows."""
    columns = ", ".join(f"`{name.replace('`', '``')}`" for name in names)
    key = f"to_json(struct({columns}), map('ignoreNullFields', 'false'))"
    return _hashed_ids(salt, hashable_values(rows, names), key)


def without_key_values(ids: ItemIdSql, names: Sequence[str]) -> ItemIdSql:
    """The same ids with a key that names its columns and hides their values."""
    columns = ", ".join(f"'{MARK}' as `{name.replace('`', '``')}`" for name in names)
    return replace(ids, key=f"to_json(struct({columns}))")


def position_ids(salt: str) -> ItemIdSql:
    """Ids from positions in Parquet files."""
    expressions = ["_metadata.file_path", "_metadata.row_index"]
    return _hashed_ids(salt, expressions, "to_json(struct(_metadata.file_path as file, _metadata.row_index as row))")


def stored_ids() -> ItemIdSql:
    """Ids of a table that was stored with them."""
    return ItemIdSql(f"`{HI}`", f"`{LO}`", f"`{KEY}`")


def add_content_ids(rows: DataFrame, salt: str) -> DataFrame:
    """Adds ids from the content of rows. Equal rows are numbered, in any order."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    halves = id_halves(rows, rows.columns, exact=True)
    hashed = rows.select("*", *(half.alias(name) for half, name in zip(halves, ID, strict=True)))
    equal = Window.partitionBy(*ID).orderBy(*ID)
    numbered = hashed.select("*", F.row_number().over(equal).alias(KEY))
    ids = [F.xxhash64(F.lit(seed), F.lit(salt), *ID, KEY).alias(name) for seed, name in enumerate(ID)]
    key = F.to_json(F.struct(F.hex(HI).alias("content"), F.col(KEY).alias("number"))).alias(KEY)
    return numbered.select(*(f"`{name}`" for name in rows.columns), *ids, key)


def _hashed_ids(salt: str, expressions: Sequence[str], key: str) -> ItemIdSql:
    inner = ", ".join(expressions)
    return ItemIdSql(f"xxhash64(0, '{salt}', {inner})", f"xxhash64(1, '{salt}', {inner})", key)


def correlation_uuid(hi: Column, lo: Column) -> Column:
    """The id as a UUID."""
    from pyspark.sql import functions as F

    first, last = (F.lower(F.lpad(F.hex(half), 16, "0")) for half in (hi, lo))
    return F.concat_ws(
        "-",
        F.substring(first, 1, 8),
        F.substring(first, 9, 4),
        F.substring(first, 13, 4),
        F.substring(last, 1, 4),
        F.substring(last, 5, 12),
    )


def sample_items(rows: DataFrame, by: Sequence[str], item: Sequence[str] = ID) -> DataFrame:
    """The number of items in each group, a deterministic sample of them, and whether it is incomplete. A large group is
    never collected in one task. ``rows`` have an item at most a few times in each group."""
    from pyspark.sql import functions as F

    hi, lo = item
    share = F.pmod(lo, F.lit(MAX_NAMED // 2)).alias("__hw_share")
    # The least and the greatest of each share, as numbers: for structs or texts, Spark would sort.
    ends = [F.min_by(hi, lo).alias("hi"), F.min(lo).alias("lo"), F.max_by(hi, lo).alias("hi2"), F.max(lo).alias("lo2")]
    shares = rows.groupBy(*by, share).agg(F.count("*").alias("count"), *ends)
    first, last = F.struct("hi", "lo"), F.struct(F.col("hi2").alias("hi"), F.col("lo2").alias("lo"))
    first_and_last = F.when(F.col("lo") == F.col("lo2"), F.array(first)).otherwise(F.array(first, last))
    cut = (F.col("count") > 2) & (F.col("lo") != F.col("lo2"))
    return shares.groupBy(*by).agg(
        F.sum("count").alias("__hw_count"),
        F.flatten(F.collect_list(first_and_last)).alias("__hw_names"),
        F.bool_or(cut).alias("__hw_cut"),
    )


def id_numbers(correlation_id: str) -> tuple[int, int]:
    """The two numbers of an id."""
    id_bytes = UUID(correlation_id).bytes
    return int.from_bytes(id_bytes[:8], signed=True), int.from_bytes(id_bytes[8:], signed=True)


@dataclass(frozen=True)
class Sampling:
    """Which items are followed: all of them, or one in ``every``. They are the same in every run, except with a
    ``salt`` for this run."""

    every: int = 1
    salt: str | None = None

    def condition(self, lo: Column) -> Column | None:
        """The condition for followed items; None if all are followed."""
        from pyspark.sql import functions as F

        if self.every <= 1:
            return None
        number = lo if self.salt is None else F.xxhash64(F.lit(self.salt), lo)
        return F.pmod(number, F.lit(self.every)) == 0
