"""From rows of the result down to the source rows, block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING

from headwater.rows.column_names import OUT_ID, free_names
from headwater.rows.identity import id_halves, out_id
from headwater.rows.provenance import Block, BlockLink, RowProvenance
from headwater.rows.stored_values import VALUE

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

MAX_PUSHED_ROWS = 500
"""Up to this many rows are pushed down as conditions, by which sources skip; more rows become a table that is
joined."""
MAX_LOCAL_ROWS = 5_000
"""Up to this many traced rows of a block are collected, so that later steps need no further job for them."""
_GROUP_LINKS = ("aggregate", "chosen")
_HALVES = ("__hw_h0", "__hw_h1")
_FLOAT_TOLERANCE = 1e-9  # of a floating sum, which adds up in another order every time


@dataclass(frozen=True)
class TracedRows:
    """Traced rows: collected if there are few of them, else in Spark's cache."""

    frame: DataFrame
    is_local: bool

    @classmethod
    def collect(cls, provenance: RowProvenance, frame: DataFrame) -> TracedRows:
        cached = frame.persist()
        local = provenance.collect_distinct(cached, MAX_LOCAL_ROWS)
        if local is None:
            return cls(cached, False)
        cached.unpersist()
        return cls(local, True)

    @classmethod
    def on_demand(cls, frame: DataFrame) -> TracedRows:
        """For rows from which no link leads on: they are computed, and cached, only when they are read."""
        return cls(frame.persist(), False)

    def link_values(self, link: BlockLink) -> DataFrame:
        """The values by which the rows lead down the link."""
        return self.frame.where(self.frame[link.present]).select(OUT_ID, *link.columns, *link.condition_columns)


@dataclass
class BackwardTrace:
    """The traced rows of each block, each with the id of the result row that led to it."""

    provenance: RowProvenance
    rows: DataFrame
    """The traced rows of the result, under their names, and their ids, which are the last column."""
    by_block: dict[int, TracedRows] = field(default_factory=dict)
    given_rows: TracedRows | None = None
    """The rows that the caller passed, if it did."""
    missing_count: int = 0
    """How many of those the query, run again, does not return."""

    def pairs(self, source: int) -> DataFrame:
        """(out_id, file, row) of one source, each pair once."""
        from pyspark.sql import functions as F

        source_columns = self.provenance.sources[source]
        pair = (OUT_ID, F.col(source_columns.file).alias("file"), F.col(source_columns.row).alias("row"))
        blocks = [
            block for block in self.provenance.blocks if source in block.sources and block.number in self.by_block
        ]
        if not blocks:  # only missing rows could come from there
            no_rows = self.rows.select(
                F.lit("").alias(OUT_ID), F.lit("").alias("file"), F.lit(0).cast("long").alias("row")
            )
            return no_rows.where("false")
        frames = [self.by_block[block.number].frame.select(*pair) for block in blocks]
        pairs = reduce(lambda left, right: left.union(right), frames).where(F.col("file").isNotNull())
        return pairs if len(blocks) == 1 and self._has_unique_rows(blocks[0], source) else pairs.distinct()

    def _has_unique_rows(self, block: Block, source: int) -> bool:
        """Whether a source row occurs at most once among the traced rows of a block: nothing joins or multiplies it
        there, and only one link leads there, from each row of the result once."""
        links = [link for _, link in _links_to(block, self.provenance)]
        if len(links) != 1 or links[0].kind not in _GROUP_LINKS or self.provenance.sources[source].id == "content":
            return False
        path = self.provenance.block_path(block.number, self.provenance.sources[source].row)
        return path is not None and all(kind == "drop" for kind, _ in path.steps)

    def all_pairs(self) -> DataFrame:
        """(source, out_id, file, row) of every source: the whole answer in one job."""
        from pyspark.sql import functions as F

        frames = (
            self.pairs(source.number).select(F.lit(source.number).alias("source"), "*")
            for source in self.provenance.sources
        )
        return reduce(lambda left, right: left.union(right), frames)

    @property
    def notes(self) -> tuple[str, ...]:
        if not self.missing_count:
            return ()
        return (
            f"the query, run again, does not return {self.missing_count:,} of the traced rows: "
            "these have no source rows",
        )

    def release(self) -> None:
        for rows in (*self.by_block.values(), *([self.given_rows] if self.given_rows else [])):
            if not rows.is_local:
                with suppress(Exception):  # the session may have ended
                    rows.frame.unpersist()


