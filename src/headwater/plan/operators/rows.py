"""Operators that select, order or move rows and leave columns unchanged: those of operator_traits.py.

Only those that select or order rows by columns have a rule of their own. Sampling and limits select rows, but by no
column; a View here is a temporary one.
"""

from __future__ import annotations

from collections.abc import Sequence

from headwater.plan.context import TraceContext
from headwater.plan.flow import DependencyKind
from headwater.plan.operator_traits import operators_with
from headwater.plan.operators.family import OperatorFamily, scope_of, value_with_sql
from headwater.plan.relation import ColumnScope, Relation, row_dependency
from headwater.plan.tree import PlanNode


def _unchanged(
    node: PlanNode, inputs: Sequence[Relation], outer: ColumnScope | None, context: TraceContext
) -> Relation:
    return inputs[0]


def _filter(node: PlanNode, inputs: Sequence[Relation], outer: ColumnScope | None, context: TraceContext) -> Relation:
    scope = scope_of(node, inputs, outer)
    conditions = (value_with_sql(condition, scope, context) for condition in node.trees("condition"))
    return inputs[0].with_whole(row_dependency(DependencyKind.FILTER, *conditions))


def _sort(node: PlanNode, inputs: Sequence[Relation], outer: ColumnScope | None, context: TraceContext) -> Relation:
    scope = scope_of(node, inputs, outer)
    return inputs[0].with_whole(
        row_dependency(DependencyKind.SORT, *(value_with_sql(key, scope, context) for key in node.trees("order")))
    )


def _distinct(node: PlanNode, inputs: Sequence[Relation], outer: ColumnScope | None, context: TraceContext) -> Relation:
    """One of the rows that are equal in every column: each column stays itself, and all decide which rows are left."""
    return inputs[0].with_whole(
        row_dependency(DependencyKind.GROUP_BY, *(column.with_sql for column in inputs[0].columns))
    )


def _deduplicate(
    node: PlanNode, inputs: Sequence[Relation], outer: ColumnScope | None, context: TraceContext
) -> Relation:
    """One of the rows that are equal in the keys, unchanged."""
    scope = scope_of(node, inputs, outer)
    return inputs[0].with_whole(
        row_dependency(DependencyKind.GROUP_BY, *(value_with_sql(key, scope, context) for key in node.trees("keys")))
    )


FAMILY: OperatorFamily = {
    **dict.fromkeys(operators_with(lambda traits: traits.columns_unchanged), _unchanged),
    "Filter": _filter,
    "Sort": _sort,
    "Distinct": _distinct,
    "Deduplicate": _deduplicate,
    "DeduplicateWithinWatermark": _deduplicate,
}
