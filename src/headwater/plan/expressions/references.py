"""Columns, and what leaves a value as it is."""

from __future__ import annotations

from headwater.plan.context import Context
from headwater.plan.expressions.family import Family, copied, transformed
from headwater.plan.flow import NOTHING, Value
from headwater.plan.relation import Scope
from headwater.plan.tree import Node
from headwater.plan.types import type_of


def _column(node: Node, scope: Scope, context: Context) -> Value:
    column = scope.find(node.expr_id)
    if column is not None:
        return column.value
    return context.gap(scope.operator, f"the column {node.text('name')} comes from nothing below it")


def _by_place(node: Node, scope: Scope, context: Context) -> Value:
    """Typed operators count their inputs instead of naming them."""
    columns, place = list(scope.columns.values()), node.number("ordinal")
    if place is not None and place < len(columns):
        return columns[place].value
    return context.gap(scope.operator, f"it refers to input {place} of {len(columns)}")


def _outer(node: Node, scope: Scope, context: Context) -> Value:
    """A correlated subquery's reference to the query around it."""
    inner = node.tree("e")
    return NOTHING if inner is None else context.value(inner, scope.outer or scope)


def _cast(node: Node, values: list[Value]) -> Value:
    """Spark also casts to the type that is already there, as around the arguments of a SQL function."""
    if node.children and type_of(node.children[0]) == node.fields.get("dataType"):
        return values[0]
    return transformed(node, values)


def _literal(node: Node, values: list[Value]) -> Value:
    return NOTHING


_AS_IT_IS = (
    *("Alias", "KnownNotNull", "KnownNullable", "KnownNotContainsNull", "AssertNotNull", "PromotePrecision"),
    *("TempResolvedColumn", "SQLScalarFunction", "KnownFloatingPointNormalized", "NormalizeNaNAndZero", "SortOrder"),
)

FAMILY = Family(
    look={
        "AttributeReference": _column,
        "NamedLambdaVariable": _column,
        "BoundReference": _by_place,
        "OuterReference": _outer,
        "OuterScopeReference": _outer,
    },
    combine={"Cast": _cast, "AnsiCast": _cast, "Literal": _literal, **dict.fromkeys(_AS_IT_IS, copied)},
)
