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
from headwater.pipeline.declare.nodes import Aggregate, Join, Node, Passage, RowMap, Source, Transform
from headwater.pipeline.declare.options import LineageOptions
from headwater.pipeline.items.contributors import number_of, others_than
from headwater.pipeline.items.general_path import completed
from headwater.pipeline.items.item_ids import HI, KEY, LO, Sampling
from headwater.pipeline.items.item_locations import Reach
from headwater.pipeline.items.leaves import Leaf
from headwater.pipeline.items.stages import Station
from headwater.rows.provenance import Course

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from headwater.pipeline.items.following import Following

_LEFT_ALONE = ("semi", "anti")


def stay_one(nodes: Sequence[Node]) -> frozenset[str]:
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
                    stays = stays and _stays(node, at, by_name)
            if stays:
                found.add(source.name)
    return frozenset(found)


def _stays(node: Node, at: set[str], nodes: Mapping[str, Node]) -> bool:
    if isinstance(node, RowMap):
        return not node.many
    if not isinstance(node, Join):
        return len(node.inputs) == 1
    if node.how in _LEFT_ALONE:
        return node.inputs[0] in at and node.inputs[1] not in at
    others = [name for name in node.inputs if name not in at]
    return len(others) == 1 and _is_one(nodes[others[0]], set(node.on), nodes)


def _is_one(node: Node, on: set[str], nodes: Mapping[str, Node]) -> bool:
    """Whether the node has one row for each value of the columns, as it looks."""
    match node:
        case Source():
            return bool(node.key) and set(node.key) <= on
        case Aggregate():
            return set(node.by) <= on
        case Transform() | Passage() if len(node.inputs) == 1:
            return _is_one(nodes[node.inputs[0]], on, nodes)
    return False


@dataclass(frozen=True)
class Lane:
    following: Following
    nodes: Sequence[Node]
    options: LineageOptions

    def journeys(self, source: Source, line: Sequence[Station]) -> DataFrame | None:
        """None if the items' way is not so simple."""
        own = [station for station in line if station.like is None]
        if source.name not in stay_one(self.nodes) or not _in_line(own, line):
            return None
        calls = [place for place, station in enumerate(own) if station.calls]
        if len(calls) > 1 or any(station.continuity is not Continuity.EXACT for station in own):
            return None
        split = calls[0] if calls else len(own)
        first = self._part(source.name, (), own[:split])
        if first is None:
            return None
        frames = list(first.dropped())
        last = self._part(source.name, first.passed, own[split:]) if calls else first
        if last is None:
            return None
        frames += [*(last.dropped() if calls else ()), last.arrived()]
        whole = reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), frames)
        return completed(whole, line)

    def _part(self, source: str, before: Sequence[tuple[Station, int]], stations: Sequence[Station]) -> _Part | None:
        reaches = [self.following.reach(station.node) for station in stations]
        merged = next((place for place, reach in enumerate(reaches) if reach.linked()), len(stations))
        if merged == 0 or any(reach.provenance.notes for reach in reaches):
            return None
        views = [_View.of(reach, 0, source) for reach in reaches[:merged]]
        if any(reach.groups is None for reach in reaches[merged:]):
            return None
        views += [_View.of(reach, 1, source) for reach in reaches[merged:]]
        known = [view for view in views if view is not None]
        if len(known) < len(views) or not all(known[-1].goes_on_from(view) for view in known):
            return None
        if merged < len(stations) and not all(view.steps == known[-1].steps for view in known[merged:]):
            return None  # something is dropped between two nodes that have groups
        part = _Part(source, before, stations, known, merged, self.following.sampling, self.options)
        return part if part.is_told else None


def _in_line(own: Sequence[Station], line: Sequence[Station]) -> bool:
    """Whether each station leads to the next one and to no other."""
    for before, station in pairwise(own):
        ports = station.ports_in_order
        if len(ports) != 1 or line[ports[0][1]].own != (before.number,):
            return False
    return True


