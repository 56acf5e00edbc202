"""Subqueries in expressions. What decides their rows belongs to the value, not to the rows of the query around."""

from __future__ import annotations

from headwater.plan.context import TraceContext
from headwater.plan.expressions.family import ExpressionFamily
from headwater.plan.flow import CombinedValue, DependencyKind, Value, ValuePart
from headwater.plan.relation import ColumnScope
from headwater.plan.tree import PlanNode


def _scalar(node: PlanNode, scope: ColumnScope, context: TraceContext) -> Value:
    plan = context.subquery(node, scope)
    value = [ValuePart(column.value, DependencyKind.IDENTITY, through=True) for column in plan.columns[:1]]
    return CombinedValue([*value, ValuePart(plan.whole, DependencyKind.IDENTITY)])


def _list(node: PlanNode, scope: ColumnScope, context: TraceContext) -> Value:
    """`IN (SELECT …)`: compared with every column."""
    plan = context.subquery(node, scope)
    return CombinedValue(
        [*(ValuePart(column.value) for column in plan.columns), ValuePart(plan.whole, DependencyKind.IDENTITY)]
    )


def _exists(node: PlanNode, scope: ColumnScope, context: TraceContext) -> Value:
    """Only whether there are rows: their content does not matter."""
    return CombinedValue([ValuePart(context.subquery(node, scope).whole, DependencyKind.IDENTITY)])


FAMILY = ExpressionFamily(
    scoped={
        "ScalarSubquery": _scalar,
        "ListQuery": _list,
        "Exists": _exists,
        "FunctionTableSubqueryArgumentExpression": _list,
        "LateralSubquery": _list,
    }
)
