"""Item rows for items that each stay one row, computed without a shuffle.

Where the stages of a source form a chain, an item is either dropped by one of the operators or reaches the end: the
rows that each operator drops (rows/jvm/BlockPath.java), and those that are left, are all items, each of them once. The
results of a row function are stored with the ids and the key of the item, so that these need not be looked up. Of a
group that the row becomes part of, the key is enough.

The fast path assumes that a join matches one row and not several. This is checked afterwards: there must be as many
rows as items.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise
from typing import TYPE_CHECKING

from headwater.model.items import Continuity
from headwater.pipeline.declare.nodes import (
    JoinNode,
    PipelineNode,
    RowMapNode,
    SourceNode,
)
from headwater.pipeline.declare.options import LineageOptions
from headwater.pipeline.items import stage_columns
from headwater.pipeline.items.contributors import count_items, other_items
from headwater.pipeline.items.general_path import complete_rows
from headwater.pipeline.items.item_ids import HI, KEY, LO, Sampling
from headwater.pipeline.items.item_locations import ItemLocations
from headwater.pipeline.items.leaves import DATA_FIELD, ERROR_FIELD, FLAGS_FIELD, KEY_FIELD, RETRIES_FIELD, ItemLeaf
from headwater.pipeline.items.stages import Stage
from headwater.rows.provenance import BlockPath

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from headwater.pipeline.items.following import ItemTracker

_FILTERING_JOINS = ("semi", "anti")


def one_row_sources(nodes: Sequence[PipelineNode]) -> frozenset[str]:
    """The sources whose items stay one row each, as far as declared keys and joins show."""
    by_name = {node.name: node for node in nodes}
    names = set()
    for source in nodes:
        if isinstance(source, SourceNode):
            reached = {source.name}
            keeps_one_row = True
            for node in nodes:
                if reached.intersection(node.inputs):
                    reached.add(node.name)
                    keeps_one_row = keeps_one_row and _keeps_one_row(node, reached, by_name)
            if keeps_one_row:
                names.add(source.name)
    return frozenset(names)


def _keeps_one_row(node: PipelineNode, reached: set[str], nodes: Mapping[str, PipelineNode]) -> bool:
    if isinstance(node, RowMapNode):
        return not node.many
    if not isinstance(node, JoinNode):
        return len(node.inputs) == 1
    if node.how in _FILTERING_JOINS:
        return node.inputs[0] in reached and node.inputs[1] not in reached
    others = [name for name in node.inputs if name not in reached]
    return len(others) == 1 and _has_one_row_per_key(nodes[others[0]], set(node.on), nodes)


def _has_one_row_per_key(node: PipelineNode, on: set[str], nodes: Mapping[str, PipelineNode]) -> bool:
    """Whether the node appears to have one row for each value of the columns."""
    if node.unique_columns:
        return set(node.unique_columns) <= on
    if node.may_keep_keys and len(node.inputs) == 1:
        return _has_one_row_per_key(nodes[node.inputs[0]], on, nodes)
    return False


@dataclass(frozen=True)
class FastPath:
    tracker: ItemTracker
    nodes: Sequence[PipelineNode]
    options: LineageOptions

    def item_rows(self, source: SourceNode, stages: Sequence[Stage]) -> DataFrame | None:
        """One row for each item of the source; None if the fast path cannot be used."""
        counted = [stage for stage in stages if stage.same_as is None]
        if source.name not in one_row_sources(self.nodes) or not _is_chain(counted, stages):
            return None
        calls = [position for position, stage in enumerate(counted) if stage.is_row_function]
        if len(calls) > 1 or any(stage.continuity is not Continuity.EXACT for stage in counted):
            return None
        split = calls[0] if calls else len(counted)
        first = self._stage_run(source.name, (), counted[:split])
        if first is None:
            return None
        frames = list(first.dropped_items())
        last = self._stage_run(source.name, first.finished_stages, counted[split:]) if calls else first
        if last is None:
            return None
        frames += [*(last.dropped_items() if calls else ()), last.arrived_items()]
        rows = reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), frames)
        return complete_rows(rows, stages)

    def _stage_run(
        self, source: str, earlier: Sequence[tuple[Stage, int]], stages: Sequence[Stage]
    ) -> _StageRun | None:
        locations = [self.tracker.locations(stage.node) for stage in stages]
        merged = next(
            (position for position, location in enumerate(locations) if location.linked_sources()), len(stages)
        )
        if merged == 0 or any(location.provenance.notes for location in locations):
            return None
        views = [_BlockView.of(location, 0, source) for location in locations[:merged]]
        if any(location.group_link is None for location in locations[merged:]):
            return None
        views += [_BlockView.of(location, 1, source) for location in locations[merged:]]
        known_views = [view for view in views if view is not None]
        if len(known_views) < len(views) or not all(known_views[-1].continues(view) for view in known_views):
            return None
        if merged < len(stages) and not all(view.steps == known_views[-1].steps for view in known_views[merged:]):
            return None  # something is dropped between two nodes that have groups
        run = _StageRun(
            source=source,
            before=earlier,
            stages=stages,
            views=known_views,
            first_merged=merged,
            sampling=self.tracker.sampling,
            options=self.options,
        )
        return run if run.is_complete else None


def _is_chain(counted: Sequence[Stage], stages: Sequence[Stage]) -> bool:
    """Whether each stage leads only to the next one."""
    for previous, stage in pairwise(counted):
        ports = stage.ports_in_order
        if len(ports) != 1 or stages[ports[0][1]].counted_stages != (previous.number,):
            return False
    return True


@dataclass(frozen=True)
class _BlockView:
    """The items of a source in one block of a node's plan, and their path to it."""

    locations: ItemLocations
    block: int
    number: int
    """The number of the plan's source that carries them."""
    path: BlockPath

    @classmethod
    def of(cls, locations: ItemLocations, block: int, source: str) -> _BlockView | None:
        block_sources = locations.provenance.blocks[block].sources
        numbers = [
            number
            for number in block_sources
            if number in locations.leaves and source in locations.leaves[number].sources
        ]
        if len(numbers) != 1 or len(locations.leaves[numbers[0]].carried_ids.get(source, ())) != 1:
            return None
        path = locations.provenance.block_path(block, locations.provenance.sources[numbers[0]].mark)
        return None if path is None else cls(locations, block, numbers[0], path)

    @cached_property
    def steps(self) -> list[tuple[str, str]]:
        """The steps with names of tables, because source numbers differ between plans."""
        return [(kind, self._table_name(int(text)) if kind == "meet" else text) for kind, text in self.path.steps]

    def _table_name(self, number: int) -> str:
        leaf = self.locations.leaves.get(number)
        return "" if leaf is None else leaf.node

    def continues(self, other: _BlockView) -> bool:
        return self.steps[: len(other.steps)] == other.steps and self.leaf is other.leaf

    @property
    def leaf(self) -> ItemLeaf:
        return self.locations.leaves[self.number]

    @property
    def mark(self) -> str:
        return self.locations.provenance.sources[self.number].mark

    def item_ids(self, joined_count: int) -> list[tuple[str, str]]:
        """The id columns of the items in a row after the given number of joins."""
        numbers = [self.number, *self.path.joined_sources[:joined_count]]
        columns = []
        for number in numbers:
            leaf, mark = self.locations.leaves.get(number), self.locations.provenance.sources[number].mark
            if leaf is not None:
                names = [
                    leaf.id_prefix(source, position)
                    for source, ids in leaf.carried_ids.items()
                    for position in range(len(ids))
                ]
                columns += [(f"{mark}.{name}_hi", f"{mark}.{name}_lo") for name in names]
        return columns


