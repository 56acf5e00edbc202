"""The ledger of a captured write: of each input's rows, how many reached the output, exactly, by row lineage.

From the output down, block by block (rows/provenance.py): the rows of a block that rows above lead to are those that
reached the output, and each of them carries the places of its source rows. Places are counted by 64 in one number, a
bit each, so that a source row counts once, however often it was used, and little has to be brought together. A file
goes by 64 bits of its name, as in pair tables: of 20,000 files, two share them once in 10¹¹ times. Rows that did not
reach the output are the others. How many there are in each file is counted by itself (files.py), so that a place that
no file has shows.

How often a source's rows were there is counted as well: more rows than places mean that a join has multiplied them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial, reduce
from typing import TYPE_CHECKING, Any

from headwater.errors import RowsRefused
from headwater.evidence.files import BY_CONTENT, Tally, file_format, tallies
from headwater.evidence.repeats import Repeats
from headwater.model.ledger import Ledger, SourceLedger
from headwater.rows.backward import MAX_PUSHED_ROWS
from headwater.rows.names import name_leaves
from headwater.rows.pairs.blocks import BlockRows
from headwater.rows.pairs.jvm import pair_classes
from headwater.rows.pairs.outs import output_rows_of
from headwater.rows.provenance import Block, BlockLink, PlanSource, RowProvenance

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_WORD = "shiftright(row, 6)"
"""Places go by 64 in a number."""
_MOST_SHOWN = 5
_PLACES = ("position", "table position", "range")
"""What tells the rows of a source apart, where that is their place."""
_DIFFERENT = "it is read several times, and not the same files each time"
_COARSE = {
    "group": "which rows of a group were used cannot be told (a window, or a function of a group)",
    "all": "its rows are used together, and which of them decided cannot be told",
}


@dataclass(frozen=True)
class Account:
    ledger: Ledger
    repeats: Mapping[int, Repeats] = field(default_factory=dict)
    """By the id of a source's column."""


@contextmanager
def account_of(
    spark: SparkSession,
    plan: Any,
    datasets: Mapping[int, str],
    names: Sequence[str] | None = None,
    output: DataFrame | None = None,
) -> Iterator[Account]:
    """``plan`` is the analyzed query of a write, in the JVM; ``datasets`` name its sources by the ids of columns.
    ``output`` are the rows that were written, with columns of these ``names``, where they can be read back: what is in
    them need not be computed again. What was counted is kept until the block ends: rows that were there more than once
    are looked for in it."""
    try:
        provenance, outs = output_rows_of(spark, plan, {}, output, names)
    except RowsRefused as refused:
        yield Account(Ledger((), dict.fromkeys(sorted(set(datasets.values())), str(refused))))
        return
    below = BlockRows(provenance, pair_classes(spark.sparkContext._gateway).new("NumericIds", spark._jsparkSession))
    counting = _Counting(provenance, below, datasets, outs.rows(below), whole=outs.covers_all)
    try:
        yield counting.account()
    finally:
        counting.release()


