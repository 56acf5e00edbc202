"""From rows of the result down to the source rows, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING

from headwater.rows.identity import OUT_ID, out_id
from headwater.rows.provenance import Block, Link, Provenance

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

FEW = 500
"""Up to so many rows lead down as conditions, which sources can skip by; more of them as a table to be joined."""
AT_HAND = 5_000
"""Up to so many traced rows of a block are kept at hand, so that what is asked of them needs no further job."""
_KEYED = ("aggregate", "chosen")
_ROUNDING = 1e-9  # of a floating sum, which adds up in another order every time


@dataclass(frozen=True)
class Found:
    """Traced rows: at hand if they were few, in Spark's cache if not."""

    frame: DataFrame
    at_hand: bool

    @classmethod
    def of(cls, provenance: Provenance, frame: DataFrame) -> Found:
        cached = frame.persist()
        few = provenance.bring(cached, AT_HAND)
        if few is None:
            return cls(cached, False)
        cached.unpersist()
        return cls(few, True)

    @classmethod
    def once_asked(cls, frame: DataFrame) -> Found:
        """Of rows that nothing is followed from: they are computed when somebody asks for them, and kept then."""
        return cls(frame.persist(), False)

    def leading(self, link: Link) -> DataFrame:
        """What of the rows leads down the link."""
        return self.frame.where(self.frame[link.here]).select(OUT_ID, *link.columns, *link.seen)


@dataclass
class Steps:
    """The traced rows of each block, with the id of the result's row that led to them, and what they carry."""

    provenance: Provenance
    rows: DataFrame
    """The wanted rows of the result, under their names, and their ids."""
    of_block: dict[int, Found] = field(default_factory=dict)
    known: Found | None = None
    """Wanted rows that were given."""
    lost: int = 0
    """How many of those the query, run again, does not give."""

    def pairs(self, source: int) -> DataFrame:
        """(out_id, file, row) of one source, each pair once."""
        from pyspark.sql import functions as F

        told = self.provenance.sources[source]
        pair = (OUT_ID, F.col(told.file).alias("file"), F.col(told.row).alias("row"))
        blocks = [
            block for block in self.provenance.blocks if source in block.sources and block.number in self.of_block
        ]
        if not blocks:  # only rows that are missing could come from there
            return self.rows.select(OUT_ID, F.lit("").alias("file"), F.lit(0).cast("long").alias("row")).where("false")
        found = [self.of_block[block.number].frame.select(*pair) for block in blocks]
        whole = reduce(lambda one, other: one.union(other), found).where(F.col("file").isNotNull())
        return whole if len(blocks) == 1 and self._holds_once(blocks[0], source) else whole.distinct()

    def _holds_once(self, block: Block, source: int) -> bool:
        """Whether a row of the source can be but once among the traced rows of a block: it meets nobody there, is not
        made several of, and one link leads there, from each row of the result once."""
        leading = [link for _, link in _leading_to(block, self.provenance)]
        if len(leading) != 1 or leading[0].kind not in _KEYED or self.provenance.sources[source].id == "content":
            return False
        course = self.provenance.course(block.number, self.provenance.sources[source].row)
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
        if not self.lost:
            return ()
        return (f"the query, run again, does not give {self.lost:,} of the rows asked about: nothing is behind these",)

    def release(self) -> None:
        for found in (*self.of_block.values(), *([self.known] if self.known else [])):
            if not found.at_hand:
                with suppress(Exception):  # the session may have ended
                    found.frame.unpersist()


def trace(provenance: Provenance, where: Column | str | None = None, few: int = FEW) -> Steps:
    """The wanted rows are those of the plan's result that meet ``where``."""
    top = provenance.frame(0)
    found = Found.of(provenance, identified(provenance, top if where is None else top.where(where)))
    return follow(provenance, Steps(provenance, result_rows(provenance, found.frame), {0: found}), few)


