"""Joins. USING and NATURAL have become conditions by now, and a projection above."""

from __future__ import annotations

from collections.abc import Sequence

from headwater.plan.context import Context
from headwater.plan.expressions.family import conditions
from headwater.plan.flow import Kind, Mix
from headwater.plan.operators.family import Family, said, scope_of
from headwater.plan.relation import Column, Relation, Scope, attribute, decides, together
from headwater.plan.tree import Node

_LEFT_ONLY = ("LeftSemi", "LeftAnti")


def _join(node: Node, inputs: Sequence[Relation], outer: Scope | None, context: Context) -> Relation:
    left, right = inputs
    fields = ("condition", "asOfCondition", "orderExpression", "rankingExpression")
    matched = [tree for field in fields for tree in node.trees(field)]
    scope = scope_of(node, inputs, outer) if matched else Scope({}, outer)
    values = [said(condition, scope, context) for condition in matched]
    whole = together(left.whole, right.whole, decides(Kind.JOIN, *values))
    kind = node.named("joinType")
    if kind in _LEFT_ONLY:
        return Relation(left.columns, whole)
    if kind == "ExistenceJoin":
        exists = _existence(node)
        value = Mix(conditions(*values))
        added = () if exists is None else (Column(exists[0], exists[1], value, None, "boolean", False),)
        return Relation((*left.columns, *added), together(left.whole, right.whole))
    return Relation((*left.columns, *right.columns), whole)


def _existence(node: Node) -> tuple[int, str] | None:
    kind = node.fields["joinType"]
    made = attribute(Node("ExistenceJoin", kind, ()).tree("exists") or Node("", {}, ()))
    return None if made is None else (made.expr_id, made.name)


def _lateral(node: Node, inputs: Sequence[Relation], outer: Scope | None, context: Context) -> Relation:
    """The right side is a subquery that sees the left one's columns."""
    left = inputs[0]
    scope = scope_of(node, inputs, outer)
    subquery = node.tree("right")
    if subquery is None:
        return left
    right = context.subquery(subquery, scope)
    both = Relation((*left.columns, *right.columns), together(left.whole, right.whole))
    matched = Scope(both.by_id, outer, node.name)
    keys = [said(condition, matched, context) for condition in node.trees("condition")]
    columns = left.columns if node.named("joinType") in _LEFT_ONLY else both.columns
    return Relation(columns, together(both.whole, decides(Kind.JOIN, *keys)))


FAMILY: Family = {"Join": _join, "AsOfJoin": _join, "NearestByJoin": _join, "Zip": _join, "LateralJoin": _lateral}
