"""Whether the results of some rows can be appended to the results of the others.

They can if every written row comes from one of these rows and from no other: no node in between sees several rows at
once, and without these rows nothing is written. Both are checked on Spark's plans; nothing runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.errors import PipelineInvalid
from headwater.jvm import JavaObject
from headwater.pipeline.declare.nodes import (
    ComputedNode,
    PassThroughNode,
    PipelineNode,
    RowMapNode,
    SourceNode,
)
from headwater.pipeline.run import steps
from headwater.plan.operator_traits import operators_with

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

_MARK_ALIAS = "__hw_some"
_ROW_BY_ROW_OPERATORS = operators_with(lambda traits: traits.row_by_row)
"""Operators of an analyzed plan that look at one row of an input at a time."""


@dataclass
class AppendCheck:
    """``entry`` is the row function whose results are only a part of all results."""

    spark: SparkSession
    nodes: Sequence[PipelineNode]
    entry: str

    frames: dict[str, DataFrame] = field(default_factory=dict)
    """Frames of the nodes, for an entry without results."""
    affected_nodes: set[str] = field(default_factory=set)

    def check(self) -> None:
        """Raises an error that names the node if a sink would be wrong."""
        for node in self.nodes:
            inputs = [self.frames[name] for name in node.inputs if name in self.frames]
            if node.name == self.entry:
                self.affected_nodes.add(node.name)
            elif self.affected_nodes.intersection(node.inputs):
                self.affected_nodes.add(node.name)
                self._refuse(node, inputs)
            self._make(node, inputs)

    def _make(self, node: PipelineNode, inputs: Sequence[DataFrame]) -> None:
        from pyspark.sql import functions as F

        match node:
            case SourceNode():
                self.frames[node.name] = steps.read(node, self.spark)
            case RowMapNode():
                frame = self._unknown_rows(steps.schema_of(node, self.spark))
                self.frames[node.name] = frame.where(F.lit(False)) if node.name in self.affected_nodes else frame
            case ComputedNode():
                self.frames[node.name] = steps.apply_node(node, inputs)
            case PassThroughNode():
                self.frames[node.name] = inputs[0]

    def _unknown_rows(self, schema: StructType) -> DataFrame:
        """A frame whose plan does not show that it is empty."""
        return self.spark.createDataFrame(self.spark.sparkContext.emptyRDD(), schema)

    def _refuse(self, node: PipelineNode, inputs: Sequence[DataFrame]) -> None:
        if not isinstance(node, ComputedNode):
            return
        if node.merges_rows:
            raise _refusal(node, "it makes one row of many, and the earlier rows are not replayed")
        marked_frames = {
            name: self._unknown_rows(self.frames[name].schema).alias(_MARK_ALIAS)
            for name in self.affected_nodes & {*node.inputs}
        }
        operator = _operator_across_rows(self._apply(node, inputs, marked_frames)._jdf.queryExecution().analyzed())
        if operator is not None:
            raise _refusal(node, f"its {operator} may see other rows than the replayed ones")
        if not _is_empty(self._apply(node, inputs, {name: frame.limit(0) for name, frame in marked_frames.items()})):
            raise _refusal(node, "it returns rows that do not come from the replayed ones")

    def _apply(
        self, node: ComputedNode, inputs: Sequence[DataFrame], replacements: Mapping[str, DataFrame]
    ) -> DataFrame:
        frames = [replacements.get(name, frame) for name, frame in zip(node.inputs, inputs, strict=True)]
        return steps.apply_node(node, frames)


def _operator_across_rows(plan: JavaObject) -> str | None:
    """The first operator above the marked frame that may see several of its rows at once."""
    name = str(plan.getClass().getSimpleName())
    if name == "SubqueryAlias" and str(plan.alias()) == _MARK_ALIAS:
        return None
    children: JavaObject = plan.children()
    below: list[JavaObject] = [children.apply(position) for position in range(children.size())]
    marked = [child for child in below if _count_marks(child)]
    if sum(map(_count_marks, marked)) < _count_marks(plan):
        return "subquery"
    if marked and name not in _ROW_BY_ROW_OPERATORS:
        return name
    if name == "Join" and (len(marked) > 1 or (_only_tests_right_side(plan) and marked == below[1:])):
        return "Join"
    return next((operator for child in marked if (operator := _operator_across_rows(child)) is not None), None)


def _count_marks(plan: JavaObject) -> int:
    """How often the marked frame is used, including in subqueries."""
    return str(plan.toString()).count(f"SubqueryAlias {_MARK_ALIAS}")


def _only_tests_right_side(join: JavaObject) -> bool:
    """Whether the join only tests for rows on its right side."""
    return str(join.joinType().toString()).startswith(("LeftSemi", "LeftAnti", "ExistenceJoin"))


def _is_empty(frame: DataFrame) -> bool:
    plan: JavaObject = frame._jdf.queryExecution().optimizedPlan()
    return str(plan.getClass().getSimpleName()) == "LocalRelation" and bool(plan.data().isEmpty())


def _refusal(node: PipelineNode, reason: str) -> PipelineInvalid:
    return node.invalid(
        f"its results cannot be appended to earlier ones: {reason}. Pass mode= to write them anyway, or run the "
        "pipeline again."
    )
