"""Rules for Catalyst expressions, one family per module."""

from __future__ import annotations

from headwater.plan.context import TraceContext
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
from headwater.plan.expressions.family import CombineRule, ExpressionFamily, ScopedRule, computed_from
from headwater.plan.flow import CombinedValue, Value, ValuePart
from headwater.plan.relation import ColumnScope
from headwater.plan.tree import PlanNode, fold

FAMILIES: tuple[ExpressionFamily, ...] = (
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
_COMBINE: dict[str, CombineRule] = {name: rule for family in FAMILIES for name, rule in family.combine.items()}
_LOOK: dict[str, ScopedRule] = {name: rule for family in FAMILIES for name, rule in family.scoped.items()}


def evaluate(node: PlanNode, scope: ColumnScope, context: TraceContext) -> Value:
    """Where an expression's value comes from."""

    def look(node: PlanNode) -> Value | None:
        rule = _LOOK.get(node.name)
        if rule is not None:
            return rule(node, scope, context)
        if not node.children and node.name not in _COMBINE and (trees := tuple(node.other_trees())):
            return _leaf(node, trees, scope, context)
        return None

    return fold(node, look, _combine)


def _leaf(node: PlanNode, trees: tuple[PlanNode, ...], scope: ColumnScope, context: TraceContext) -> Value:
    """An unknown leaf with other trees in its fields: expressions count as its arguments."""
    if "plan" in node.fields:
        return context.gap(scope.operator, f"the expression {node.name} is not known, and holds a plan")
    return CombinedValue(ValuePart(context.value(tree, scope)) for tree in trees)


def _combine(node: PlanNode, values: list[Value]) -> Value:
    return _COMBINE.get(node.name, computed_from)(node, values)
