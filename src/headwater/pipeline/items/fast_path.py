"""The journeys of items that each stay one row, computed without bringing rows together.

Where the nodes that a source's items come to stand in a line, an item is either dropped by one operator or another, or
it comes to the end: the rows that each operator drops (rows/jvm/Course.java), and those that are left, are all items,
each of them once. A row function's results are kept with the ids and the key of the item, so that what lies behind them
need not be looked up. Of a group that the row becomes part of it is enough to know the key.

That a join meets one row and not several is taken for granted here, and counted afterwards: as many rows as items.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise
from typing import TYPE_CHECKING

from headwater.model.items import Continuity
from headwater.pipeline.declare.nodes import Aggregate, Join, Node, PassThrough, RowMap, Source, Transform
from headwater.pipeline.declare.options import LineageOptions
from headwater.pipeline.items.contributors import count_items, other_items
from headwater.pipeline.items.general_path import complete_rows
from headwater.pipeline.items.item_ids import HI, KEY, LO, Sampling
from headwater.pipeline.items.item_locations import ItemLocations
from headwater.pipeline.items.leaves import ItemLeaf
from headwater.pipeline.items.stages import Stage
from headwater.rows.provenance import BlockPath

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from headwater.pipeline.items.following import ItemTracker

_FILTERING_JOINS = ("semi", "anti")


def one_row_sources(nodes: Sequence[Node]) -> frozenset[str]:
    """The sources whose items may well stay one row each: so far as declared keys and joins tell."""
    by_name = {node.name: node for node in nodes}
    found = set()
    for source in nodes:
        if isinstance(source, Source):
            at = {source.name}
            stays = True
            for node in nodes:
                if at.intersection(node.inputs):
                    at.add(node.name)
                    stays = stays and _keeps_one_row(node, at, by_name)
            if stays:
                found.add(source.name)
    return frozenset(found)


def _keeps_one_row(node: Node, at: set[str], nodes: Mapping[str, Node]) -> bool:
    if isinstance(node, RowMap):
        return not node.many
    if not isinstance(node, Join):
        return len(node.inputs) == 1
    if node.how in _FILTERING_JOINS:
        return node.inputs[0] in at and node.inputs[1] not in at
    others = [name for name in node.inputs if name not in at]
    return len(others) == 1 and _has_one_row_per_key(nodes[others[0]], set(node.on), nodes)


def _has_one_row_per_key(node: Node, on: set[str], nodes: Mapping[str, Node]) -> bool:
    """Whether the node has one row for each value of the columns, as it looks."""
    match node:
        case Source():
            return bool(node.key) and set(node.key) <= on
        case Aggregate():
            return set(node.by) <= on
        case Transform() | PassThrough() if len(node.inputs) == 1:
            return _has_one_row_per_key(nodes[node.inputs[0]], on, nodes)
    return False


@dataclass(frozen=True)
class FastPath:
    following: ItemTracker
    nodes: Sequence[Node]
    options: LineageOptions

    def item_rows(self, source: Source, line: Sequence[Stage]) -> DataFrame | None:
        """None if the items' way is not so simple."""
        own = [station for station in line if station.same_as is None]
        if source.name not in one_row_sources(self.nodes) or not _is_chain(own, line):
            return None
        calls = [place for place, station in enumerate(own) if station.is_row_function]
        if len(calls) > 1 or any(station.continuity is not Continuity.EXACT for station in own):
            return None
        split = calls[0] if calls else len(own)
        first = self._stage_run(source.name, (), own[:split])
        if first is None:
            return None
        frames = list(first.dropped_items())
        last = self._stage_run(source.name, first.finished_stages, own[split:]) if calls else first
        if last is None:
            return None
        frames += [*(last.dropped_items() if calls else ()), last.arrived_items()]
        whole = reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), frames)
        return complete_rows(whole, line)

    def _stage_run(
        self, source: str, before: Sequence[tuple[Stage, int]], stations: Sequence[Stage]
    ) -> _StageRun | None:
        reaches = [self.following.locations(station.node) for station in stations]
        merged = next((place for place, reach in enumerate(reaches) if reach.linked_sources()), len(stations))
        if merged == 0 or any(reach.provenance.notes for reach in reaches):
            return None
        views = [_BlockView.of(reach, 0, source) for reach in reaches[:merged]]
        if any(reach.group_link is None for reach in reaches[merged:]):
            return None
        views += [_BlockView.of(reach, 1, source) for reach in reaches[merged:]]
        known = [view for view in views if view is not None]
        if len(known) < len(views) or not all(known[-1].continues(view) for view in known):
            return None
        if merged < len(stations) and not all(view.steps == known[-1].steps for view in known[merged:]):
            return None  # something is dropped between two nodes that have groups
        part = _StageRun(source, before, stations, known, merged, self.following.sampling, self.options)
        return part if part.is_complete else None


def _is_chain(own: Sequence[Stage], line: Sequence[Stage]) -> bool:
    """Whether each station leads to the next one and to no other."""
    for before, station in pairwise(own):
        ports = station.ports_in_order
        if len(ports) != 1 or line[ports[0][1]].counted_stages != (before.number,):
            return False
    return True