def trace(
    provenance: RowProvenance, where: Column | str | None = None, max_pushed_rows: int = MAX_PUSHED_ROWS
) -> BackwardTrace:
    """Traces the rows of the plan's result that meet ``where``."""
    top = provenance.frame(0)
    rows = TracedRows.collect(provenance, with_out_ids(provenance, top if where is None else top.where(where)))
    return follow_links(
        provenance, BackwardTrace(provenance, result_rows(provenance, rows.frame), {0: rows}), max_pushed_rows
    )


def trace_known(
    provenance: RowProvenance,
    wanted: DataFrame,
    max_pushed_rows: int = MAX_PUSHED_ROWS,
    stored: Sequence[str | None] | None = None,
) -> BackwardTrace:
    """Traces rows that the caller passes: they have the result's columns, in its order, and are certainly in it.
    ``stored``: by column, what became of a value when it was stored and read (stored_values.py)."""
    from pyspark.sql import functions as F

    stored = stored or [None] * len(provenance.columns)
    names = _column_names(provenance)
    wanted = wanted.toDF(*names)
    top = provenance.blocks[0]
    if provenance.is_ambiguous:
        top_rows = TracedRows.collect(provenance, with_out_ids(provenance, _matching_rows(provenance, wanted, stored)))
        return follow_links(
            provenance,
            BackwardTrace(provenance, result_rows(provenance, top_rows.frame), {0: top_rows}),
            max_pushed_rows,
        )
    given_rows = TracedRows.collect(provenance, wanted.select("*", _out_id_column(provenance, wanted)))
    if not top.sources and all(has_link_values(link, stored) for link in top.links):
        link_columns = [
            column
            for link in top.links
            for column in (
                F.lit(True).alias(link.present),
                *(
                    F.col(names[place]).alias(name)
                    for name, place in zip(link.columns, link.result_places or (), strict=True)
                ),
            )
        ]
        top_rows, missing_count = TracedRows(given_rows.frame.select(OUT_ID, *link_columns), given_rows.is_local), 0
    else:
        columns = [names[place] for place in provenance.identity]
        keyed = given_rows.frame.select(OUT_ID, *columns)
        matched = provenance.join_result(keyed, columns, stored, max_pushed_rows)
        top_rows = TracedRows.collect(provenance, matched.select(OUT_ID, *_carried_columns(top, provenance)))
        missing_count = _count_missing(given_rows, top_rows)
    steps = BackwardTrace(
        provenance, result_rows(provenance, given_rows.frame), {0: top_rows}, given_rows, missing_count
    )
    return follow_links(provenance, steps, max_pushed_rows)


def has_link_values(link: BlockLink, stored: Sequence[str | None]) -> bool:
    """Whether a stored row itself has the values that lead down."""
    return link.result_places is not None and all(stored[place] is None for place in link.result_places)


def _count_missing(given_rows: TracedRows, traced_rows: TracedRows) -> int:
    if given_rows.is_local and traced_rows.is_local:  # without a job
        ids = ({row[0] for row in rows.frame.select(OUT_ID).collect()} for rows in (given_rows, traced_rows))
        return len(next(ids) - next(ids))
    return given_rows.frame.select(OUT_ID).distinct().join(traced_rows.frame, OUT_ID, "left_anti").count()


