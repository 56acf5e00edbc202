"""Columns, and expressions that leave a value unchanged."""

from __future__ import annotations

from headwater.plan.context import TraceContext
from headwater.plan.expressions.family import ExpressionFamily, computed_from, first_value
from headwater.plan.flow import NO_SOURCE, Value
from headwater.plan.relation import ColumnScope
from headwater.plan.tree import PlanNode
from headwater.plan.types import type_of


def _column(node: PlanNode, scope: ColumnScope, context: TraceContext) -> Value:
    column = scope.find(node.expr_id)
    if column is not None:
        return column.value
    return context.gap(scope.operator, f"the column {node.text('name')} comes from nothing below it")


def _by_place(node: PlanNode, scope: ColumnScope, context: TraceContext) -> Value:
    """Typed operators refer to their inputs by position."""
    columns, ordinal = list(scope.columns.values()), node.number("ordinal")
    if ordinal is not None and ordinal < len(columns):
        return columns[ordinal].value
    return context.gap(scope.operator, f"it refers to input {ordinal} of {len(columns)}")


def _outer(node: PlanNode, scope: ColumnScope, context: TraceContext) -> Value:
    """A correlated subquery's reference to the query around it."""
    inner = node.tree("e")
    return NO_SOURCE if inner is None else context.value(inner, scope.outer or scope)


def _cast(node: PlanNode, values: list[Value]) -> Value:
    """Spark also casts to the type that the value already has, as around the arguments of a SQL function."""
    if node.children and type_of(node.children[0]) == node.fields.get("dataType"):
        return values[0]
    return computed_from(node, values)


def _literal(node: PlanNode, values: list[Value]) -> Value:
    return NO_SOURCE


_UNCHANGED = (
    *("Alias", "KnownNotNull", "KnownNullable", "KnownNotContainsNull", "AssertNotNull", "PromotePrecision"),
    *("TempResolvedColumn", "SQLScalarFunction", "KnownFloatingPointNormalized", "NormalizeNaNAndZero", "SortOrder"),
)

FAMILY = ExpressionFamily(
    scoped={
        "AttributeReference": _column,
        "NamedLambdaVariable": _column,
        "BoundReference": _by_place,
        "OuterReference": _outer,
        "OuterScopeReference": _outer,
    },
    combine={"Cast": _cast, "AnsiCast": _cast, "Literal": _literal, **dict.fromkeys(_UNCHANGED, first_value)},
)