@dataclass(frozen=True)
class _View:
    """Where a source's items are in one block of a node's plan, and how they came there."""

    reach: Reach
    block: int
    number: int
    """Of the plan's source that carries them."""
    course: Course

    @classmethod
    def of(cls, reach: Reach, block: int, source: str) -> _View | None:
        held = reach.provenance.blocks[block].sources
        numbers = [number for number in held if number in reach.leaves and source in reach.leaves[number].sources]
        if len(numbers) != 1 or len(reach.leaves[numbers[0]].carried.get(source, ())) != 1:
            return None
        course = reach.provenance.course(block, reach.provenance.sources[numbers[0]].hit)
        return None if course is None else cls(reach, block, numbers[0], course)

    @cached_property
    def steps(self) -> list[tuple[str, str]]:
        """By the names of tables: their numbers are the plan's own."""
        return [(kind, self._table(int(text)) if kind == "meet" else text) for kind, text in self.course.steps]

    def _table(self, number: int) -> str:
        leaf = self.reach.leaves.get(number)
        return "" if leaf is None else leaf.node

    def goes_on_from(self, other: _View) -> bool:
        return self.steps[: len(other.steps)] == other.steps and self.leaf is other.leaf

    @property
    def leaf(self) -> Leaf:
        return self.reach.leaves[self.number]

    @property
    def mark(self) -> str:
        return self.reach.provenance.sources[self.number].hit

    def ids(self, met: int) -> list[tuple[str, str]]:
        """Of the items that stand in a row, once it has met so many others."""
        numbers = [self.number, *self.course.met[:met]]
        found = []
        for number in numbers:
            leaf, mark = self.reach.leaves.get(number), self.reach.provenance.sources[number].hit
            if leaf is not None:
                names = [leaf.place(source, at) for source, ids in leaf.carried.items() for at in range(len(ids))]
                found += [(f"{mark}.{name}_hi", f"{mark}.{name}_lo") for name in names]
        return found


@dataclass(frozen=True)
class _Part:
    """Stations that come to their rows from one table. ``before`` are those behind the table, each with the number of
    items that stand in a row there; from the ``merged``-th on rows are groups."""

    source: str
    before: Sequence[tuple[Station, int]]
    stations: Sequence[Station]
    views: Sequence[_View]
    merged: int
    sampling: Sampling
    options: LineageOptions

    @property
    def _top(self) -> _View:
        return self.views[-1]

    @property
    def is_told(self) -> bool:
        """Whether rows of the table carry all that is told of their items."""
        leaf, all_ids = self._top.leaf, len(self._top.ids(0))
        has_data = self.options.redact or leaf.data is not None
        return leaf.begun == self.source and has_data and all(ids in (1, all_ids) for _, ids in self.before)

    @property
    def passed(self) -> list[tuple[Station, int]]:
        """Its stations, for the part after it."""
        met = (len(view.course.met) for view in self.views)
        return [(station, len(self._top.ids(each))) for station, each in zip(self.stations, met, strict=True)]

    def dropped(self) -> Iterable[DataFrame]:
        """The items that end here on the way, by the operator that drops them."""
        ends = [view.course.drops for view in self.views]
        for place in range(self._top.course.drops):
            at = next(at for at, end in enumerate(ends) if end > place)
            if at > 0 or self.before:  # what a source's own reader drops has never been an item
                yield self._told(self._top.course.dropped(place), at)

    def arrived(self) -> DataFrame:
        return self._told(self._top.reach.provenance.frame(self._top.block), len(self.stations))

    def _told(self, rows: DataFrame, until: int) -> DataFrame:
        """What is told of items that came through the stations before ``until``."""
        from pyspark.sql import functions as F

        top, leaf = self._top, self._top.leaf
        name = leaf.place(self.source, 0)
        hi, lo = F.col(f"{top.mark}.{name}_hi"), F.col(f"{top.mark}.{name}_lo")
        chosen = self.sampling.chosen(lo)
        rows = rows.where(hi.isNotNull() if chosen is None else hi.isNotNull() & chosen)
        told: dict[str, Column] = {HI: hi, LO: lo, KEY: F.col(f"{top.mark}.k")}
        told["s0"] = F.lit(None).cast("string") if self.options.redact else F.col(f"{top.mark}.d")
        ids = top.ids(0)
        for station, standing in self.before:
            told[f"e{station.number}"] = F.lit(1)
            told[f"c{station.number}"] = number_of(ids) if standing > 1 else F.lit(1)
        for place, station in enumerate(self.stations[:until]):
            told[f"e{station.number}"] = F.lit(1)
            if place < self.merged:
                ids = top.ids(len(self.views[place].course.met))
                told[f"c{station.number}"] = number_of(ids) if len(ids) > 1 else F.lit(1)
            elif station.company is not None:
                told |= dict(zip((f"g{station.number}", f"h{station.number}"), top.reach.row_of_group(), strict=True))
        if self.stations[0].calls:
            told |= {f"{word}{self.stations[0].number}": F.col(f"{top.mark}.{word}") for word in "frx"}
        if self.options.contributor_ids and len(ids) > 1:
            own = (f"{top.mark}.{name}_hi", f"{top.mark}.{name}_lo")
            told["others"] = _together(others_than(own, ids))
        return rows.select(*(column.alias(name) for name, column in told.items()))


def _together(others: Sequence[tuple[Column, Column]]) -> Column:
    """Those that are there, in a list. One that can only be one needs no looking for others like it."""
    from pyspark.sql import functions as F

    if len(others) == 1:
        there, other = others[0]
        return F.when(there, F.array(other))
    return F.array_distinct(F.array_compact(F.array(*(F.when(there, other) for there, other in others))))
