"""From rows of the result down to the source rows, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING

from headwater.rows.identity import OUT_ID, out_id
from headwater.rows.provenance import Block, BlockLink, RowProvenance

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

MAX_PUSHED_ROWS = 500
"""Up to so many rows lead down as conditions, which sources can skip by; more of them as a table to be joined."""
MAX_LOCAL_ROWS = 5_000
"""Up to so many traced rows of a block are kept at hand, so that what is asked of them needs no further job."""
_GROUP_LINKS = ("aggregate", "chosen")
_FLOAT_TOLERANCE = 1e-9  # of a floating sum, which adds up in another order every time


@dataclass(frozen=True)
class TracedRows:
    """Traced rows: at hand if they were few, in Spark's cache if not."""

    frame: DataFrame
    is_local: bool

    @classmethod
    def collect(cls, provenance: RowProvenance, frame: DataFrame) -> TracedRows:
        cached = frame.persist()
        few = provenance.collect_distinct(cached, MAX_LOCAL_ROWS)
        if few is None:
            return cls(cached, False)
        cached.unpersist()
        return cls(few, True)

    @classmethod
    def on_demand(cls, frame: DataFrame) -> TracedRows:
        """Of rows that nothing is followed from: they are computed when somebody asks for them, and kept then."""
        return cls(frame.persist(), False)

    def link_values(self, link: BlockLink) -> DataFrame:
        """What of the rows leads down the link."""
        return self.frame.where(self.frame[link.present]).select(OUT_ID, *link.columns, *link.condition_columns)


@dataclass
class BackwardTrace:
    """The traced rows of each block, with the id of the result's row that led to them, and what they carry."""

    provenance: RowProvenance
    rows: DataFrame
    """The wanted rows of the result, under their names, and their ids."""
    by_block: dict[int, TracedRows] = field(default_factory=dict)
    given_rows: TracedRows | None = None
    """Wanted rows that were given."""
    missing_count: int = 0
    """How many of those the query, run again, does not give."""

    def pairs(self, source: int) -> DataFrame:
        """(out_id, file, row) of one source, each pair once."""
        from pyspark.sql import functions as F

        told = self.provenance.sources[source]
        pair = (OUT_ID, F.col(told.file).alias("file"), F.col(told.row).alias("row"))
        blocks = [
            block for block in self.provenance.blocks if source in block.sources and block.number in self.by_block
        ]
        if not blocks:  # only rows that are missing could come from there
            return self.rows.select(OUT_ID, F.lit("").alias("file"), F.lit(0).cast("long").alias("row")).where("false")
        found = [self.by_block[block.number].frame.select(*pair) for block in blocks]
        whole = reduce(lambda one, other: one.union(other), found).where(F.col("file").isNotNull())
        return whole if len(blocks) == 1 and self._has_unique_rows(blocks[0], source) else whole.distinct()

    def _has_unique_rows(self, block: Block, source: int) -> bool:
        """Whether a row of the source can be but once among the traced rows of a block: it meets nobody there, is not
        made several of, and one link leads there, from each row of the result once."""
        leading = [link for _, link in _links_to(block, self.provenance)]
        if len(leading) != 1 or leading[0].kind not in _GROUP_LINKS or self.provenance.sources[source].id == "content":
            return False
        course = self.provenance.block_path(block.number, self.provenance.sources[source].row)
        return course is not None and all(kind == "drop" for kind, _ in course.steps)

    def all_pairs(self) -> DataFrame:
        """(source, out_id, file, row) of every source: the whole answer by one job."""
        from pyspark.sql import functions as F

        every = (
            self.pairs(source.number).select(F.lit(source.number).alias("source"), "*")
            for source in self.provenance.sources
        )
        return reduce(lambda one, other: one.union(other), every)

    @property
    def notes(self) -> tuple[str, ...]:
        if not self.missing_count:
            return ()
        return (
            f"the query, run again, does not give {self.missing_count:,} of the rows asked about: nothing is behind these",
        )

    def release(self) -> None:
        for found in (*self.by_block.values(), *([self.given_rows] if self.given_rows else [])):
            if not found.is_local:
                with suppress(Exception):  # the session may have ended
                    found.frame.unpersist()


def trace(provenance: RowProvenance, where: Column | str | None = None, few: int = MAX_PUSHED_ROWS) -> BackwardTrace:
    """The wanted rows are those of the plan's result that meet ``where``."""
    top = provenance.frame(0)
    found = TracedRows.collect(provenance, with_out_ids(provenance, top if where is None else top.where(where)))
    return follow_links(provenance, BackwardTrace(provenance, result_rows(provenance, found.frame), {0: found}), few)