def trace_known(provenance: Provenance, wanted: DataFrame, few: int = FEW) -> Steps:
    """The wanted rows are given: they have the result's columns, in its order, and are in it for certain."""
    from pyspark.sql import functions as F

    names = _places(provenance)
    wanted = wanted.toDF(*names)
    top = provenance.blocks[0]
    if provenance.blurred:
        found = Found.of(provenance, identified(provenance, _alike(provenance, wanted)))
        return follow(provenance, Steps(provenance, result_rows(provenance, found.frame), {0: found}), few)
    known = Found.of(provenance, wanted.select(*names, _identity(provenance, wanted)))
    if not top.sources and all(link.direct is not None for link in top.links):  # each row says itself where it leads
        leading = [
            column
            for link in top.links
            for column in (
                F.lit(True).alias(link.here),
                *(F.col(names[place]).alias(name) for name, place in zip(link.columns, link.direct or (), strict=True)),
            )
        ]
        found, lost = Found(known.frame.select(OUT_ID, *leading), known.at_hand), 0
    else:
        columns = [names[place] for place in provenance.identity]
        keyed = known.frame.select(OUT_ID, *columns)
        met = provenance.meet(keyed, columns, few)
        found = Found.of(provenance, met.select(OUT_ID, *_carried(top, provenance)))
        lost = _lost(known, found)
    steps = Steps(provenance, result_rows(provenance, known.frame), {0: found}, known, lost)
    return follow(provenance, steps, few)


def _lost(known: Found, found: Found) -> int:
    if known.at_hand and found.at_hand:  # without a job
        ids = ({row[0] for row in each.frame.select(OUT_ID).collect()} for each in (known, found))
        return len(next(ids) - next(ids))
    return known.frame.select(OUT_ID).distinct().join(found.frame, OUT_ID, "left_anti").count()


def _alike(provenance: Provenance, wanted: DataFrame) -> DataFrame:
    """The result's rows, computed again, that are as the wanted ones: sums of floating numbers but for rounding, and
    whatever else may not repeat left out of the comparison."""
    from pyspark.sql import functions as F

    names = _places(provenance)
    top = provenance.frame(0)
    top = top.toDF(*names, *top.columns[len(names) :])
    given = wanted.toDF(*(f"{name}_wanted" for name in names)).distinct()
    same = F.lit(True)
    for place, column in enumerate(provenance.columns):
        one, other = F.col(names[place]), F.col(f"{names[place]}_wanted")
        if place not in provenance.unstable:
            same = same & one.eqNullSafe(other)
        elif column.type in ("double", "float"):
            near = F.abs(one - other) <= F.greatest(F.abs(one), F.abs(other)) * _ROUNDING
            same = same & (one.eqNullSafe(other) | F.coalesce(near, F.lit(False)))
    return top.join(given, same, "left_semi")


def _places(provenance: Provenance) -> list[str]:
    """Names of our own for the result's columns: two of theirs may be the same."""
    return [f"__hw_c{place}" for place in range(len(provenance.columns))]


def _identity(provenance: Provenance, rows: DataFrame) -> Column:
    types = {field.name: field.dataType for field in rows.schema.fields}
    names = _places(provenance)
    told = [names[place] for place in provenance.identity] + [name for name in provenance.apart if name in types]
    return out_id([(rows[name], types[name]) for name in told])


def identified(provenance: Provenance, top: DataFrame) -> DataFrame:
    """Rows of the uppermost block under names of our own, with the ids of the result's rows."""
    names = _places(provenance)
    top = top.toDF(*names, *top.columns[len(names) :])
    return top.select("*", _identity(provenance, top))


def result_rows(provenance: Provenance, top: DataFrame) -> DataFrame:
    """The result's rows under their own names, and their ids; equal ones once."""
    columns = (column.name for column in provenance.columns)
    return top.select(*_places(provenance), OUT_ID).distinct().toDF(*columns, OUT_ID)


def follow(provenance: Provenance, steps: Steps, few: int) -> Steps:
    """Down every link, from blocks that have been traced to those that have not."""
    for block in provenance.blocks:  # parents first
        reached = [
            below.select(OUT_ID, *_carried(block, provenance))
            for above, link in _leading_to(block, provenance)
            if above in steps.of_block
            for below in [provenance.follow(link, steps.of_block[above].leading(link), few)]
        ]
        if reached:
            whole = reduce(lambda one, other: one.union(other), reached)
            found = Found.of(provenance, whole) if block.links else Found.once_asked(whole)
            steps.of_block[block.number] = found
    return steps


def _leading_to(block: Block, provenance: Provenance) -> Iterator[tuple[int, Link]]:
    return ((each.number, link) for each in provenance.blocks for link in each.links if link.to == block.number)


def _carried(block: Block, provenance: Provenance) -> list[str]:
    ids = [
        name for number in block.sources for name in (provenance.sources[number].file, provenance.sources[number].row)
    ]
    links = [name for link in block.links for name in (link.here, *link.columns, *link.seen)]
    return ids + links
