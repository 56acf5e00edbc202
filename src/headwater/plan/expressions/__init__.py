"""Expressions, one family a file."""

from __future__ import annotations

from headwater.plan.context import Context
from headwater.plan.expressions import (
    aggregates,
    collections,
    conditionals,
    lambdas,
    masking,
    references,
    structs,
    subqueries,
    windows,
)
from headwater.plan.expressions.family import Combine, Family, Look, transformed
from headwater.plan.flow import Mix, Part, Value
from headwater.plan.relation import Scope
from headwater.plan.tree import Node, fold

FAMILIES: tuple[Family, ...] = (
    references.FAMILY,
    structs.FAMILY,
    collections.FAMILY,
    conditionals.FAMILY,
    aggregates.FAMILY,
    windows.FAMILY,
    masking.FAMILY,
    lambdas.FAMILY,
    subqueries.FAMILY,
)
_COMBINE: dict[str, Combine] = {name: rule for family in FAMILIES for name, rule in family.combine.items()}
_LOOK: dict[str, Look] = {name: rule for family in FAMILIES for name, rule in family.look.items()}


def evaluate(node: Node, scope: Scope, context: Context) -> Value:
    """Where an expression's value comes from."""

    def look(node: Node) -> Value | None:
        rule = _LOOK.get(node.name)
        if rule is not None:
            return rule(node, scope, context)
        if not node.children and node.name not in _COMBINE and (held := tuple(node.aside())):
            return _leaf(node, held, scope, context)
        return None

    return fold(node, look, _combine)


def _leaf(node: Node, held: tuple[Node, ...], scope: Scope, context: Context) -> Value:
    """A leaf that is not known, and holds other trees in its fields: expressions count as its arguments."""
    if "plan" in node.fields:
        return context.gap(scope.operator, f"the expression {node.name} is not known, and holds a plan")
    return Mix(Part(context.value(tree, scope)) for tree in held)


def _combine(node: Node, values: list[Value]) -> Value:
    return _COMBINE.get(node.name, transformed)(node, values)
