"""From rows of the result down to the source rows, block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import TYPE_CHECKING

from headwater.rows.column_names import OUT_ID, free_names
from headwater.rows.grain import Grain
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
_WANTED = "_wanted"
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
    stored: Sequence[str | None] = ()
    """By column, what became of a value when it was stored and read; nothing for rows that were computed."""
    missing_count: int = 0
    """How many of those the query, run again, does not return."""
    exceeds_limit: bool = False
    """Whether more rows equal the given ones than were given: a limit took some of them, which is not known."""

    @property
    def grain(self) -> Grain:
        """The finest grain that the traced rows themselves allow, whatever the plan promises."""
        return "opaque" if self.missing_count else "group" if self.exceeds_limit else "exact"

    @cached_property
    def unreached_count(self) -> int:
        """How many traced rows say which group they are, and the group has no rows."""
        return sum(
            self.by_block[0]
            .link_values(link)
            .select(OUT_ID)
            .distinct()
            .join(self.by_block[link.to].frame.select(OUT_ID), OUT_ID, "left_anti")
            .count()
            for link in self.provenance.blocks[0].links
            if link.kind in _GROUP_LINKS and link.columns and link.to in self.by_block
        )

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
        notes = []
        if self.missing_count:
            notes.append(
                f"the query, run again, does not return {self.missing_count:,} of the traced rows: "
                "these have no source rows"
            )
        if self.exceeds_limit:
            notes.append("rows beyond a limit have the same values: which of them the limit took is not known")
        return tuple(notes)

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
    stored = stored or [None] * len(provenance.columns)
    wanted = wanted.toDF(*internal_names(provenance))
    if provenance.is_ambiguous:
        steps = _trace_matching(provenance, wanted, stored)
    else:
        given_rows = TracedRows.collect(provenance, wanted.select("*", _out_id_column(provenance, wanted)))
        top_rows, missing_count = _top_rows(provenance, given_rows, stored, max_pushed_rows)
        steps = BackwardTrace(
            provenance, result_rows(provenance, given_rows.frame), {0: top_rows}, given_rows, stored, missing_count
        )
    if provenance.exceeds_limit:
        steps.exceeds_limit = steps.by_block[0].frame.count() > wanted.count()
    return follow_links(provenance, steps, max_pushed_rows)


def _trace_matching(provenance: RowProvenance, wanted: DataFrame, stored: Sequence[str | None]) -> BackwardTrace:
    """Starts from the computed rows that equal the wanted ones as far as another execution repeats them."""
    names = internal_names(provenance)
    top = provenance.frame(0)
    top = comparable(provenance, as_stored(top.toDF(*names, *top.columns[len(names) :]), names, stored))
    given = with_suffix(comparable(provenance, wanted), _WANTED)
    matching = top.join(given, is_same_row(provenance, _WANTED), "left_semi").drop(*_HALVES)
    top_rows = TracedRows.collect(provenance, with_out_ids(provenance, matching))
    computed = comparable(provenance, top_rows.frame.select(*names))
    missing_count = given.join(computed, is_same_row(provenance, _WANTED), "left_anti").count()
    return BackwardTrace(
        provenance, result_rows(provenance, top_rows.frame), {0: top_rows}, None, stored, missing_count
    )


def _top_rows(
    provenance: RowProvenance, given_rows: TracedRows, stored: Sequence[str | None], max_pushed_rows: int
) -> tuple[TracedRows, int]:
    """The given rows with their carried columns, and how many of them the query does not return."""
    from pyspark.sql import functions as F

    names = internal_names(provenance)
    top = provenance.blocks[0]
    if top.sources or not all(has_link_values(link, stored) for link in top.links):
        columns = [names[place] for place in provenance.identity]
        keyed = given_rows.frame.select(OUT_ID, *columns)
        matched = provenance.join_result(keyed, columns, stored, max_pushed_rows)
        top_rows = TracedRows.collect(provenance, matched.select(OUT_ID, *_carried_columns(top, provenance)))
        return top_rows, _count_missing(given_rows, top_rows)
    link_columns = []
    for link in top.links:  # each row itself has the values that lead down
        link_columns.append(F.lit(True).alias(link.present))
        for name, place in zip(link.columns, link.result_places or (), strict=True):
            link_columns.append(F.col(names[place]).alias(name))
    return TracedRows(given_rows.frame.select(OUT_ID, *link_columns), given_rows.is_local), 0


def has_link_values(link: BlockLink, stored: Sequence[str | None]) -> bool:
    """Whether a stored row itself has the values that lead down."""
    return link.result_places is not None and all(stored[place] is None for place in link.result_places)


def _count_missing(given_rows: TracedRows, traced_rows: TracedRows) -> int:
    if given_rows.is_local and traced_rows.is_local:  # without a job
        ids = ({row[0] for row in rows.frame.select(OUT_ID).collect()} for rows in (given_rows, traced_rows))
        return len(next(ids) - next(ids))
    return given_rows.frame.select(OUT_ID).distinct().join(traced_rows.frame, OUT_ID, "left_anti").count()


def comparable(provenance: RowProvenance, rows: DataFrame, *, exact: bool = True) -> DataFrame:
    """The rows with two more columns, which are equal where all columns are that another execution repeats: equal in
    every bit, or, if not ``exact``, as SQL compares."""
    names = internal_names(provenance)
    stable = [name for place, name in enumerate(names) if place not in provenance.unstable]
    halves = id_halves(rows, stable, exact=exact)
    return rows.select("*", *(half.alias(name) for half, name in zip(halves, _HALVES, strict=True)))


def with_suffix(rows: DataFrame, suffix: str) -> DataFrame:
    return rows.toDF(*(f"{name}{suffix}" for name in rows.columns))


def is_same_row(provenance: RowProvenance, suffix: str) -> Column:
    """Whether comparable rows are the same as others, whose columns have the suffix. Floating-point sums are compared
    up to rounding, and other columns that may differ in another execution are not compared."""
    from pyspark.sql import functions as F

    conditions = [F.col(half) == F.col(f"{half}{suffix}") for half in _HALVES]
    for place, (name, column) in enumerate(zip(internal_names(provenance), provenance.columns, strict=True)):
        if place in provenance.unstable and column.type in ("double", "float"):
            conditions.append(is_close(F.col(name), F.col(f"{name}{suffix}")))
    return reduce(lambda left, right: left & right, conditions)


def as_stored(rows: DataFrame, names: Sequence[str], stored: Sequence[str | None]) -> DataFrame:
    """The rows with the values of these columns, which are the first ones, as they were stored."""
    from pyspark.sql import functions as F

    values = [
        F.col(name) if text is None else F.expr(text.replace(VALUE, f"`{name}`")).alias(name)
        for name, text in zip(names, stored, strict=True)
    ]
    return rows.select(*values, *rows.columns[len(names) :]) if any(stored) else rows


def is_close(one: Column, other: Column) -> Column:
    """Whether two floating-point numbers are equal up to rounding, or both null."""
    from pyspark.sql import functions as F

    is_near = F.abs(one - other) <= F.greatest(F.abs(one), F.abs(other)) * _FLOAT_TOLERANCE
    return one.eqNullSafe(other) | F.coalesce(is_near, F.lit(False))


def internal_names(provenance: RowProvenance) -> list[str]:
    """Internal names for the result's columns, whose own names may repeat."""
    return [f"__hw_c{place}" for place in range(len(provenance.columns))]


def _out_id_column(provenance: RowProvenance, rows: DataFrame) -> Column:
    names = internal_names(provenance)
    identity = [names[place] for place in provenance.identity] + [
        name for name in provenance.group_columns if name in rows.columns
    ]
    return out_id(rows, identity, exact=not provenance.has_key)


def with_out_ids(provenance: RowProvenance, top: DataFrame) -> DataFrame:
    """Rows of the top block under internal names, with the ids of the result's rows."""
    names = internal_names(provenance)
    top = top.toDF(*names, *top.columns[len(names) :])
    return top.select("*", _out_id_column(provenance, top))


def result_rows(provenance: RowProvenance, top: DataFrame) -> DataFrame:
    """The result's rows under their own names, and their ids; equal ones once."""
    columns = [column.name for column in provenance.columns]
    rows = provenance.distinct_rows(top.select(*internal_names(provenance), OUT_ID))
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
