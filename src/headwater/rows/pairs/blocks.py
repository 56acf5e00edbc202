"""The rows of each block that its table needs: those to which the rows above lead.

| rows above that lead there | the block below |
| --- | --- |
| at most 500 | is filtered by their values, by which the sources skip |
| at most a million | is evaluated completely, and filtered by a broadcast of hashes |
| more | is evaluated and stored completely: more than an answer needs, but never wrong |

A link with conditions beyond equality is always joined with the rows above: its owners are the values that the
conditions use.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from headwater.jvm import JavaObject
from headwater.rows.backward import MAX_PUSHED_ROWS
from headwater.rows.pairs.hashing import hash_columns
from headwater.rows.pairs.layout import OWNER, link_hash
from headwater.rows.provenance import Block, BlockLink, RowProvenance

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

MAX_BROADCAST_ROWS = 1_000_000
MAX_UNSORTED_OWNERS = 8


@dataclass
class WrittenBlock:
    """A written block. ``rows`` has the values of its links, ``table`` their hashes."""

    rows: DataFrame
    table: DataFrame
    count: int


class BlockRows:
    """Computes the rows of blocks, parents first."""

    def __init__(self, provenance: RowProvenance, narrow: JavaObject) -> None:
        self._provenance = provenance
        self._numeric_ids = narrow
        self._with_conditions = {
            link.to for block in provenance.blocks for link in block.links if link.condition_columns
        }

    def link_hashes(self, frame: DataFrame, block: Block) -> list[Column]:
        """The hash of each link's values; null where a row has no such link."""
        return [self._link_hash(frame, link).alias(link_hash(link.number)) for link in block.links]

    def _link_hash(self, frame: DataFrame, link: BlockLink) -> Column:
        from pyspark.sql import functions as F

        is_present = frame[link.present]
        for name, safe in zip(link.columns, link.null_safe, strict=True):
            if not safe:
                is_present = is_present & frame[name].isNotNull()
        return F.when(is_present, hash_columns(frame, self._link_columns(link)))

    def _link_columns(self, link: BlockLink) -> Sequence[str]:
        return (*link.columns, *link.condition_columns) if link.to in self._with_conditions else link.columns

    def rows(self, block: Block, above: dict[int, WrittenBlock]) -> DataFrame:
        """The rows of a block below the first, with their owner."""
        links = self._links_to(block, above)
        first = links[0][1]
        is_small = sum(parent.count for parent, _ in links) <= MAX_PUSHED_ROWS
        if block.number in self._with_conditions or (is_small and first.columns):
            link_values = self._link_values(links)
            rows = self.with_numeric_ids(self._provenance.follow(first, link_values, MAX_PUSHED_ROWS))
            names = self._link_columns(first) if block.number in self._with_conditions else block.keys
            return rows.select("*", hash_columns(rows, names).alias(OWNER))
        rows = self.with_numeric_ids(self._provenance.frame(block.number))
        rows = rows.select("*", hash_columns(rows, block.keys).alias(OWNER))
        return self._only_linked(rows, links) if first.columns else rows

    def has_many_owners(self, block: Block, above: dict[int, WrittenBlock]) -> bool:
        """Whether sorting by owner pays off: with few owners, the whole table is only a few times as large as the
        answer."""
        count = sum(parent.count for parent, _ in self._links_to(block, above))
        return bool(block.keys) and count > MAX_UNSORTED_OWNERS

    def _links_to(self, block: Block, above: dict[int, WrittenBlock]) -> list[tuple[WrittenBlock, BlockLink]]:
        return [
            (above[parent.number], link)
            for parent in self._provenance.blocks
            for link in parent.links
            if link.to == block.number
        ]

    def with_numeric_ids(self, frame: DataFrame) -> DataFrame:
        from pyspark.sql import DataFrame

        return DataFrame(self._numeric_ids.apply(frame._jdf), frame.sparkSession)

    @staticmethod
    def _link_values(links: Sequence[tuple[WrittenBlock, BlockLink]]) -> DataFrame:
        first = links[0][1]
        names = (*first.columns, *first.condition_columns)
        frames = [
            above.rows.where(above.rows[link.present]).select(*link.columns, *link.condition_columns).toDF(*names)
            for above, link in links
        ]
        return reduce(lambda left, right: left.union(right), frames).distinct()

    @staticmethod
    def _only_linked(rows: DataFrame, links: Sequence[tuple[WrittenBlock, BlockLink]]) -> DataFrame:
        from pyspark.sql import functions as F

        if sum(above.count for above, _ in links) > MAX_BROADCAST_ROWS:
            return rows
        hashes = [above.table.select(F.col(link_hash(link.number)).alias("wanted")) for above, link in links]
        wanted = reduce(lambda left, right: left.union(right), hashes).where("wanted is not null").distinct()
        return rows.join(F.broadcast(wanted), rows[OWNER] == wanted["wanted"], "left_semi")