class _Counting:
    """``first`` are the rows of the uppermost block; ``whole``: they are all of them."""

    def __init__(
        self, provenance: RowProvenance, below: BlockRows, datasets: Mapping[int, str], first: DataFrame, *, whole: bool
    ) -> None:
        self._provenance = provenance
        self._narrowed = below.with_numeric_ids
        self._grains = provenance.grains()
        self._names = {each.number: _name(provenance, each, datasets) for each in provenance.sources}
        self._reached = {0: first}
        self._wholly = {0} if whole else set()
        """Blocks all rows of which reached the output."""
        self._kept: list[DataFrame] = []

    def account(self) -> Account:
        """One source that cannot be followed is enough for its dataset not to be accounted for."""
        sources = self._provenance.sources
        refused = {self._names[each.number]: why for each in sources if (why := self._why_not(each)) is not None}
        followed = [each for each in sources if self._names[each.number] not in refused]
        for block in self._provenance.blocks[1:]:  # parents first
            self._reach(block)
        single = {each.number: block for each in followed for block in self._only_blocks(each)}
        words = self._words([source for source in followed if source.number not in single])
        by_name: dict[str, list[PlanSource]] = {}
        for each in followed:
            by_name.setdefault(self._names[each.number], []).append(each)
        alike = {name: each[0] for name, each in by_name.items() if self._same_files(each)}
        refused |= dict.fromkeys(by_name.keys() - alike.keys(), _DIFFERENT)
        found = tallies(self._provenance, alike, [*self._places(words, alike), *self._counted(single)])
        entries = [
            SourceLedger(
                name, each.entered, each.processed, each.filtered, beyond=each.beyond, **self._told(alike[name], each)
            )
            for name, each in found.items()
        ]
        once = {
            column.expr_id: Repeats(found[self._names[number]].processed, found[self._names[number]].processed)
            for number in single
            if sources[number].id != BY_CONTENT
            for column in sources[number].columns
        }
        return Account(Ledger(tuple(entries), refused), self._repeats(followed, words) | once)

    def release(self) -> None:
        for frame in self._kept:
            with suppress(Exception):  # the session may have ended
                frame.unpersist()

    def _told(self, source: PlanSource, tally: Tally) -> dict[str, Any]:
        """Of equal rows nobody can tell which of them went on, where not all did."""
        if source.id != BY_CONTENT or tally.distinct == tally.entered:
            return {}
        return {"exact": False, "note": "its rows go by their content, and some are equal"}

    def _why_not(self, source: PlanSource) -> str | None:
        of_files = source.id == BY_CONTENT and file_format(self._provenance.leaf(source.number)) is not None
        if source.id not in _PLACES and not of_files:
            return "its rows have no place of their own, and equal ones cannot be told apart"
        return _COARSE.get(self._grains[source.number])

    def _same_files(self, sources: Sequence[PlanSource]) -> bool:
        frames = [self._provenance.source_frame(source.number) for source in sources] if len(sources) > 1 else []
        return len({tuple(sorted(frame.inputFiles())) for frame in frames}) <= 1

    # -- places that reached the output -------------------------------------------------------------------------------

    def _words(self, followed: Sequence[PlanSource]) -> DataFrame | None:
        """(block, source, file, word, mask, rows, last): 64 places each."""
        from pyspark.sql import functions as F

        wanted = {source.number: source for source in followed}
        parts = []
        for block in self._provenance.blocks:
            rows = self._reached.get(block.number)
            own = [wanted[number] for number in block.sources if number in wanted]
            if rows is None or not own:
                continue
            parts.append(_stacked(rows, own).select(F.lit(block.number).alias("block"), "source", "file", "row"))
        if not parts:
            return None
        every = reduce(lambda one, other: one.union(other), parts).where("file is not null")
        bit = F.expr("shiftleft(1L, cast(row & 63 as int))")
        found = every.groupBy("block", "source", "file", F.expr(_WORD).alias("word")).agg(
            F.bit_or(bit).alias("mask"), F.count("*").alias("rows"), F.max("row").alias("last")
        )
        self._kept.append(found.persist())
        return found

    def _reach(self, block: Block) -> None:
        """Find the rows of a block to which rows above lead, if any do."""
        leading = [
            (above, link)
            for above in self._provenance.blocks
            for link in above.links
            if link.to == block.number and above.number in self._reached
        ]
        every = self._narrowed(self._provenance.frame(block.number))
        if any(self._all_lead(above, link) for above, link in leading):
            self._wholly.add(block.number)
            self._reached[block.number] = every
        elif leading:
            names = [_quoted(name) for name in every.columns]
            found = [
                self._narrowed(self._provenance.follow(link, self._leading(above, link), MAX_PUSHED_ROWS)).select(
                    *names
                )
                for above, link in leading
            ]
            self._reached[block.number] = reduce(lambda one, other: one.union(other), found)

    def _all_lead(self, above: Block, link: BlockLink) -> bool:
        """Whether every group of the block below has its row above: none is dropped on the way up."""
        if above.number not in self._wholly or link.kind != "aggregate" or link.condition_columns:
            return False
        course = self._provenance.block_path(above.number, link.present)
        return course is not None and not course.steps

    def _only_blocks(self, source: PlanSource) -> Iterator[Block]:
        """The block of a source whose rows are there once at most: nothing else is there to meet them, so that they
        are only kept or dropped."""
        blocks = [block for block in self._provenance.blocks if source.number in block.sources]
        named_alike = list(self._names.values()).count(self._names[source.number])
        if len(blocks) != 1 or named_alike != 1 or blocks[0].number not in self._wholly:
            return
        alone = blocks[0].sources == (source.number,) and not blocks[0].links
        if alone and self._provenance.block_path(blocks[0].number, source.row) is not None:
            yield blocks[0]

    def _counted(self, single: Mapping[int, Block]) -> Iterator[tuple[str, DataFrame]]:
        """By dataset, (file, reached, last) of sources whose rows are there once each."""
        from pyspark.sql import functions as F

        for number, block in single.items():
            every = _stacked(self._reached[block.number], [self._provenance.sources[number]])
            of_file = every.where("file is not null").groupBy("file")
            yield self._names[number], of_file.agg(F.count("*").alias("reached"), F.max("row").alias("last"))

    def _leading(self, above: Block, link: BlockLink) -> DataFrame:
        """What of the rows above leads down, each once."""
        from pyspark.sql import functions as F

        rows = self._reached[above.number]
        rows = rows.where(rows[link.present])
        names = [*link.columns, *link.condition_columns]
        wanted = (
            rows.select(*map(_quoted, names)).distinct() if names else rows.select(F.lit(True).alias("any")).limit(1)
        )
        self._kept.append(wanted.persist())
        return wanted

    def _places(self, words: DataFrame | None, wanted: Collection[str]) -> Iterator[tuple[str, DataFrame]]:
        """By dataset, (file, reached, last): each place once, however often and by whichever source it was reached."""
        from pyspark.sql import functions as F

        if words is None:
            return
        for name in wanted:
            own = words.where(F.col("source").isin([number for number, each in self._names.items() if each == name]))
            merged = own.groupBy("file", "word").agg(F.bit_or("mask").alias("mask"), F.max("last").alias("last"))
            of_content = any(
                each.id == BY_CONTENT for each in self._provenance.sources if self._names[each.number] == name
            )
            reached = (F.lit(None).cast("long") if of_content else F.sum(F.bit_count("mask"))).alias("reached")
            yield name, merged.groupBy("file").agg(reached, F.max("last").alias("last"))

    # -- rows that were there more than once --------------------------------------------------------------------------

    def _repeats(self, followed: Sequence[PlanSource], words: DataFrame | None) -> dict[int, Repeats]:
        from pyspark.sql import functions as F

        if words is None:
            return {}
        sums = [F.sum("rows").alias("rows"), F.sum(F.bit_count("mask")).alias("places")]
        found = {(row["block"], row["source"]): row for row in words.groupBy("block", "source").agg(*sums).collect()}
        told: dict[int, Repeats] = {}
        for source in followed:
            blocks = [block for block in self._provenance.blocks if source.number in block.sources]
            if len(blocks) != 1 or not self._comes_once(blocks[0]) or source.id == BY_CONTENT:
                continue
            row = found.get((blocks[0].number, source.number))
            many = Repeats(0, 0) if row is None else Repeats(int(row["rows"]), int(row["places"]))
            if many.several:
                many = replace(many, look=cache(partial(self._shown, words, blocks[0], source)))
            told |= {column.expr_id: many for column in source.columns}
        return told

    def _comes_once(self, block: Block) -> bool:
        """Whether each of its rows that is reached is among those found once."""
        links = [link for above in self._provenance.blocks for link in above.links if link.to == block.number]
        return len(links) <= 1 and not any(link.condition_columns for link in links)

    def _shown(self, words: DataFrame, block: Block, source: PlanSource) -> list[str]:
        """Some rows that were there more than once, by their places: a facet holds no values of rows."""
        from pyspark.sql import functions as F

        own = (F.col("block") == block.number) & (F.col("source") == source.number)
        several = words.where(own & (F.col("rows") > F.bit_count("mask"))).select("file", "word").limit(_MOST_SHOWN)
        places = _stacked(self._reached[block.number], [source]).select("file", "row", F.expr(_WORD).alias("word"))
        among = places.join(F.broadcast(several), ["file", "word"], "left_semi")
        counted = among.groupBy("file", "row").count().where("count > 1")
        found = counted.orderBy(F.desc("count"), "file", "row").limit(_MOST_SHOWN).collect()
        every = self._provenance.source_frame(source.number).select(F.col(source.file), F.col(source.row).alias("row"))
        named = every.where(F.col("row").isin([row["row"] for row in found])).select(source.file).distinct()
        names = {row[1]: row[0] for row in named.select(source.file, F.xxhash64(source.file)).collect()}
        return [f"{names.get(row['file'], row['file'])} row {row['row']}, {row['count']} times" for row in found]


def _stacked(rows: DataFrame, sources: Sequence[PlanSource]) -> DataFrame:
    """(source, file, row): the places that each row carries, below each other."""
    told = ", ".join(
        f"{source.number}, {_quoted(source.file)}, cast({_quoted(source.row)} as bigint)" for source in sources
    )
    return rows.selectExpr(f"stack({len(sources)}, {told}) as (source, file, row)")


def _name(provenance: RowProvenance, source: PlanSource, datasets: Mapping[int, str]) -> str:
    """As the event calls it. Of a source that is there twice, one has got new ids for its columns."""
    known = next((datasets[column.expr_id] for column in source.columns if column.expr_id in datasets), None)
    if known is not None:
        return known
    spark = provenance.source_frame(source.number).sparkSession
    return str(name_leaves(spark, [provenance.leaf(source.number)])[0].dataset)


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
