"""The account of a run's items: for each source, every item's way through the nodes that ran, and where it ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import reduce
from typing import TYPE_CHECKING, Any

from headwater.model.items import Continuity
from headwater.pipeline.declare.nodes import Aggregate, Node, Passage, RowMap, Sink, Source
from headwater.pipeline.declare.options import LineageOptions
from headwater.pipeline.items.contributors import company, number_of, others_than
from headwater.pipeline.items.fast_path import Lane
from headwater.pipeline.items.following import Following
from headwater.pipeline.items.general_path import (
    CONTRIBUTORS,
    EMITTED,
    ERROR,
    FLAGS,
    RETRIES,
    SHOWN,
    Stop,
    journeys,
    row_number,
)
from headwater.pipeline.items.item_ids import HI, ID, KEY, LO, correlation
from headwater.pipeline.items.item_locations import ROW, TIMES, Reach, union
from headwater.pipeline.items.leaves import OUT
from headwater.pipeline.items.stages import Station
from headwater.pipeline.run.function_outputs import Kept
from headwater.rows.identity import OUT_ID

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


@dataclass(frozen=True)
class Way:
    """A source, and the stations that its items may come to."""

    source: Source
    stations: list[Station]


@dataclass(frozen=True)
class Account:
    """``ran``: the nodes that have run, in their order, and when each was done."""

    following: Following
    kept: Mapping[str, Kept]
    ran: Mapping[str, datetime]
    nodes: Sequence[Node]
    options: LineageOptions
    keyed: bool = True
    """Whether an item is one row of its source."""
    expected: Mapping[str, int] = field(default_factory=dict)
    """By source, how many rows of it items were expected of when the run began."""

    def ways(self) -> Iterator[Way]:
        """For every source that was read, where its items may come to."""
        for node in self.nodes:
            if isinstance(node, Source) and node.name in self.ran:
                yield Way(node, self._line(node))

    def lane(self, way: Way) -> DataFrame | None:
        """The journeys of its items if each of them stays one row: to be counted, for that is taken for granted."""
        if not self.keyed or self._shows or self.following.repeats(way.source) or way.source.name not in self.expected:
            return None
        return Lane(self.following, self.nodes, self.options).journeys(way.source, way.stations)

    def journeys(self, way: Way) -> DataFrame:
        """The journeys of its items, whatever becomes of them."""
        source = way.source
        stops = [stop for station in way.stations if station.like is None for stop in self._stops(source, station)]
        repeats = not self.keyed or self.following.repeats(source)
        return journeys(stops[0], stops[1:], way.stations, repeats=repeats)

    def companies(self, ways: Sequence[Way], written: Mapping[str, DataFrame]) -> dict[int, DataFrame]:
        """By the place of a node, who has made its rows together. ``written``: journeys in lanes, which know that."""
        found = {}
        told = {station.company for way in ways for station in way.stations}
        for place in sorted(place for place in told if place is not None):
            node = self.nodes[place]
            stations = {
                way.source.name: station.number
                for way in ways
                for station in way.stations
                if station.node == node.name and way.source.name in written
            }
            rows = self._behind(node, {source: _grouped(written[source], at) for source, at in stations.items()})
            named = self.options.contributor_ids and not isinstance(node, RowMap)
            found[place] = company(rows, counted=self._counts_all, named=named)
        return found

    def entered(self) -> DataFrame | None:
        """The ids of the items that came in, from the sources as they are read: not from what was told of them."""
        from pyspark.sql import functions as F

        every = []
        for source in self.nodes:
            if isinstance(source, Source) and source.name in self.ran:
                rows = self.following.reach(source.name).rows(source.name, self.following.sampling)
                if rows is not None:
                    every.append(rows.select(correlation(F.col(HI), F.col(LO)).alias("correlation_id")))
        return reduce(lambda one, other: one.union(other), every).distinct() if every else None

    def _line(self, source: Source) -> list[Station]:
        stations: dict[str, Station] = {}
        for node in self.nodes:
            before = [name for name in node.inputs if name in stations]
            if node.name in self.ran and (before or node is source):
                stations[node.name] = self._station(source, node, stations, before)
        return list(stations.values())

    def _station(self, source: Source, node: Node, stations: Mapping[str, Station], before: Sequence[str]) -> Station:
        ports = {
            stations[name].number: tuple(port for port, each in enumerate(node.inputs) if each == name)
            for name in before
        }
        like = tuple(own for name in before for own in stations[name].own)
        about: dict[str, Any] = {"ports": ports, "at": self.ran[node.name]}
        names = (len(stations), node.name, node.segment, node.pipeline.id, node.pipeline.name, node.kind)
        if isinstance(node, Sink | Passage):
            guessed = any(stations[name].continuity is Continuity.REPRESENTATIVE for name in before)
            how = Continuity.REPRESENTATIVE if guessed else Continuity.EXACT
            return Station(*names, continuity=how, like=like, **about)
        how = self.following.continuity.get(node.name, Continuity.EXACT)
        reach = self.following.reach(node.name)
        if source.name in reach.lost:
            return Station(*names, continuity=Continuity.REPRESENTATIVE, like=like, **about)
        if not isinstance(node, RowMap):
            merges = reach.merges(source.name) > max((self._merges(source, name) for name in before), default=0)
            about["merges"] = merges or (how is not Continuity.EXACT and isinstance(node, Aggregate))
        return Station(*names, continuity=how, company=self._company(node, reach), **about)

    def _company(self, node: Node, reach: Reach) -> int | None:
        if isinstance(node, RowMap):
            known = bool(self.kept[node.name].pairs) and self._counts_all
        else:
            known = bool(reach.linked()) and (self.options.contributor_ids or self._counts_all)
        return self.nodes.index(node) if known else None

    def _behind(self, node: Node, known: Mapping[str, DataFrame]) -> DataFrame:
        """(row, item), each once: who has made the node's rows."""
        from pyspark.sql import functions as F

        if isinstance(node, RowMap):
            return self.kept[node.name].behind().select(*_numbered(F.col(OUT)), *ID)
        reach = self.following.reach(node.name)
        if not self._by_group(reach):
            return reach.behind(self.following.sampling).select(*_numbered(F.col(OUT_ID)), *ID)
        others = [reach.grouped(source, self.following.sampling) for source in sorted(reach.sources - known.keys())]
        return union([*known.values(), *(each for each in others if each is not None)])

    def _by_group(self, reach: Reach) -> bool:
        return reach.groups is not None and not self._shows

    @property
    def _shows(self) -> bool:
        return self.options.snapshots and not self.options.redact

    def _merges(self, source: Source, node: str) -> int:
        reach = self.following.reach(node)
        return reach.merges(source.name) if source.name in reach.sources else 0

    def _stops(self, source: Source, station: Station) -> list[Stop]:
        """Where the source's items are at a station of which something can be told."""
        node = next(node for node in self.nodes if node.name == station.node)
        if not isinstance(node, RowMap):
            return self._stop(source, node, station)
        mapped = self._stop(source, node, station) if station.continuity is Continuity.DECLARED else []
        return [*self._called(source.name, node, station), *mapped]

    def _stop(self, source: Source, node: Node, station: Station) -> list[Stop]:
        from pyspark.sql import functions as F

        reach, sampling = self.following.reach(node.name), self.following.sampling
        if reach.linked() and self._by_group(reach):
            groups = reach.grouped(source.name, sampling)
            row = {name: F.col(name) for name in ROW}
            return [] if groups is None else [Stop(station.number, groups, {EMITTED: F.lit(1), **row})]
        rows = reach.rows(source.name, sampling)
        if rows is None:
            return []
        told: dict[str, Column] = {EMITTED: F.col(TIMES)}
        if self._shows or (node is source and not self.options.redact):
            told[SHOWN] = _shown(reach)
        if node is source:
            told[KEY] = F.col(f"{reach.provenance.sources[0].hit}.k")
        if reach.linked():
            told |= row_number(F.col(OUT_ID)) if station.company is not None else {}
            return [Stop(station.number, rows, told)]
        ids = [ids for _, ids in reach.carried()]
        told[CONTRIBUTORS] = number_of(ids)
        named = self.options.contributor_ids and len(ids) > 1
        return [Stop(station.number, rows, told, others_than((HI, LO), ids) if named else ())]

    @property
    def _counts_all(self) -> bool:
        """Of the items behind a row only those that are followed can be counted: where these are some, they are not
        the number of all."""
        return self.following.sampling.every == 1

    def _called(self, source: str, node: RowMap, station: Station) -> list[Stop]:
        """What became of the items at a row function: as it was kept. A row goes in with the company it came in."""
        from pyspark.sql import functions as F

        kept = self.kept[node.name]
        parts = kept.items(source, self.following.sampling)
        told = {
            EMITTED: F.lit(0) if station.continuity is Continuity.DECLARED else F.col("__hw_outcome").bitwiseAND(1),
            FLAGS: F.col("__hw_outcome"),
            RETRIES: F.col("__hw_retries"),
            ERROR: F.col("__hw_error"),
        }
        if self._shows:
            told[SHOWN] = kept.shown()
        if not kept.pairs:
            ids = [ids for columns in kept.carried.values() for ids in columns]
            told[CONTRIBUTORS] = number_of(ids)
        elif station.company is not None:
            told |= row_number(F.col(OUT))
        return [Stop(station.number, part, told) for part in parts]


def _numbered(row_id: Column) -> list[Column]:
    return [column.alias(name) for name, column in row_number(row_id).items()]


def _grouped(journeys: DataFrame, station: int) -> DataFrame:
    """(row, item), from journeys in which an item goes into one row at most."""
    from pyspark.sql import functions as F

    names = dict(zip((f"g{station}", f"h{station}", "hi", "lo"), (*ROW, *ID), strict=True))
    found = journeys.select(*(F.col(name).alias(as_) for name, as_ in names.items()))
    return found.where(F.col(ROW[0]).isNotNull())


def _shown(reach: Reach) -> Column:
    """The row, as JSON under its own names."""
    from pyspark.sql import functions as F

    columns = [F.col(f"__hw_c{place}").alias(column.name) for place, column in enumerate(reach.provenance.columns)]
    return F.to_json(F.struct(*columns), {"ignoreNullFields": "false"})
