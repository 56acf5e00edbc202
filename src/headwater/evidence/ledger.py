"""The ledger of a captured write: of each input's rows, how many reached the output, exactly, by row lineage.

It goes from the output down, block by block (rows/provenance.py). The rows of a block that are linked to a row above
have reached the output, and each of them has the positions of its source rows. A bitmap of 64 positions is one number,
so that a source row counts once, however often it was used, and little data is shuffled. A file is identified by 64
bits of the hash of its name, as in pair tables: with 20,000 files, the probability of a collision is 10⁻¹¹. All other
rows did not reach the output. The rows in each file are counted separately (files.py), which reveals positions that no
file has.

The occurrences of a source's rows are counted as well: if there are more rows than positions, a join has multiplied
them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial, reduce
from typing import TYPE_CHECKING

from headwater.errors import RowsRefused
from headwater.evidence.files import BY_CONTENT, FileRowCounts, count_file_rows, file_format
from headwater.evidence.repeats import Repeats
from headwater.jvm import JavaObject, gateway_of
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
"""64 positions per number."""
_MAX_SAMPLES = 5
_PLACES = ("position", "table position", "range")
"""The ids of sources whose rows are identified by their position."""
_DIFFERENT = "it is read several times, with different files"
_EQUAL_ROWS = "its rows are identified by their content, and some are equal"
_COARSE = {
    "group": "which rows of a group were used is not known (a window, or a function of a group)",
    "all": "its rows are used together, and which of them decided is not known",
}


@dataclass(frozen=True)
class CountedLedger:
    """A ledger, and the repeats that were counted with it."""

    ledger: Ledger
    repeats: Mapping[int, Repeats] = field(default_factory=dict)
    """Repeats by the id of a source's column."""


@contextmanager
def count_ledger(
    spark: SparkSession,
    plan: JavaObject,
    datasets: Mapping[int, str],
    names: Sequence[str] | None = None,
    output: DataFrame | None = None,
) -> Iterator[CountedLedger]:
    """``plan`` is the analyzed query of a write, in the JVM; ``datasets`` name its sources by column ids. ``output``
    are the rows that were written, with columns of these ``names``, if they can be read back, which saves computing
    them again. The counts are cached until the context ends: repeated rows are looked up in them."""
    try:
        provenance, outs = output_rows_of(spark, plan, {}, output, names)
    except RowsRefused as refusal:
        yield CountedLedger(Ledger((), dict.fromkeys(sorted(set(datasets.values())), str(refusal))))
        return
    below = BlockRows(provenance, pair_classes(gateway_of(spark.sparkContext)).new("NumericIds", spark._jsparkSession))
    counting = _LedgerCounter(provenance, below, datasets, outs.rows(below), whole=outs.covers_all)
    try:
        yield counting.account()
    finally:
        counting.release()