@dataclass(frozen=True)
class _StageRun:
    """Consecutive stages that read one table. ``before`` are the stages that made the table, each with the number of
    items in a row there; from ``first_merged`` on, rows are groups."""

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
        """Whether rows of the table carry everything that is recorded of their items."""
        leaf, all_ids = self._top.leaf, len(self._top.item_ids(0))
        has_data = self.options.redact or leaf.data is not None
        return leaf.origin == self.source and has_data and all(ids in (1, all_ids) for _, ids in self.before)

    @property
    def finished_stages(self) -> list[tuple[Stage, int]]:
        """Its stages, as the ``before`` of the next run."""
        joined_counts = (len(view.path.joined_sources) for view in self.views)
        return [
            (stage, len(self._top.item_ids(joined_count)))
            for stage, joined_count in zip(self.stages, joined_counts, strict=True)
        ]

    def dropped_items(self) -> Iterable[DataFrame]:
        """The items that the operators of these stages drop, one frame for each operator."""
        ends = [view.path.drop_count for view in self.views]
        for position in range(self._top.path.drop_count):
            stage_position = next(stage_position for stage_position, end in enumerate(ends) if end > position)
            if stage_position > 0 or self.before:  # rows that a source's own reader drops were never items
                yield self._item_rows(self._top.path.dropped_rows(position), stage_position)

    def arrived_items(self) -> DataFrame:
        return self._item_rows(self._top.locations.provenance.frame(self._top.block), len(self.stages))

    def _item_rows(self, rows: DataFrame, stage_count: int) -> DataFrame:
        """Item rows for items that came through the first ``stage_count`` stages."""
        from pyspark.sql import functions as F

        top, leaf = self._top, self._top.leaf
        name = leaf.id_prefix(self.source, 0)
        hi, lo = F.col(f"{top.mark}.{name}_hi"), F.col(f"{top.mark}.{name}_lo")
        chosen = self.sampling.condition(lo)
        rows = rows.where(hi.isNotNull() if chosen is None else hi.isNotNull() & chosen)
        columns: dict[str, Column] = {HI: hi, LO: lo, KEY: F.col(f"{top.mark}.{KEY_FIELD}")}
        columns[stage_columns.data(0)] = (
            F.lit(None).cast("string") if self.options.redact else F.col(f"{top.mark}.{DATA_FIELD}")
        )
        ids = top.item_ids(0)
        for stage, item_count in self.before:
            columns[stage_columns.emitted(stage.number)] = F.lit(1)
            columns[stage_columns.contributors(stage.number)] = count_items(ids) if item_count > 1 else F.lit(1)
        for position, stage in enumerate(self.stages[:stage_count]):
            columns[stage_columns.emitted(stage.number)] = F.lit(1)
            if position < self.first_merged:
                ids = top.item_ids(len(self.views[position].path.joined_sources))
                columns[stage_columns.contributors(stage.number)] = count_items(ids) if len(ids) > 1 else F.lit(1)
            elif stage.contributor_table is not None:
                columns |= dict(
                    zip(
                        (stage_columns.row_hi(stage.number), stage_columns.row_lo(stage.number)),
                        top.locations.group_row_id(),
                        strict=True,
                    )
                )
        if self.stages[0].is_row_function:
            number = self.stages[0].number
            columns[stage_columns.flags(number)] = F.col(f"{top.mark}.{FLAGS_FIELD}")
            columns[stage_columns.retries(number)] = F.col(f"{top.mark}.{RETRIES_FIELD}")
            columns[stage_columns.error(number)] = F.col(f"{top.mark}.{ERROR_FIELD}")
        if self.options.contributor_ids and len(ids) > 1:
            own_id = (f"{top.mark}.{name}_hi", f"{top.mark}.{name}_lo")
            columns["others"] = _item_list(other_items(own_id, ids))
        return rows.select(*(column.alias(name) for name, column in columns.items()))


def _item_list(others: Sequence[tuple[Column, Column]]) -> Column:
    """The present items as an array. A single item needs no search for duplicates."""
    from pyspark.sql import functions as F

    if len(others) == 1:
        is_present, other = others[0]
        return F.when(is_present, F.array(other))
    return F.array_distinct(F.array_compact(F.array(*(F.when(is_present, other) for is_present, other in others))))