def _matching_rows(provenance: RowProvenance, wanted: DataFrame, stored: Sequence[str | None]) -> DataFrame:
    """The result's rows, computed again, that equal the wanted ones. Floating-point sums are compared up to rounding,
    and other columns that may differ in another execution are not compared."""
    from pyspark.sql import functions as F

    names = _column_names(provenance)
    stable = [name for place, name in enumerate(names) if place not in provenance.unstable]
    top = provenance.frame(0)
    top = top.toDF(*names, *top.columns[len(names) :])
    top = as_stored(top, names, stored)
    top = top.select("*", *_named_halves(top, stable))
    given_rows = wanted.select("*", *_named_halves(wanted, stable))
    given_rows = given_rows.toDF(*(f"{name}_wanted" for name in given_rows.columns))
    is_same = reduce(lambda left, right: left & right, (F.col(half) == F.col(f"{half}_wanted") for half in _HALVES))
    for place, column in enumerate(provenance.columns):
        if place in provenance.unstable and column.type in ("double", "float"):
            computed, given = F.col(names[place]), F.col(f"{names[place]}_wanted")
            is_close = F.abs(computed - given) <= F.greatest(F.abs(computed), F.abs(given)) * _FLOAT_TOLERANCE
            is_same = is_same & (computed.eqNullSafe(given) | F.coalesce(is_close, F.lit(False)))
    return top.join(given_rows, is_same, "left_semi").drop(*_HALVES)


def as_stored(rows: DataFrame, names: Sequence[str], stored: Sequence[str | None]) -> DataFrame:
    """The rows with the values of these columns, which are the first ones, as they were stored."""
    from pyspark.sql import functions as F

    values = [
        F.col(name) if text is None else F.expr(text.replace(VALUE, f"`{name}`")).alias(name)
        for name, text in zip(names, stored, strict=True)
    ]
    return rows.select(*values, *rows.columns[len(names) :]) if any(stored) else rows


def _named_halves(frame: DataFrame, columns: Sequence[str]) -> list[Column]:
    return [half.alias(name) for half, name in zip(id_halves(frame, columns, exact=True), _HALVES, strict=True)]


def _column_names(provenance: RowProvenance) -> list[str]:
    """Internal names for the result's columns, whose own names may repeat."""
    return [f"__hw_c{place}" for place in range(len(provenance.columns))]


def _out_id_column(provenance: RowProvenance, rows: DataFrame) -> Column:
    names = _column_names(provenance)
    identity = [names[place] for place in provenance.identity] + [
        name for name in provenance.group_columns if name in rows.columns
    ]
    return out_id(rows, identity, exact=not provenance.has_key)


def with_out_ids(provenance: RowProvenance, top: DataFrame) -> DataFrame:
    """Rows of the top block under internal names, with the ids of the result's rows."""
    names = _column_names(provenance)
    top = top.toDF(*names, *top.columns[len(names) :])
    return top.select("*", _out_id_column(provenance, top))


def result_rows(provenance: RowProvenance, top: DataFrame) -> DataFrame:
    """The result's rows under their own names, and their ids; equal ones once."""
    columns = [column.name for column in provenance.columns]
    rows = provenance.distinct_rows(top.select(*_column_names(provenance), OUT_ID))
    return rows.toDF(*columns, *free_names([OUT_ID], columns))


def follow_links(provenance: RowProvenance, steps: BackwardTrace, max_pushed_rows: int) -> BackwardTrace:
    """Follows every link from traced blocks to blocks that are not traced yet."""
    for block in provenance.blocks:  # parents first
        reached = [
            below.select(OUT_ID, *_carried_columns(block, provenance))
            for above, link in _links_to(block, provenance)
            if above in steps.by_block
            for below in [provenance.follow(link, steps.by_block[above].link_values(link), max_pushed_rows)]
        ]
        if reached:
            rows = reduce(lambda left, right: left.union(right), reached)
            traced = TracedRows.collect(provenance, rows) if block.links else TracedRows.on_demand(rows)
            steps.by_block[block.number] = traced
    return steps


def _links_to(block: Block, provenance: RowProvenance) -> Iterator[tuple[int, BlockLink]]:
    return ((above.number, link) for above in provenance.blocks for link in above.links if link.to == block.number)


def _carried_columns(block: Block, provenance: RowProvenance) -> list[str]:
    ids = [
        name for number in block.sources for name in (provenance.sources[number].file, provenance.sources[number].row)
    ]
    links = [name for link in block.links for name in (link.present, *link.columns, *link.condition_columns)]
    return ids + links
