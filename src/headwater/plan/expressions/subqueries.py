"""Subqueries in expressions. What decides their rows belongs to the value, not to the whole of the query around."""

from __future__ import annotations

from headwater.plan.context import Context
from headwater.plan.expressions.family import Family
from headwater.plan.flow import Kind, Mix, Part, Value
from headwater.plan.relation import Scope
from headwater.plan.tree import Node


def _scalar(node: Node, scope: Scope, context: Context) -> Value:
    plan = context.subquery(node, scope)
    value = [Part(column.value, Kind.IDENTITY, through=True) for column in plan.columns[:1]]
    return Mix([*value, Part(plan.whole, Kind.IDENTITY)])


def _list(node: Node, scope: Scope, context: Context) -> Value:
    """`IN (SELECT …)`: compared with every column."""
    plan = context.subquery(node, scope)
    return Mix([*(Part(column.value) for column in plan.columns), Part(plan.whole, Kind.IDENTITY)])


def _exists(node: Node, scope: Scope, context: Context) -> Value:
    """Only whether there are rows: what they hold does not matter."""
    return Mix([Part(context.subquery(node, scope).whole, Kind.IDENTITY)])


FAMILY = Family(
    look={
        "ScalarSubquery": _scalar,
        "ListQuery": _list,
        "Exists": _exists,
        "FunctionTableSubqueryArgumentExpression": _list,
        "LateralSubquery": _list,
    }
)
