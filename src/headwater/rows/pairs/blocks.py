"""The rows of each block that belong into its table: those to which the rows above lead.

| rows above that lead there | the block below |
| --- | --- |
| at most 500 | is asked for by their values, which the sources can skip by |
| at most a million | is evaluated whole, and what is not asked for is dropped by a broadcast of hashes |
| more | is evaluated and kept whole: more than an answer needs, and never wrong |

A link with conditions beyond equality is joined with the rows above, whatever their number: its owners are the values
that the conditions see.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

from headwater.rows.backward import FEW
from headwater.rows.pairs.hashing import hashed
from headwater.rows.pairs.layout import OWNER, link_hash
from headwater.rows.provenance import Block, Link, Provenance

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

MOST_BROADCAST = 1_000_000
FEW_OWNERS = 8


@dataclass
class Above:
    """A block that has been written. ``rows`` has the values of its links, ``table`` their hashes."""

    rows: DataFrame
    table: DataFrame
    count: int


class Below:
    """Finds the rows of blocks, parents first."""

    def __init__(self, provenance: Provenance, narrow: Any) -> None:
        self._provenance = provenance
        self._narrow = narrow
        self._joined = {link.to for block in provenance.blocks for link in block.links if link.seen}

    def links(self, frame: DataFrame, block: Block) -> list[Column]:
        """The hash of each link's values; null where a row has no such link."""
        return [self._link(frame, link).alias(link_hash(link.number)) for link in block.links]

    def _link(self, frame: DataFrame, link: Link) -> Column:
        from pyspark.sql import functions as F

        there = frame[link.here]
        for name, safe in zip(link.columns, link.safe, strict=True):
            if not safe:
                there = there & frame[name].isNotNull()
        return F.when(there, hashed(frame, self._values(link)))

    def _values(self, link: Link) -> Sequence[str]:
        return (*link.columns, *link.seen) if link.to in self._joined else link.columns

    def rows(self, block: Block, above: dict[int, Above]) -> DataFrame:
        """Of a block that is not the first, with their owner."""
        leading = self._leading(block, above)
        first = leading[0][1]
        few = sum(each.count for each, _ in leading) <= FEW
        if block.number in self._joined or (few and first.columns):
            wanted = self._wanted(leading)
            found = self.narrowed(self._provenance.follow(first, wanted, FEW))
            names = self._values(first) if block.number in self._joined else block.keys
            return found.select("*", hashed(found, names).alias(OWNER))
        found = self.narrowed(self._provenance.frame(block.number))
        found = found.select("*", hashed(found, block.keys).alias(OWNER))
        return self._asked_for(found, leading) if first.columns else found

    def has_many_owners(self, block: Block, above: dict[int, Above]) -> bool:
        """Whether it pays to have the rows of one owner together: with few of them, to read all of the table is to read
        a few times the answer."""
        count = sum(each.count for each, _ in self._leading(block, above))
        return bool(block.keys) and count > FEW_OWNERS

    def _leading(self, block: Block, above: dict[int, Above]) -> list[tuple[Above, Link]]:
        return [
            (above[each.number], link)
            for each in self._provenance.blocks
            for link in each.links
            if link.to == block.number
        ]

    def narrowed(self, frame: DataFrame) -> DataFrame:
        from pyspark.sql import DataFrame

        return DataFrame(self._narrow.of(frame._jdf), frame.sparkSession)

    @staticmethod
    def _wanted(leading: Sequence[tuple[Above, Link]]) -> DataFrame:
        first = leading[0][1]
        names = (*first.columns, *first.seen)
        each = [
            above.rows.where(above.rows[link.here]).select(*link.columns, *link.seen).toDF(*names)
            for above, link in leading
        ]
        return reduce(lambda one, other: one.union(other), each).distinct()

    @staticmethod
    def _asked_for(found: DataFrame, leading: Sequence[tuple[Above, Link]]) -> DataFrame:
        from pyspark.sql import functions as F

        if sum(above.count for above, _ in leading) > MOST_BROADCAST:
            return found
        each = [above.table.select(F.col(link_hash(link.number)).alias("wanted")) for above, link in leading]
        wanted = reduce(lambda one, other: one.union(other), each).where("wanted is not null").distinct()
        return found.join(F.broadcast(wanted), found[OWNER] == wanted["wanted"], "left_semi")
