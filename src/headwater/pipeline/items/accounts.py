"""The account of a run's items: for each source, the path of every item through the nodes that ran, and its end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import reduce
from typing import TYPE_CHECKING

from headwater.model.items import Continuity
from headwater.pipeline.declare.nodes import (
    ComputedNode,
    PassThroughNode,
    PipelineNode,
    RowMapNode,
    SinkNode,
    SourceNode,
)
from headwater.pipeline.declare.options import LineageOptions
from headwater.pipeline.items import stage_columns
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
from headwater.pipeline.items.leaves import KEY_FIELD, OUT
from headwater.pipeline.items.stages import Stage
from headwater.pipeline.run.function_outputs import FunctionOutput
from headwater.rows.column_names import OUT_ID

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


@dataclass(frozen=True)
class SourceStages:
    """A source, and the stages that its items may reach."""

    source: SourceNode
    stages: list[Stage]


@dataclass(frozen=True)
class ItemAccount:
    """``finish_times``: the nodes that ran, in their order, and when each finished."""

    tracker: ItemTracker
    function_outputs: Mapping[str, FunctionOutput]
    finish_times: Mapping[str, datetime]
    nodes: Sequence[PipelineNode]
    options: LineageOptions
    keyed: bool = True
    """Whether an item is one row of its source."""
    expected_rows: Mapping[str, int] = field(default_factory=dict)
    """By source, the number of rows that were counted when the run began."""

    def source_stages(self) -> Iterator[SourceStages]:
        """Every source that was read, with the stages that its items may reach."""
        for node in self.nodes:
            if isinstance(node, SourceNode) and node.name in self.finish_times:
                yield SourceStages(node, self._stages_of(node))

    def fast_path_rows(self, route: SourceStages) -> DataFrame | None:
        """One row for each of its items, by the fast path. The caller has to count them, because the fast path assumes
        that every item stays one row. None if the fast path cannot be used."""
        if (
            not self.keyed
            or self._shows_data
            or self.tracker.may_share_keys(route.source)
            or route.source.name not in self.expected_rows
        ):
            return None
        return FastPath(self.tracker, self.nodes, self.options).item_rows(route.source, route.stages)

    def item_rows(self, route: SourceStages) -> DataFrame:
        """One row for each of its items, by the general path."""
        source = route.source
        visits = [visit for stage in route.stages if stage.same_as is None for visit in self._visits(source, stage)]
        repeats = not self.keyed or self.tracker.may_share_keys(source)
        return item_rows(visits[0], visits[1:], route.stages, repeats=repeats)

    def contributor_tables(
        self, routes: Sequence[SourceStages], fast_path_rows: Mapping[str, DataFrame]
    ) -> dict[int, DataFrame]:
        """By the position of a node, the table of the items that made its rows together. ``fast_path_rows`` contain it
        already for their sources."""
        tables = {}
        positions = {stage.contributor_table for route in routes for stage in route.stages}
        for position in sorted(position for position in positions if position is not None):
            node = self.nodes[position]
            stage_numbers = {
                route.source.name: stage.number
                for route in routes
                for stage in route.stages
                if stage.node == node.name and route.source.name in fast_path_rows
            }
            rows = self._items_behind(
                node, {source: _group_rows(fast_path_rows[source], number) for source, number in stage_numbers.items()}
            )
            named = self.options.contributor_ids and not isinstance(node, RowMapNode)
            tables[position] = contributor_table(rows, counted=self._counts_all, named=named)
        return tables

    def entered_ids(self) -> DataFrame | None:
        """The ids of the items that entered, read from the sources and not from the item log."""
        from pyspark.sql import functions as F

        frames = []
        for source in self.nodes:
            if isinstance(source, SourceNode) and source.name in self.finish_times:
                rows = self.tracker.locations(source.name).rows(source.name, self.tracker.sampling)
                if rows is not None:
                    frames.append(rows.select(correlation_uuid(F.col(HI), F.col(LO)).alias("correlation_id")))
        return reduce(lambda left, right: left.union(right), frames).distinct() if frames else None

    def _stages_of(self, source: SourceNode) -> list[Stage]:
        stages: dict[str, Stage] = {}
        for node in self.nodes:
            inputs = [name for name in node.inputs if name in stages]
            if node.name in self.finish_times and (inputs or node is source):
                stages[node.name] = self._stage(source, node, stages, inputs)
        return list(stages.values())

    def _stage(
        self, source: SourceNode, node: PipelineNode, stages: Mapping[str, Stage], inputs: Sequence[str]
    ) -> Stage:
        ports = {
            stages[name].number: tuple(port for port, input_name in enumerate(node.inputs) if input_name == name)
            for name in inputs
        }
        same_as = tuple(number for name in inputs for number in stages[name].counted_stages)
        stage = Stage(
            number=len(stages),
            node=node.name,
            segment=node.segment,
            pipeline_id=node.pipeline.id,
            pipeline=node.pipeline.name,
            kind=node.kind,
            ports=ports,
            continuity=self.tracker.continuity.get(node.name, Continuity.EXACT),
            at=self.finish_times[node.name],
        )
        if isinstance(node, SinkNode | PassThroughNode):
            guessed = any(stages[name].continuity is Continuity.REPRESENTATIVE for name in inputs)
            continuity = Continuity.REPRESENTATIVE if guessed else Continuity.EXACT
            return replace(stage, continuity=continuity, same_as=same_as)
        locations = self.tracker.locations(node.name)
        if source.name in locations.lost_sources:
            return replace(stage, continuity=Continuity.REPRESENTATIVE, same_as=same_as)
        merges = False
        if not isinstance(node, RowMapNode):
            depth_before = max((self._merge_depth(source, name) for name in inputs), default=0)
            is_paired_aggregate = (
                stage.continuity is not Continuity.EXACT and isinstance(node, ComputedNode) and node.merges_rows
            )
            merges = locations.merge_depth(source.name) > depth_before or is_paired_aggregate
        return replace(stage, merges=merges, contributor_table=self._contributor_table(node, locations))

    def _contributor_table(self, node: PipelineNode, locations: ItemLocations) -> int | None:
        if isinstance(node, RowMapNode):
            has_table = bool(self.function_outputs[node.name].pairs) and self._counts_all
        else:
            has_table = bool(locations.linked_sources()) and (self.options.contributor_ids or self._counts_all)
        return self.nodes.index(node) if has_table else None

    def _items_behind(self, node: PipelineNode, known_rows: Mapping[str, DataFrame]) -> DataFrame:
        """(row, item), each once: the items that made the node's rows."""
        from pyspark.sql import functions as F

        if isinstance(node, RowMapNode):
            return self.function_outputs[node.name].items_behind().select(*_row_id_columns(F.col(OUT)), *ID)
        locations = self.tracker.locations(node.name)
        if not self._goes_by_group(locations):
            return locations.items_behind(self.tracker.sampling).select(*_row_id_columns(F.col(OUT_ID)), *ID)
        others = [
            locations.items_by_group(source, self.tracker.sampling)
            for source in sorted(locations.sources - known_rows.keys())
        ]
        return union_by_name([*known_rows.values(), *(rows for rows in others if rows is not None)])

    def _goes_by_group(self, locations: ItemLocations) -> bool:
        return locations.group_link is not None and not self._shows_data

    @property
    def _shows_data(self) -> bool:
        return self.options.snapshots and not self.options.redact

    def _merge_depth(self, source: SourceNode, node: str) -> int:
        locations = self.tracker.locations(node)
        return locations.merge_depth(source.name) if source.name in locations.sources else 0

    def _visits(self, source: SourceNode, stage: Stage) -> list[StageVisit]:
        """The visits of the source's items at a stage."""
        node = next(node for node in self.nodes if node.name == stage.node)
        if not isinstance(node, RowMapNode):
            return self._row_visits(source, node, stage)
        mapped_visits = self._row_visits(source, node, stage) if stage.continuity is Continuity.DECLARED else []
        return [*self._function_visits(source.name, node, stage), *mapped_visits]

    def _row_visits(self, source: SourceNode, node: PipelineNode, stage: Stage) -> list[StageVisit]:
        from pyspark.sql import functions as F

        locations, sampling = self.tracker.locations(node.name), self.tracker.sampling
        if locations.linked_sources() and self._goes_by_group(locations):
            groups = locations.items_by_group(source.name, sampling)
            row = {name: F.col(name) for name in ROW_ID}
            return [] if groups is None else [StageVisit(stage.number, groups, {EMITTED: F.lit(1), **row})]
        rows = locations.rows(source.name, sampling)
        if rows is None:
            return []
        values: dict[str, Column] = {EMITTED: F.col(COPIES)}
        if self._shows_data or (node is source and not self.options.redact):
            values[SHOWN] = _row_json(locations)
        if node is source:
            values[KEY] = F.col(f"{locations.provenance.sources[0].mark}.{KEY_FIELD}")
        if locations.linked_sources():
            values |= row_id_columns(F.col(OUT_ID)) if stage.contributor_table is not None else {}
            return [StageVisit(stage.number, rows, values)]
        ids = [ids for _, ids in locations.carried_ids()]
        values[CONTRIBUTORS] = count_items(ids)
        named = self.options.contributor_ids and len(ids) > 1
        return [StageVisit(stage.number, rows, values, other_items((HI, LO), ids) if named else ())]

    @property
    def _counts_all(self) -> bool:
        """Whether all items are followed, so that the items of a row can be counted."""
        return self.tracker.sampling.every == 1

    def _function_visits(self, source: str, node: RowMapNode, stage: Stage) -> list[StageVisit]:
        """The visits at a row function, from its stored outcomes."""
        from pyspark.sql import functions as F

        output = self.function_outputs[node.name]
        parts = output.item_rows(source, self.tracker.sampling)
        values = {
            EMITTED: F.lit(0) if stage.continuity is Continuity.DECLARED else F.col("__hw_outcome").bitwiseAND(1),
            FLAGS: F.col("__hw_outcome"),
            RETRIES: F.col("__hw_retries"),
            ERROR: F.col("__hw_error"),
        }
        if self._shows_data:
            values[SHOWN] = output.result_json()
        if not output.pairs:
            ids = [ids for columns in output.carried_ids.values() for ids in columns]
            values[CONTRIBUTORS] = count_items(ids)
        elif stage.contributor_table is not None:
            values |= row_id_columns(F.col(OUT))
        return [StageVisit(stage.number, part, values) for part in parts]


def _row_id_columns(row_id: Column) -> list[Column]:
    return [column.alias(name) for name, column in row_id_columns(row_id).items()]


def _group_rows(item_rows: DataFrame, stage: int) -> DataFrame:
    """(row, item), from item rows in which an item goes into at most one row."""
    from pyspark.sql import functions as F

    names = dict(
        zip((stage_columns.row_hi(stage), stage_columns.row_lo(stage), "hi", "lo"), (*ROW_ID, *ID), strict=True)
    )
    rows = item_rows.select(*(F.col(name).alias(alias) for name, alias in names.items()))
    return rows.where(F.col(ROW_ID[0]).isNotNull())


def _row_json(locations: ItemLocations) -> Column:
    """The row, as JSON under its own names."""
    from pyspark.sql import functions as F

    columns = [
        F.col(f"__hw_c{position}").alias(column.name) for position, column in enumerate(locations.provenance.columns)
    ]
    return F.to_json(F.struct(*columns), {"ignoreNullFields": "false"})
