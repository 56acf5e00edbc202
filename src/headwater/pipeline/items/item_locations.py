"""The rows at a node that the items of a source are part of.

An item continues in the rows that contain it. Rows that it only influenced (by a window, or by a value over all rows)
count if no row contains it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING

from headwater.pipeline.items.item_ids import HI, ID, LO, Sampling
from headwater.pipeline.items.leaves import OUT, OUT_FIELD, ItemLeaf
from headwater.rows.column_names import OUT_ID
from headwater.rows.forward import propagate
from headwater.rows.identity import ColumnPath, id_halves, out_id
from headwater.rows.provenance import Block, BlockLink, RowProvenance

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

COPIES = "__hw_times"
"""The number of equal rows that are made of the same items."""

ROW_ID = ("__hw_row_hi", "__hw_row_lo")
"""The id of a row that many items made: 128 bits."""

_OWNING_LINKS = ("aggregate", "chosen", "matched")
_HIDING_LINKS = ("all", "grouped")
_MERGING_LINKS = ("aggregate", "chosen")


@dataclass(frozen=True)
class ItemLocations:
    """``leaves``: which of the plan's sources are tables that carry items."""

    provenance: RowProvenance
    leaves: dict[int, ItemLeaf]

    @property
    def lost_sources(self) -> set[str]:
        """The sources whose items reach the node but cannot be located."""
        return {source for leaf in self.leaves.values() for source in leaf.lost_sources} | self.hidden_sources

    @property
    def hidden_sources(self) -> set[str]:
        """The sources whose rows go through opaque code, so that its output rows cannot be assigned to them."""
        below: dict[int, set[int]] = {}
        numbers: set[int] = set()
        for block in reversed(self.provenance.blocks):
            below[block.number] = set(block.sources).union(*(below[link.to] for link in block.links))
            for link in block.links:
                if link.kind in _HIDING_LINKS:  # a skipped row is in this block as well
                    numbers |= below[link.to] - set(block.sources)
        return {source for number in numbers for source in self._leaf_sources(number)}

    @property
    def sources(self) -> set[str]:
        return {source for leaf in self.leaves.values() for source in leaf.sources}

    def carried_ids(self) -> Iterator[tuple[str, tuple[str, str]]]:
        """The items that each row carries: by source, the columns of their ids."""
        for number in self.provenance.blocks[0].sources:
            leaf = self.leaves.get(number)
            if leaf is not None:
                mark = self.provenance.sources[number].mark
                for source, ids in leaf.carried_ids.items():
                    for position in range(len(ids)):
                        name = leaf.id_prefix(source, position)
                        yield source, (f"{mark}.{name}_hi", f"{mark}.{name}_lo")

    def linked_sources(self) -> set[str]:
        """The sources whose items are found by links or pairs, because rows of many items do not carry them."""
        paired = {source for number in self.provenance.blocks[0].sources for source in self._paired_sources(number)}
        return paired | {source for source in self.sources if self._links_for(source)}

    def merge_depth(self, source: str) -> int:
        """The maximum number of aggregates on a path of the source's items."""
        depth_of_block: dict[int, int] = {0: 0}
        depth = 0
        for block in self.provenance.blocks:  # parents first
            if block.number not in depth_of_block:
                continue
            if any(source in self._leaf_sources(number) for number in block.sources):
                depth = max(depth, depth_of_block[block.number])
            for link in block.links:
                if link.kind in _OWNING_LINKS:
                    below = depth_of_block[block.number] + (link.kind in _MERGING_LINKS)
                    depth_of_block[link.to] = max(depth_of_block.get(link.to, 0), below)
        return depth

    def with_out_ids(self, top: DataFrame) -> DataFrame:
        """Rows of the top block under internal names, with an `out_id`. Rows that share it are equal and made of the
        same items."""
        provenance, block = self.provenance, self.provenance.blocks[0]
        names = [f"__hw_c{position}" for position in range(len(provenance.columns))]
        top = top.toDF(*names, *top.columns[len(names) :])
        links = [
            name
            for link in block.links
            for name in (link.present, *link.columns, *link.condition_columns)
            if name in top.columns
        ]
        identity = dict.fromkeys([*(names[position] for position in provenance.identity), *links])
        columns: list[ColumnPath] = [*identity, *self._mark_columns(top)]
        return top.select("*", out_id(top, columns, exact=not provenance.has_key))

    def _mark_columns(self, top: DataFrame) -> Iterator[tuple[str, str]]:
        """The item ids that the rows carry."""
        from pyspark.sql.types import StructType

        for number in self.provenance.blocks[0].sources:
            mark = self.provenance.sources[number].mark
            if number in self.leaves:
                mark_type = top.schema[mark].dataType
                assert isinstance(mark_type, StructType)
                ids = [field for field in mark_type if field.name == OUT_FIELD or field.name.endswith(("_hi", "_lo"))]
                yield from ((mark, field.name) for field in ids)

    def rows(self, source: str, sampling: Sampling) -> DataFrame | None:
        """The node's rows that items reached, each with the item: the columns under internal names, the `out_id`, the
        number of equal rows, and the item's id. None if the node does not depend on the source."""
        from pyspark.sql import functions as F

        links = self._links_for(source)
        top = propagate(
            self.provenance, lambda block: self._item_rows(block, source, sampling), ID, lambda link: link in links
        )
        if top is None:
            return None
        rows = self.with_out_ids(top)
        if self._has_one_path(source, links, 0):
            return rows.withColumn(COPIES, F.lit(1))
        unique = rows.dropDuplicates([OUT_ID, *ID])
        if self.provenance.has_key:
            return unique.withColumn(COPIES, F.lit(1))
        copies = self.with_out_ids(self.provenance.frame(0)).groupBy(OUT_ID).agg(F.count("*").alias(COPIES))
        return unique.join(copies, OUT_ID)

    def pairs(self, source: str, sampling: Sampling) -> DataFrame | None:
        """(out_id, hi, lo): each row with the source's items that made it, each pair once."""
        rows = self.rows(source, sampling)
        return None if rows is None else rows.select(OUT_ID, *ID).distinct()

    def items_behind(self, sampling: Sampling) -> DataFrame:
        """(`out_id`, item), each once: the items of all sources that made a row."""
        pairs_by_source = [self.pairs(source, sampling) for source in sorted(self.sources)]
        return union_by_name([pairs for pairs in pairs_by_source if pairs is not None])

    @cached_property
    def group_link(self) -> BlockLink | None:
        """The link to the rows that are grouped, if the node has one row for each group and nothing else leads to it.
        Items are then found by the group's key, without computing the groups again."""
        top, *below = self.provenance.blocks
        if len(below) != 1 or below[0].links or len(top.links) != 1 or top.sources:
            return None
        link = top.links[0]
        path = self.provenance.block_path(0, link.present) if link.kind in _MERGING_LINKS else None
        collated = any("collate" in type for name, type in self._grouped_rows.dtypes if name in below[0].keys)
        if path is None or path.steps or collated or any(self._paired_sources(number) for number in below[0].sources):
            return None
        return link

    @property
    def _grouped_rows(self) -> DataFrame:
        return self.provenance.frame(1)

    def group_row_id(self) -> list[Column]:
        """The id of the group that a row below belongs to."""
        halves = id_halves(self._grouped_rows, self.provenance.blocks[1].keys, exact=False)
        return [half.alias(name) for half, name in zip(halves, ROW_ID, strict=True)]

    def items_by_group(self, source: str, sampling: Sampling) -> DataFrame | None:
        """(row, item), each once: the source's items in each group."""
        parts = list(self._item_rows(self.provenance.blocks[1], source, sampling))
        if not parts:
            return None
        return union_by_name([part.select(*self.group_row_id(), *ID) for part in parts]).distinct()

    def _has_one_path(self, source: str, links: set[BlockLink], number: int) -> bool:
        """Whether only one path leads from an item to a row, so that the row has the item once."""
        block = self.provenance.blocks[number]
        item_columns = sum(
            len(leaf.carried_ids.get(source, ())) + (source in leaf.pairs)
            for leaf in map(self.leaves.get, block.sources)
            if leaf is not None
        )
        up = [link for link in block.links if link in links]
        if item_columns + len(up) != 1:
            return False
        return not up or (up[0].kind in _MERGING_LINKS and self._has_one_path(source, links, up[0].to))

    def _links_for(self, source: str) -> set[BlockLink]:
        """The links that lead to the source's items: if there are any that make them part of a row, only those."""
        owning = self._links_leading_to(source, _OWNING_LINKS)
        is_on_top = any(source in self._leaf_sources(number) for number in self.provenance.blocks[0].sources)
        return owning if owning or is_on_top else self._links_leading_to(source, None)

    def _links_leading_to(self, source: str, kinds: tuple[str, ...] | None) -> set[BlockLink]:
        links: set[BlockLink] = set()
        leading_blocks: set[int] = set()
        for block in reversed(self.provenance.blocks):
            has_source = any(source in self._leaf_sources(number) for number in block.sources)
            below = {
                link for link in block.links if link.to in leading_blocks and (kinds is None or link.kind in kinds)
            }
            links |= below
            if has_source or below:
                leading_blocks.add(block.number)
        return links

    def _paired_sources(self, number: int) -> set[str]:
        leaf = self.leaves.get(number)
        return set() if leaf is None else set(leaf.pairs)

    def _leaf_sources(self, number: int) -> set[str]:
        leaf = self.leaves.get(number)
        return set() if leaf is None else leaf.sources

    def _item_rows(self, block: Block, source: str, sampling: Sampling) -> Iterator[DataFrame]:
        from pyspark.sql import functions as F

        for number in block.sources:
            leaf = self.leaves.get(number)
            if leaf is None or source not in leaf.sources:
                continue
            frame = self.provenance.frame(block.number)
            mark = self.provenance.sources[number].mark
            for position in range(len(leaf.carried_ids.get(source, ()))):
                name = leaf.id_prefix(source, position)
                hi, lo = F.col(f"{mark}.{name}_hi"), F.col(f"{mark}.{name}_lo")
                chosen = sampling.condition(lo)
                is_present = hi.isNotNull() if chosen is None else hi.isNotNull() & chosen
                yield frame.where(is_present).select("*", hi.alias(HI), lo.alias(LO))
            if source in leaf.pairs:
                pairs = leaf.pairs[source]
                joined = frame.join(pairs, frame[f"{mark}.{OUT_FIELD}"] == pairs[OUT])
                yield joined.select(frame["*"], *(pairs[name] for name in ID))


def union_by_name(frames: list[DataFrame]) -> DataFrame:
    return reduce(lambda left, right: left.unionByName(right), frames)
