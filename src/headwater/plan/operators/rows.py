"""Operators that choose, order or move rows and leave columns as they are."""

from __future__ import annotations

from collections.abc import Sequence

from headwater.plan.context import Context
from headwater.plan.flow import Kind
from headwater.plan.operators.family import Family, said, scope_of
from headwater.plan.relation import Relation, Scope, decides
from headwater.plan.tree import Node


def _same(node: Node, inputs: Sequence[Relation], outer: Scope | None, context: Context) -> Relation:
    return inputs[0]


def _filter(node: Node, inputs: Sequence[Relation], outer: Scope | None, context: Context) -> Relation:
    scope = scope_of(node, inputs, outer)
    conditions = (said(condition, scope, context) for condition in node.trees("condition"))
    return inputs[0].with_whole(decides(Kind.FILTER, *conditions))


def _sort(node: Node, inputs: Sequence[Relation], outer: Scope | None, context: Context) -> Relation:
    scope = scope_of(node, inputs, outer)
    return inputs[0].with_whole(decides(Kind.SORT, *(said(key, scope, context) for key in node.trees("order"))))


def _distinct(node: Node, inputs: Sequence[Relation], outer: Scope | None, context: Context) -> Relation:
    """One row of those that agree in every column: each column stays itself, and all decide which rows are left."""
    return inputs[0].with_whole(decides(Kind.GROUP_BY, *(column.said for column in inputs[0].columns)))


def _deduplicate(node: Node, inputs: Sequence[Relation], outer: Scope | None, context: Context) -> Relation:
    """One row of those that agree in the keys, and that row as it is."""
    scope = scope_of(node, inputs, outer)
    return inputs[0].with_whole(decides(Kind.GROUP_BY, *(said(key, scope, context) for key in node.trees("keys"))))


_UNCHANGED = (
    "SubqueryAlias GlobalLimit LocalLimit LimitAll Offset Tail Sample Repartition RepartitionByExpression "
    "RebalancePartitions RepartitionByCoalesce ResolvedHint CollectMetrics EventTimeWatermark "
    "UpdateEventTimeWatermarkColumn PipeOperator ReturnAnswer Subquery SQLFunctionNode View WithWindowDefinition"
)
"""A View here is a temporary one. Sampling and limits choose rows, but by no column."""

FAMILY: Family = {
    **dict.fromkeys(_UNCHANGED.split(), _same),
    "Filter": _filter,
    "Sort": _sort,
    "Distinct": _distinct,
    "Deduplicate": _deduplicate,
    "DeduplicateWithinWatermark": _deduplicate,
}