def trace_known(provenance: RowProvenance, wanted: DataFrame, few: int = MAX_PUSHED_ROWS) -> BackwardTrace:
    """The wanted rows are given: they have the result's columns, in its order, and are in it for certain."""
    from pyspark.sql import functions as F

    names = _column_names(provenance)
    wanted = wanted.toDF(*names)
    top = provenance.blocks[0]
    if provenance.is_ambiguous:
        found = TracedRows.collect(provenance, with_out_ids(provenance, _matching_rows(provenance, wanted)))
        return follow_links(
            provenance, BackwardTrace(provenance, result_rows(provenance, found.frame), {0: found}), few
        )
    known = TracedRows.collect(provenance, wanted.select(*names, _out_id_column(provenance, wanted)))
    if not top.sources and all(
        link.result_places is not None for link in top.links
    ):  # each row says itself where it leads
        leading = [
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
        found, lost = TracedRows(known.frame.select(OUT_ID, *leading), known.is_local), 0
    else:
        columns = [names[place] for place in provenance.identity]
        keyed = known.frame.select(OUT_ID, *columns)
        met = provenance.join_result(keyed, columns, few)
        found = TracedRows.collect(provenance, met.select(OUT_ID, *_carried_columns(top, provenance)))
        lost = _count_missing(known, found)
    steps = BackwardTrace(provenance, result_rows(provenance, known.frame), {0: found}, known, lost)
    return follow_links(provenance, steps, few)


def _count_missing(known: TracedRows, found: TracedRows) -> int:
    if known.is_local and found.is_local:  # without a job
        ids = ({row[0] for row in each.frame.select(OUT_ID).collect()} for each in (known, found))
        return len(next(ids) - next(ids))
    return known.frame.select(OUT_ID).distinct().join(found.frame, OUT_ID, "left_anti").count()


def _matching_rows(provenance: RowProvenance, wanted: DataFrame) -> DataFrame:
    """The result's rows, computed again, that are as the wanted ones: sums of floating numbers but for rounding, and
    whatever else may not repeat left out of the comparison."""
    from pyspark.sql import functions as F

    names = _column_names(provenance)
    top = provenance.frame(0)
    top = top.toDF(*names, *top.columns[len(names) :])
    given = wanted.toDF(*(f"{name}_wanted" for name in names)).distinct()
    same = F.lit(True)
    for place, column in enumerate(provenance.columns):
        one, other = F.col(names[place]), F.col(f"{names[place]}_wanted")
        if place not in provenance.unstable:
            same = same & one.eqNullSafe(other)
        elif column.type in ("double", "float"):
            near = F.abs(one - other) <= F.greatest(F.abs(one), F.abs(other)) * _FLOAT_TOLERANCE
            same = same & (one.eqNullSafe(other) | F.coalesce(near, F.lit(False)))
    return top.join(given, same, "left_semi")


def _column_names(provenance: RowProvenance) -> list[str]:
    """Names of our own for the result's columns: two of theirs may be the same."""
    return [f"__hw_c{place}" for place in range(len(provenance.columns))]


def _out_id_column(provenance: RowProvenance, rows: DataFrame) -> Column:
    types = {field.name: field.dataType for field in rows.schema.fields}
    names = _column_names(provenance)
    told = [names[place] for place in provenance.identity] + [
        name for name in provenance.group_columns if name in types
    ]
    return out_id([(rows[name], types[name]) for name in told])


def with_out_ids(provenance: RowProvenance, top: DataFrame) -> DataFrame:
    """Rows of the uppermost block under names of our own, with the ids of the result's rows."""
    names = _column_names(provenance)
    top = top.toDF(*names, *top.columns[len(names) :])
    return top.select("*", _out_id_column(provenance, top))


def result_rows(provenance: RowProvenance, top: DataFrame) -> DataFrame:
    """The result's rows under their own names, and their ids; equal ones once."""
    columns = (column.name for column in provenance.columns)
    return top.select(*_column_names(provenance), OUT_ID).distinct().toDF(*columns, OUT_ID)


def follow_links(provenance: RowProvenance, steps: BackwardTrace, few: int) -> BackwardTrace:
    """Down every link, from blocks that have been traced to those that have not."""
    for block in provenance.blocks:  # parents first
        reached = [
            below.select(OUT_ID, *_carried_columns(block, provenance))
            for above, link in _links_to(block, provenance)
            if above in steps.by_block
            for below in [provenance.follow(link, steps.by_block[above].link_values(link), few)]
        ]
        if reached:
            whole = reduce(lambda one, other: one.union(other), reached)
            found = TracedRows.collect(provenance, whole) if block.links else TracedRows.on_demand(whole)
            steps.by_block[block.number] = found
    return steps


def _links_to(block: Block, provenance: RowProvenance) -> Iterator[tuple[int, BlockLink]]:
    return ((each.number, link) for each in provenance.blocks for link in each.links if link.to == block.number)


def _carried_columns(block: Block, provenance: RowProvenance) -> list[str]:
    ids = [
        name for number in block.sources for name in (provenance.sources[number].file, provenance.sources[number].row)
    ]
    links = [name for link in block.links for name in (link.present, *link.columns, *link.condition_columns)]
    return ids + links