@dataclass(frozen=True)
class _BlockView:
    """Where a source's items are in one block of a node's plan, and how they came there."""

    reach: ItemLocations
    block: int
    number: int
    """Of the plan's source that carries them."""
    path: BlockPath

    @classmethod
    def of(cls, reach: ItemLocations, block: int, source: str) -> _BlockView | None:
        held = reach.provenance.blocks[block].sources
        numbers = [number for number in held if number in reach.leaves and source in reach.leaves[number].sources]
        if len(numbers) != 1 or len(reach.leaves[numbers[0]].carried_ids.get(source, ())) != 1:
            return None
        course = reach.provenance.block_path(block, reach.provenance.sources[numbers[0]].mark)
        return None if course is None else cls(reach, block, numbers[0], course)

    @cached_property
    def steps(self) -> list[tuple[str, str]]:
        """By the names of tables: their numbers are the plan's own."""
        return [(kind, self._table_name(int(text)) if kind == "meet" else text) for kind, text in self.path.steps]

    def _table_name(self, number: int) -> str:
        leaf = self.reach.leaves.get(number)
        return "" if leaf is None else leaf.node

    def continues(self, other: _BlockView) -> bool:
        return self.steps[: len(other.steps)] == other.steps and self.leaf is other.leaf

    @property
    def leaf(self) -> ItemLeaf:
        return self.reach.leaves[self.number]

    @property
    def mark(self) -> str:
        return self.reach.provenance.sources[self.number].mark

    def item_ids(self, met: int) -> list[tuple[str, str]]:
        """Of the items that stand in a row, once it has met so many others."""
        numbers = [self.number, *self.path.joined_sources[:met]]
        found = []
        for number in numbers:
            leaf, mark = self.reach.leaves.get(number), self.reach.provenance.sources[number].mark
            if leaf is not None:
                names = [
                    leaf.id_prefix(source, at) for source, ids in leaf.carried_ids.items() for at in range(len(ids))
                ]
                found += [(f"{mark}.{name}_hi", f"{mark}.{name}_lo") for name in names]
        return found


@dataclass(frozen=True)
class _StageRun:
    """Stations that come to their rows from one table. ``before`` are those behind the table, each with the number of
    items that stand in a row there; from the ``merged``-th on rows are groups."""

    source: str
    before: Sequence[tuple[Stage, int]]
    stages: Sequence[Stage]
    views: Sequence[_BlockView]
    first_merged: int
    sampling: Sampling
    options: LineageOptions

    @property
    def _top(self) -> _BlockView:
        return self.views[-1]

    @property
    def is_complete(self) -> bool:
        """Whether rows of the table carry all that is told of their items."""
        leaf, all_ids = self._top.leaf, len(self._top.item_ids(0))
        has_data = self.options.redact or leaf.data is not None
        return leaf.origin == self.source and has_data and all(ids in (1, all_ids) for _, ids in self.before)

    @property
    def finished_stages(self) -> list[tuple[Stage, int]]:
        """Its stations, for the part after it."""
        met = (len(view.path.joined_sources) for view in self.views)
        return [(station, len(self._top.item_ids(each))) for station, each in zip(self.stages, met, strict=True)]

    def dropped_items(self) -> Iterable[DataFrame]:
        """The items that end here on the way, by the operator that drops them."""
        ends = [view.path.drop_count for view in self.views]
        for place in range(self._top.path.drop_count):
            at = next(at for at, end in enumerate(ends) if end > place)
            if at > 0 or self.before:  # what a source's own reader drops has never been an item
                yield self._item_rows(self._top.path.dropped_rows(place), at)

    def arrived_items(self) -> DataFrame:
        return self._item_rows(self._top.reach.provenance.frame(self._top.block), len(self.stages))

    def _item_rows(self, rows: DataFrame, until: int) -> DataFrame:
        """What is told of items that came through the stations before ``until``."""
        from pyspark.sql import functions as F

        top, leaf = self._top, self._top.leaf
        name = leaf.id_prefix(self.source, 0)
        hi, lo = F.col(f"{top.mark}.{name}_hi"), F.col(f"{top.mark}.{name}_lo")
        chosen = self.sampling.condition(lo)
        rows = rows.where(hi.isNotNull() if chosen is None else hi.isNotNull() & chosen)
        told: dict[str, Column] = {HI: hi, LO: lo, KEY: F.col(f"{top.mark}.k")}
        told["s0"] = F.lit(None).cast("string") if self.options.redact else F.col(f"{top.mark}.d")
        ids = top.item_ids(0)
        for station, standing in self.before:
            told[f"e{station.number}"] = F.lit(1)
            told[f"c{station.number}"] = count_items(ids) if standing > 1 else F.lit(1)
        for place, station in enumerate(self.stages[:until]):
            told[f"e{station.number}"] = F.lit(1)
            if place < self.first_merged:
                ids = top.item_ids(len(self.views[place].path.joined_sources))
                told[f"c{station.number}"] = count_items(ids) if len(ids) > 1 else F.lit(1)
            elif station.contributor_table is not None:
                told |= dict(zip((f"g{station.number}", f"h{station.number}"), top.reach.group_row_id(), strict=True))
        if self.stages[0].is_row_function:
            told |= {f"{word}{self.stages[0].number}": F.col(f"{top.mark}.{word}") for word in "frx"}
        if self.options.contributor_ids and len(ids) > 1:
            own = (f"{top.mark}.{name}_hi", f"{top.mark}.{name}_lo")
            told["others"] = _item_list(other_items(own, ids))
        return rows.select(*(column.alias(name) for name, column in told.items()))


def _item_list(others: Sequence[tuple[Column, Column]]) -> Column:
    """Those that are there, in a list. One that can only be one needs no looking for others like it."""
    from pyspark.sql import functions as F

    if len(others) == 1:
        there, other = others[0]
        return F.when(there, F.array(other))
    return F.array_distinct(F.array_compact(F.array(*(F.when(there, other) for there, other in others))))
