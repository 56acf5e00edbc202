"""Joins. USING and NATURAL have become conditions by now, and a projection above."""

from __future__ import annotations

from collections.abc import Sequence

from headwater.plan.context import TraceContext
from headwater.plan.expressions.family import conditional_parts
from headwater.plan.flow import CombinedValue, DependencyKind
from headwater.plan.operators.family import OperatorFamily, scope_of, value_with_sql
from headwater.plan.relation import (
    ColumnScope,
    Relation,
    RelationColumn,
    combine_values,
    read_attribute,
    row_dependency,
)
from headwater.plan.tree import PlanNode

_LEFT_ONLY = ("LeftSemi", "LeftAnti")


def _join(node: PlanNode, inputs: Sequence[Relation], outer: ColumnScope | None, context: TraceContext) -> Relation:
    left, right = inputs
    fields = ("condition", "asOfCondition", "orderExpression", "rankingExpression")
    matched = [tree for field in fields for tree in node.trees(field)]
    scope = scope_of(node, inputs, outer) if matched else ColumnScope({}, outer)
    values = [value_with_sql(condition, scope, context) for condition in matched]
    whole = combine_values(left.whole, right.whole, row_dependency(DependencyKind.JOIN, *values))
    kind = node.object_name("joinType")
    if kind in _LEFT_ONLY:
        return Relation(left.columns, whole)
    if kind == "ExistenceJoin":
        exists = _existence(node)
        value = CombinedValue(conditional_parts(*values))
        added = () if exists is None else (RelationColumn(exists[0], exists[1], value, None, "boolean", False),)
        return Relation((*left.columns, *added), combine_values(left.whole, right.whole))
    return Relation((*left.columns, *right.columns), whole)


def _existence(node: PlanNode) -> tuple[int, str] | None:
    kind = node.fields["joinType"]
    if not isinstance(kind, dict):
        return None
    attribute = read_attribute(PlanNode("ExistenceJoin", kind, ()).tree("exists") or PlanNode("", {}, ()))
    return None if attribute is None else (attribute.expr_id, attribute.name)


def _lateral(node: PlanNode, inputs: Sequence[Relation], outer: ColumnScope | None, context: TraceContext) -> Relation:
    """The right side is a subquery that sees the left one's columns."""
    left = inputs[0]
    scope = scope_of(node, inputs, outer)
    subquery = node.tree("right")
    if subquery is None:
        return left
    right = context.subquery(subquery, scope)
    both = Relation((*left.columns, *right.columns), combine_values(left.whole, right.whole))
    matched = ColumnScope(both.by_id, outer, node.name)
    keys = [value_with_sql(condition, matched, context) for condition in node.trees("condition")]
    columns = left.columns if node.object_name("joinType") in _LEFT_ONLY else both.columns
    return Relation(columns, combine_values(both.whole, row_dependency(DependencyKind.JOIN, *keys)))


FAMILY: OperatorFamily = {
    "Join": _join,
    "AsOfJoin": _join,
    "NearestByJoin": _join,
    "Zip": _join,
    "LateralJoin": _lateral,
}
