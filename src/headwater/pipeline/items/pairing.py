"""Follows items where row lineage cannot: by a declared mapper, or by the position of rows.

The node's output is stored with row numbers, and a table of (number, item) for each source. From there on it is a table
like any other whose rows carry the ids of their items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from headwater.jvm import JavaObject
from headwater.model.items import Continuity
from headwater.pipeline.declare.nodes import Mapper, PipelineNode
from headwater.pipeline.items.item_ids import ID, Sampling
from headwater.pipeline.items.item_locations import ItemLocations
from headwater.pipeline.items.leaves import OUT, ItemLeaf
from headwater.pipeline.run.steps import quote_name
from headwater.pipeline.run.workspace import Workspace
from headwater.plan.operator_traits import RowEffect, operators_with
from headwater.rows.column_names import OUT_ID

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_ROW_ALIGNED = operators_with(lambda traits: traits.order_kept and traits.rows is not RowEffect.SOME)
_ORDER_KEEPING = frozenset({"LogicalRelation", *_ROW_ALIGNED} - {"View"})
"""Operators that may return a row for each row of the stored input, in its order; a view reads something else."""


@dataclass(frozen=True)
class PairedOutput:
    """A node's stored output; ``frame`` has the columns that other nodes see."""

    frame: DataFrame
    leaf: ItemLeaf
    continuity: Continuity


@dataclass(frozen=True)
class PairingInput:
    """An input's ``frame`` as other nodes see it, and the locations of items in it."""

    frame: DataFrame
    locations: ItemLocations


@dataclass(frozen=True)
class OutputPairing:
    workspace: Workspace
    sampling: Sampling

    def by_mapper(
        self, node: PipelineNode, frame: DataFrame, inputs: Sequence[PairingInput], mapper: Mapper
    ) -> PairedOutput:
        table = self._store_numbered(node, frame)
        output = table.select(OUT, *map(quote_name, frame.columns))
        lost = frozenset().union(*(input.locations.lost_sources for input in inputs))
        pairs_by_source: dict[str, list[DataFrame]] = {}
        for input in inputs:
            for source in sorted(input.locations.sources - lost):
                rows = input.locations.rows(source, self.sampling)
                if rows is not None:
                    input_rows = rows.select(*_original_columns(input.frame.columns), *ID)
                    pairs = input_rows.join(output, _mapper_condition(node, mapper, input_rows, output)).select(
                        OUT, *ID
                    )
                    pairs_by_source.setdefault(source, []).append(pairs)
        return self._store_pairs(node, table, frame.columns, pairs_by_source, lost, Continuity.DECLARED)

    def by_position(
        self, node: PipelineNode, input: PairingInput, make: Callable[[DataFrame], DataFrame]
    ) -> PairedOutput | None:
        """``make`` computes the node's output again for a stored input, whose order is fixed. None if the output may
        have another order than the input. If the two differ in their number of rows, items are not followed."""
        from pyspark.sql import functions as F

        locations = input.locations
        rows = locations.with_out_ids(locations.provenance.frame(0)).select(
            OUT_ID, *_original_columns(input.frame.columns)
        )
        input_rows = self.workspace.keep(f"{node.name}<", rows)
        output = make(input_rows.select(*map(quote_name, input.frame.columns)))
        plan: JavaObject = output._jdf.queryExecution().analyzed()
        if not _keeps_order(plan):
            return None
        table = self._store_numbered(node, output)
        numbered_input = input_rows.select(OUT_ID, F.monotonically_increasing_id().alias(OUT))
        with self.workspace.tag_own_jobs():
            counts = {frame.count() for frame in (input_rows, table, numbered_input.join(table, OUT))}
        if len(counts) > 1:
            return self._store_pairs(
                node, table, output.columns, {}, locations.sources | locations.lost_sources, Continuity.REPRESENTATIVE
            )
        pairs_of_sources = ((source, locations.pairs(source, self.sampling)) for source in sorted(locations.sources))
        pairs_by_source = {
            source: [numbered_input.join(pairs, OUT_ID).select(OUT, *ID)]
            for source, pairs in pairs_of_sources
            if pairs is not None
        }
        return self._store_pairs(
            node, table, output.columns, pairs_by_source, locations.lost_sources, Continuity.POSITIONAL
        )

    def without_pairs(self, node: PipelineNode, frame: DataFrame, sources: Iterable[str]) -> PairedOutput:
        """Stores an output whose rows cannot be assigned to items."""
        table = self._store_numbered(node, frame)
        return self._store_pairs(node, table, frame.columns, {}, sources, Continuity.REPRESENTATIVE)

    def _store_numbered(self, node: PipelineNode, frame: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F

        return self.workspace.keep(f"{node.name}>", frame.withColumn(OUT, F.monotonically_increasing_id()))

    def _store_pairs(
        self,
        node: PipelineNode,
        table: DataFrame,
        columns: Sequence[str],
        parts_by_source: Mapping[str, Sequence[DataFrame]],
        lost: Iterable[str],
        continuity: Continuity,
    ) -> PairedOutput:
        pairs = {
            source: self.workspace.keep(
                f"{node.name}>{source}", reduce(lambda left, right: left.union(right), parts).distinct()
            )
            for source, parts in parts_by_source.items()
        }
        paths = frozenset([self.workspace.absolute(self.workspace.table(f"{node.name}>"))])
        leaf = ItemLeaf(node.name, paths, {}, pairs, lost_sources=frozenset(lost))
        return PairedOutput(table.select(*map(quote_name, columns)), leaf, continuity)


def _original_columns(columns: Sequence[str]) -> list[Column]:
    """A row's columns under their original names."""
    from pyspark.sql import functions as F

    return [F.col(f"__hw_c{position}").alias(name) for position, name in enumerate(columns)]


def _mapper_condition(node: PipelineNode, mapper: Mapper, input_rows: DataFrame, output: DataFrame) -> Column:
    from pyspark.sql import Column

    condition = mapper(input_rows, output)
    if not isinstance(condition, Column):
        raise node.invalid(f"The mapper returned {type(condition).__name__}, not a Column.")
    return condition


def _keeps_order(plan: JavaObject) -> bool:
    children: JavaObject = plan.children()
    below = (children.apply(position) for position in range(children.size()))
    return plan.getClass().getSimpleName() in _ORDER_KEEPING and children.size() <= 1 and all(map(_keeps_order, below))