class _LedgerCounter:
    """``first`` are the rows of the topmost block, ``whole`` means all of them."""

    def __init__(
        self, provenance: RowProvenance, below: BlockRows, datasets: Mapping[int, str], first: DataFrame, *, whole: bool
    ) -> None:
        self._provenance = provenance
        self._with_numeric_ids = below.with_numeric_ids
        self._grains = provenance.grains()
        self._names = {source.number: _dataset_name(provenance, source, datasets) for source in provenance.sources}
        self._reached = {0: first}
        self._complete = {0} if whole else set()
        """Blocks whose rows all reached the output."""
        self._cached: list[DataFrame] = []

    def account(self) -> CountedLedger:
        """If one source of a dataset cannot be followed, the dataset is not accounted for."""
        sources = self._provenance.sources
        refused = {
            self._names[source.number]: reason for source in sources if (reason := self._refusal(source)) is not None
        }
        followed = [source for source in sources if self._names[source.number] not in refused]
        for block in self._provenance.blocks[1:]:  # parents first
            self._reach(block)
        single = {source.number: block for source in followed for block in self._only_blocks(source)}
        words = self._words([source for source in followed if source.number not in single])
        by_name: dict[str, list[PlanSource]] = {}
        for source in followed:
            by_name.setdefault(self._names[source.number], []).append(source)
        sources_by_name = {name: same[0] for name, same in by_name.items() if self._same_files(same)}
        refused |= dict.fromkeys(by_name.keys() - sources_by_name.keys(), _DIFFERENT)
        row_counts = count_file_rows(
            self._provenance, sources_by_name, [*self._reached_places(words, sources_by_name), *self._counted(single)]
        )
        entries = [
            SourceLedger(
                name,
                counts.entered,
                counts.processed,
                counts.filtered,
                exact=self._is_exact(sources_by_name[name], counts),
                note=None if self._is_exact(sources_by_name[name], counts) else _EQUAL_ROWS,
                beyond=counts.beyond,
            )
            for name, counts in row_counts.items()
        ]
        once = {
            column.expr_id: Repeats(
                row_counts[self._names[number]].processed, row_counts[self._names[number]].processed
            )
            for number in single
            if sources[number].id != BY_CONTENT
            for column in sources[number].columns
        }
        return CountedLedger(Ledger(tuple(entries), refused), self._repeats(followed, words) | once)

    def release(self) -> None:
        for frame in self._cached:
            with suppress(Exception):  # the session may have ended
                frame.unpersist()

    @staticmethod
    def _is_exact(source: PlanSource, counts: FileRowCounts) -> bool:
        """Of equal rows it is unknown which of them reached the output, if not all did."""
        return source.id != BY_CONTENT or counts.distinct == counts.entered

    def _refusal(self, source: PlanSource) -> str | None:
        of_files = source.id == BY_CONTENT and file_format(self._provenance.leaf(source.number)) is not None
        if source.id not in _PLACES and not of_files:
            return "its rows have no position, and equal rows cannot be distinguished"
        return _COARSE.get(self._grains[source.number])

    def _same_files(self, sources: Sequence[PlanSource]) -> bool:
        frames = [self._provenance.source_frame(source.number) for source in sources] if len(sources) > 1 else []
        return len({tuple(sorted(frame.inputFiles())) for frame in frames}) <= 1

    # -- positions that reached the output ----------------------------------------------------------------------------

    def _words(self, followed: Sequence[PlanSource]) -> DataFrame | None:
        """(block, source, file, word, mask, rows, last): 64 positions each."""
        from pyspark.sql import functions as F

        wanted_sources = {source.number: source for source in followed}
        parts = []
        for block in self._provenance.blocks:
            rows = self._reached.get(block.number)
            own = [wanted_sources[number] for number in block.sources if number in wanted_sources]
            if rows is None or not own:
                continue
            parts.append(_positions(rows, own).select(F.lit(block.number).alias("block"), "source", "file", "row"))
        if not parts:
            return None
        places = reduce(lambda left, right: left.union(right), parts).where("file is not null")
        bit = F.expr("shiftleft(1L, cast(row & 63 as int))")
        words = places.groupBy("block", "source", "file", F.expr(_WORD).alias("word")).agg(
            F.bit_or(bit).alias("mask"), F.count("*").alias("rows"), F.max("row").alias("last")
        )
        self._cached.append(words.persist())
        return words

    def _reach(self, block: Block) -> None:
        """Find the rows of a block that are linked to rows above, if there are any."""
        leading = [
            (above, link)
            for above in self._provenance.blocks
            for link in above.links
            if link.to == block.number and above.number in self._reached
        ]
        rows = self._with_numeric_ids(self._provenance.frame(block.number))
        if any(self._all_lead(above, link) for above, link in leading):
            self._complete.add(block.number)
            self._reached[block.number] = rows
        elif leading:
            names = [_quote(name) for name in rows.columns]
            reached = [
                self._with_numeric_ids(
                    self._provenance.follow(link, self._leading(above, link), MAX_PUSHED_ROWS)
                ).select(*names)
                for above, link in leading
            ]
            self._reached[block.number] = reduce(lambda left, right: left.union(right), reached)

    def _all_lead(self, above: Block, link: BlockLink) -> bool:
        """Whether every group of the block below has a row above, so that none is dropped in between."""
        if above.number not in self._complete or link.kind != "aggregate" or link.condition_columns:
            return False
        path = self._provenance.block_path(above.number, link.present)
        return path is not None and not path.steps

    def _only_blocks(self, source: PlanSource) -> Iterator[Block]:
        """The block of a source whose rows occur at most once: it is joined with no other source, so its rows can only
        remain or be dropped."""
        blocks = [block for block in self._provenance.blocks if source.number in block.sources]
        same_name = list(self._names.values()).count(self._names[source.number])
        if len(blocks) != 1 or same_name != 1 or blocks[0].number not in self._complete:
            return
        alone = blocks[0].sources == (source.number,) and not blocks[0].links
        if alone and self._provenance.block_path(blocks[0].number, source.row) is not None:
            yield blocks[0]

    def _counted(self, single: Mapping[int, Block]) -> Iterator[tuple[str, DataFrame]]:
        """By dataset, (file, reached, last) of sources whose rows occur once each."""
        from pyspark.sql import functions as F

        for number, block in single.items():
            places = _positions(self._reached[block.number], [self._provenance.sources[number]])
            of_file = places.where("file is not null").groupBy("file")
            yield self._names[number], of_file.agg(F.count("*").alias("reached"), F.max("row").alias("last"))

    def _leading(self, above: Block, link: BlockLink) -> DataFrame:
        """The distinct values by which rows above are linked to the block below."""
        from pyspark.sql import functions as F

        rows = self._reached[above.number]
        rows = rows.where(rows[link.present])
        names = [*link.columns, *link.condition_columns]
        wanted = (
            rows.select(*map(_quote, names)).distinct() if names else rows.select(F.lit(True).alias("any")).limit(1)
        )
        self._cached.append(wanted.persist())
        return wanted

    def _reached_places(self, words: DataFrame | None, wanted: Collection[str]) -> Iterator[tuple[str, DataFrame]]:
        """By dataset, (file, reached, last): each position once, however often and by whichever source it was
        reached."""
        from pyspark.sql import functions as F

        if words is None:
            return
        for name in wanted:
            numbers = [number for number, source_name in self._names.items() if source_name == name]
            own = words.where(F.col("source").isin(numbers))
            merged = own.groupBy("file", "word").agg(F.bit_or("mask").alias("mask"), F.max("last").alias("last"))
            of_content = any(source.id == BY_CONTENT for source in self._provenance.sources if source.number in numbers)
            reached = (F.lit(None).cast("long") if of_content else F.sum(F.bit_count("mask"))).alias("reached")
            yield name, merged.groupBy("file").agg(reached, F.max("last").alias("last"))

    # -- rows that occur more than once -------------------------------------------------------------------------------

    def _repeats(self, followed: Sequence[PlanSource], words: DataFrame | None) -> dict[int, Repeats]:
        from pyspark.sql import functions as F

        if words is None:
            return {}
        sums = [F.sum("rows").alias("rows"), F.sum(F.bit_count("mask")).alias("places")]
        row_of = {(row["block"], row["source"]): row for row in words.groupBy("block", "source").agg(*sums).collect()}
        repeats: dict[int, Repeats] = {}
        for source in followed:
            blocks = [block for block in self._provenance.blocks if source.number in block.sources]
            if len(blocks) != 1 or not self._comes_once(blocks[0]) or source.id == BY_CONTENT:
                continue
            row = row_of.get((blocks[0].number, source.number))
            counted = Repeats(0, 0) if row is None else Repeats(int(row["rows"]), int(row["places"]))
            if counted.has_repeats:
                counted = replace(counted, find_sample=cache(partial(self._sample_rows, words, blocks[0], source)))
            repeats |= {column.expr_id: counted for column in source.columns}
        return repeats

    def _comes_once(self, block: Block) -> bool:
        """Whether each of its rows that reached the output occurs once."""
        links = [link for above in self._provenance.blocks for link in above.links if link.to == block.number]
        return len(links) <= 1 and not any(link.condition_columns for link in links)

    def _sample_rows(self, words: DataFrame, block: Block, source: PlanSource) -> list[str]:
        """Some rows that occur more than once, by their positions: a facet contains no values of rows."""
        from pyspark.sql import functions as F

        own = (F.col("block") == block.number) & (F.col("source") == source.number)
        several = words.where(own & (F.col("rows") > F.bit_count("mask"))).select("file", "word").limit(_MAX_SAMPLES)
        places = _positions(self._reached[block.number], [source]).select("file", "row", F.expr(_WORD).alias("word"))
        among = places.join(F.broadcast(several), ["file", "word"], "left_semi")
        counted = among.groupBy("file", "row").count().where("count > 1")
        rows = counted.orderBy(F.desc("count"), "file", "row").limit(_MAX_SAMPLES).collect()
        source_rows = self._provenance.source_frame(source.number).select(
            F.col(source.file), F.col(source.row).alias("row")
        )
        named = source_rows.where(F.col("row").isin([row["row"] for row in rows])).select(source.file).distinct()
        names = {row[1]: row[0] for row in named.select(source.file, F.xxhash64(source.file)).collect()}
        return [f"{names.get(row['file'], row['file'])} row {row['row']}, {row['count']} times" for row in rows]


def _positions(rows: DataFrame, sources: Sequence[PlanSource]) -> DataFrame:
    """(source, file, row): the positions that each row has, one row each."""
    arguments = ", ".join(
        f"{source.number}, {_quote(source.file)}, cast({_quote(source.row)} as bigint)" for source in sources
    )
    return rows.selectExpr(f"stack({len(sources)}, {arguments}) as (source, file, row)")


def _dataset_name(provenance: RowProvenance, source: PlanSource, datasets: Mapping[int, str]) -> str:
    """The dataset's name in the event. If a source occurs twice, one occurrence has new column ids."""
    name = next((datasets[column.expr_id] for column in source.columns if column.expr_id in datasets), None)
    if name is not None:
        return name
    spark = provenance.source_frame(source.number).sparkSession
    return str(name_leaves(spark, [provenance.leaf(source.number)])[0].dataset)


def _quote(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
