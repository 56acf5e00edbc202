"""Select lists: projections, aggregates, windows."""

from __future__ import annotations

from collections.abc import Sequence

from headwater.plan.context import TraceContext
from headwater.plan.flow import DependencyKind
from headwater.plan.operators.family import OperatorFamily, named_column, scope_of, value_with_sql
from headwater.plan.relation import ColumnScope, Relation, row_dependency
from headwater.plan.tree import PlanNode


def _project(node: PlanNode, inputs: Sequence[Relation], outer: ColumnScope | None, context: TraceContext) -> Relation:
    scope = scope_of(node, inputs, outer)
    return Relation(
        tuple(named_column(item, scope, context) for item in node.trees("projectList")),
        inputs[0].whole,
    )


def _aggregate(
    node: PlanNode, inputs: Sequence[Relation], outer: ColumnScope | None, context: TraceContext
) -> Relation:
    scope = scope_of(node, inputs, outer)
    columns = tuple(named_column(item, scope, context) for item in node.trees("aggregateExpressions"))
    keys = [value_with_sql(key, scope, context) for key in node.trees("groupingExpressions")]
    return Relation(columns, inputs[0].with_whole(row_dependency(DependencyKind.GROUP_BY, *keys)).whole)


def _window(node: PlanNode, inputs: Sequence[Relation], outer: ColumnScope | None, context: TraceContext) -> Relation:
    """Each expression carries its own keys and order."""
    scope = scope_of(node, inputs, outer)
    return inputs[0].with_columns(named_column(item, scope, context) for item in node.trees("windowExpressions"))


FAMILY: OperatorFamily = {"Project": _project, "Aggregate": _aggregate, "Window": _window}
