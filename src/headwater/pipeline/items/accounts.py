"""The account of a run's items: for each source, every item's way through the nodes that ran, and where it ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import reduce
from typing import TYPE_CHECKING, Any

from headwater.model.items import Continuity
from headwater.pipeline.declare.nodes import Aggregate, Node, PassThrough, RowMap, Sink, Source
from headwater.pipeline.declare.options import LineageOptions
from headwater.pipeline.items.contributors import contributor_table, count_items, other_items
from headwater.pipeline.items.fast_path import FastPath
from headwater.pipeline.items.following import ItemTracker
from headwater.pipeline.items.general_path import (
    CONTRIBUTORS,
    EMITTED,
    ERROR,
    FLAGS,
    RETRIES,
    SHOWN,
    StageVisit,
    item_rows,
    row_id_columns,
)
from headwater.pipeline.items.item_ids import HI, ID, KEY, LO, correlation_uuid
from headwater.pipeline.items.item_locations import COPIES, ROW_ID, ItemLocations, union_by_name
from headwater.pipeline.items.leaves import OUT
from headwater.pipeline.items.stages import Stage
from headwater.pipeline.run.function_outputs import FunctionOutput
from headwater.rows.identity import OUT_ID

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


@dataclass(frozen=True)
class SourceStages:
    """A source, and the stations that its items may come to."""

    source: Source
    stages: list[Stage]


@dataclass(frozen=True)
class ItemAccount:
    """``ran``: the nodes that have run, in their order, and when each was done."""

    following: ItemTracker
    function_outputs: Mapping[str, FunctionOutput]
    finish_times: Mapping[str, datetime]
    nodes: Sequence[Node]
    options: LineageOptions
    keyed: bool = True
    """Whether an item is one row of its source."""
    expected_rows: Mapping[str, int] = field(default_factory=dict)
    """By source, how many rows of it items were expected of when the run began."""

    def source_stages(self) -> Iterator[SourceStages]:
        """For every source that was read, where its items may come to."""
        for node in self.nodes:
            if isinstance(node, Source) and node.name in self.finish_times:
                yield SourceStages(node, self._stages_of(node))

    def fast_path_rows(self, way: SourceStages) -> DataFrame | None:
        """The journeys of its items if each of them stays one row: to be counted, for that is taken for granted."""
        if (
            not self.keyed
            or self._shows_data
            or self.following.may_share_keys(way.source)
            or way.source.name not in self.expected_rows
        ):
            return None
        return FastPath(self.following, self.nodes, self.options).item_rows(way.source, way.stages)

    def item_rows(self, way: SourceStages) -> DataFrame:
        """The journeys of its items, whatever becomes of them."""
        source = way.source
        stops = [stop for station in way.stages if station.same_as is None for stop in self._visits(source, station)]
        repeats = not self.keyed or self.following.may_share_keys(source)
        return item_rows(stops[0], stops[1:], way.stages, repeats=repeats)

    def contributor_tables(
        self, ways: Sequence[SourceStages], written: Mapping[str, DataFrame]
    ) -> dict[int, DataFrame]:
        """By the place of a node, who has made its rows together. ``written``: journeys in lanes, which know that."""
        found = {}
        told = {station.contributor_table for way in ways for station in way.stages}
        for place in sorted(place for place in told if place is not None):
            node = self.nodes[place]
            stations = {
                way.source.name: station.number
                for way in ways
                for station in way.stages
                if station.node == node.name and way.source.name in written
            }
            rows = self._items_behind(
                node, {source: _group_rows(written[source], at) for source, at in stations.items()}
            )
            named = self.options.contributor_ids and not isinstance(node, RowMap)
            found[place] = contributor_table(rows, counted=self._counts_all, named=named)
        return found

    def entered_ids(self) -> DataFrame | None:
        """The ids of the items that came in, from the sources as they are read: not from what was told of them."""
        from pyspark.sql import functions as F

        every = []
        for source in self.nodes:
            if isinstance(source, Source) and source.name in self.finish_times:
                rows = self.following.locations(source.name).rows(source.name, self.following.sampling)
                if rows is not None:
                    every.append(rows.select(correlation_uuid(F.col(HI), F.col(LO)).alias("correlation_id")))
        return reduce(lambda one, other: one.union(other), every).distinct() if every else None

    def _stages_of(self, source: Source) -> list[Stage]:
        stations: dict[str, Stage] = {}
        for node in self.nodes:
            before = [name for name in node.inputs if name in stations]
            if node.name in self.finish_times and (before or node is source):
                stations[node.name] = self._stage(source, node, stations, before)
        return list(stations.values())

    def _stage(self, source: Source, node: Node, stations: Mapping[str, Stage], before: Sequence[str]) -> Stage:
        ports = {
            stations[name].number: tuple(port for port, each in enumerate(node.inputs) if each == name)
            for name in before
        }
        like = tuple(own for name in before for own in stations[name].counted_stages)
        about: dict[str, Any] = {"ports": ports, "at": self.finish_times[node.name]}
        names = (len(stations), node.name, node.segment, node.pipeline.id, node.pipeline.name, node.kind)
        if isinstance(node, Sink | PassThrough):
            guessed = any(stations[name].continuity is Continuity.REPRESENTATIVE for name in before)
            how = Continuity.REPRESENTATIVE if guessed else Continuity.EXACT
            return Stage(*names, continuity=how, same_as=like, **about)
        how = self.following.continuity.get(node.name, Continuity.EXACT)
        reach = self.following.locations(node.name)
        if source.name in reach.lost_sources:
            return Stage(*names, continuity=Continuity.REPRESENTATIVE, same_as=like, **about)
        if not isinstance(node, RowMap):
            merges = reach.merge_depth(source.name) > max(
                (self._merge_depth(source, name) for name in before), default=0
            )
            about["merges"] = merges or (how is not Continuity.EXACT and isinstance(node, Aggregate))
        return Stage(*names, continuity=how, contributor_table=self._contributor_table(node, reach), **about)

    def _contributor_table(self, node: Node, reach: ItemLocations) -> int | None:
        if isinstance(node, RowMap):
            known = bool(self.function_outputs[node.name].pairs) and self._counts_all
        else:
            known = bool(reach.linked_sources()) and (self.options.contributor_ids or self._counts_all)
        return self.nodes.index(node) if known else None

    def _items_behind(self, node: Node, known: Mapping[str, DataFrame]) -> DataFrame:
        """(row, item), each once: who has made the node's rows."""
        from pyspark.sql import functions as F

        if isinstance(node, RowMap):
            return self.function_outputs[node.name].items_behind().select(*_row_id_columns(F.col(OUT)), *ID)
        reach = self.following.locations(node.name)
        if not self._goes_by_group(reach):
            return reach.items_behind(self.following.sampling).select(*_row_id_columns(F.col(OUT_ID)), *ID)
        others = [
            reach.items_by_group(source, self.following.sampling) for source in sorted(reach.sources - known.keys())
        ]
        return union_by_name([*known.values(), *(each for each in others if each is not None)])

    def _goes_by_group(self, reach: ItemLocations) -> bool:
        return reach.group_link is not None and not self._shows_data

    @property
    def _shows_data(self) -> bool:
        return self.options.snapshots and not self.options.redact

    def _merge_depth(self, source: Source, node: str) -> int:
        reach = self.following.locations(node)
        return reach.merge_depth(source.name) if source.name in reach.sources else 0

    def _visits(self, source: Source, station: Stage) -> list[StageVisit]:
        """Where the source's items are at a station of which something can be told."""
        node = next(node for node in self.nodes if node.name == station.node)
        if not isinstance(node, RowMap):
            return self._row_visits(source, node, station)
        mapped = self._row_visits(source, node, station) if station.continuity is Continuity.DECLARED else []
        return [*self._function_visits(source.name, node, station), *mapped]

    def _row_visits(self, source: Source, node: Node, station: Stage) -> list[StageVisit]:
        from pyspark.sql import functions as F

        reach, sampling = self.following.locations(node.name), self.following.sampling
        if reach.linked_sources() and self._goes_by_group(reach):
            groups = reach.items_by_group(source.name, sampling)
            row = {name: F.col(name) for name in ROW_ID}
            return [] if groups is None else [StageVisit(station.number, groups, {EMITTED: F.lit(1), **row})]
        rows = reach.rows(source.name, sampling)
        if rows is None:
            return []
        told: dict[str, Column] = {EMITTED: F.col(COPIES)}
        if self._shows_data or (node is source and not self.options.redact):
            told[SHOWN] = _row_json(reach)
        if node is source:
            told[KEY] = F.col(f"{reach.provenance.sources[0].mark}.k")
        if reach.linked_sources():
            told |= row_id_columns(F.col(OUT_ID)) if station.contributor_table is not None else {}
            return [StageVisit(station.number, rows, told)]
        ids = [ids for _, ids in reach.carried_ids()]
        told[CONTRIBUTORS] = count_items(ids)
        named = self.options.contributor_ids and len(ids) > 1
        return [StageVisit(station.number, rows, told, other_items((HI, LO), ids) if named else ())]

    @property
    def _counts_all(self) -> bool:
        """Of the items behind a row only those that are followed can be counted: where these are some, they are not
        the number of all."""
        return self.following.sampling.every == 1

    def _function_visits(self, source: str, node: RowMap, station: Stage) -> list[StageVisit]:
        """What became of the items at a row function: as it was kept. A row goes in with the company it came in."""
        from pyspark.sql import functions as F

        kept = self.function_outputs[node.name]
        parts = kept.item_rows(source, self.following.sampling)
        told = {
            EMITTED: F.lit(0) if station.continuity is Continuity.DECLARED else F.col("__hw_outcome").bitwiseAND(1),
            FLAGS: F.col("__hw_outcome"),
            RETRIES: F.col("__hw_retries"),
            ERROR: F.col("__hw_error"),
        }
        if self._shows_data:
            told[SHOWN] = kept.result_json()
        if not kept.pairs:
            ids = [ids for columns in kept.carried_ids.values() for ids in columns]
            told[CONTRIBUTORS] = count_items(ids)
        elif station.contributor_table is not None:
            told |= row_id_columns(F.col(OUT))
        return [StageVisit(station.number, part, told) for part in parts]


def _row_id_columns(row_id: Column) -> list[Column]:
    return [column.alias(name) for name, column in row_id_columns(row_id).items()]


def _group_rows(journeys: DataFrame, station: int) -> DataFrame:
    """(row, item), from journeys in which an item goes into one row at most."""
    from pyspark.sql import functions as F

    names = dict(zip((f"g{station}", f"h{station}", "hi", "lo"), (*ROW_ID, *ID), strict=True))
    found = journeys.select(*(F.col(name).alias(as_) for name, as_ in names.items()))
    return found.where(F.col(ROW_ID[0]).isNotNull())


def _row_json(reach: ItemLocations) -> Column:
    """The row, as JSON under its own names."""
    from pyspark.sql import functions as F

    columns = [F.col(f"__hw_c{place}").alias(column.name) for place, column in enumerate(reach.provenance.columns)]
    return F.to_json(F.struct(*columns), {"ignoreNullFields": "false"})
