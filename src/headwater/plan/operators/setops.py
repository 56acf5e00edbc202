"""Set operations and Expand: rows from several inputs in one column, by position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from headwater.plan.context import TraceContext
from headwater.plan.flow import CombinedValue, DependencyKind, Value, ValuePart, ValueWithSql
from headwater.plan.lineage import Attribute
from headwater.plan.operators.family import OperatorFamily, scope_of
from headwater.plan.relation import (
    ColumnScope,
    Relation,
    RelationColumn,
    combine_values,
    read_attributes,
    row_dependency,
)
from headwater.plan.sqltext.text import shorten_sql
from headwater.plan.tree import PlanNode


def one_of(values: Sequence[Value]) -> Value:
    """One of several values, unchanged."""
    return CombinedValue(ValuePart(value, DependencyKind.IDENTITY, through=True) for value in values)


def _union(node: PlanNode, inputs: Sequence[Relation], outer: ColumnScope | None, context: TraceContext) -> Relation:
    """By position: a projection has put the columns of a union by name in order."""
    first = inputs[0].columns
    if any(len(relation.columns) != len(first) for relation in inputs):
        lost = context.gap(node.name, "its inputs differ in their number of columns")
        return Relation(tuple(replace(column, value=lost, text=None, home=None) for column in first))
    columns = tuple(
        replace(column, value=one_of([relation.columns[index].with_sql for relation in inputs]), text=None, home=None)
        for index, column in enumerate(first)
    )
    return Relation(columns, combine_values(*(relation.whole for relation in inputs)))


def _intersect_or_except(
    node: PlanNode, inputs: Sequence[Relation], outer: ColumnScope | None, context: TraceContext
) -> Relation:
    """INTERSECT and EXCEPT: the left side's rows, chosen by comparing all columns with the right side's."""
    left, right = inputs
    compared = (column.with_sql for relation in inputs for column in relation.columns)
    return Relation(
        left.columns, combine_values(left.whole, right.whole, row_dependency(DependencyKind.FILTER, *compared))
    )


def _expand(node: PlanNode, inputs: Sequence[Relation], outer: ColumnScope | None, context: TraceContext) -> Relation:
    """Each row several times, by several lists of expressions: ROLLUP, CUBE, GROUPING SETS, UNPIVOT."""
    output = read_attributes(node.trees("output"))
    rows = node.rows("projections")
    if rows is None or any(len(row) != len(output) for row in rows):
        lost = context.gap(node.name, "its projections are not in the plan's JSON")
        columns = [
            inputs[0].by_id.get(attribute.expr_id) or RelationColumn(attribute.expr_id, attribute.name, lost)
            for attribute in output
        ]
        return Relation(tuple(columns), inputs[0].whole)
    scope = scope_of(node, inputs, outer)
    return Relation(
        tuple(
            _expanded_column(attribute, [row[index] for row in rows], scope, context)
            for index, attribute in enumerate(output)
        ),
        inputs[0].whole,
    )


def _is_null(expression: PlanNode) -> bool:
    return expression.name == "Literal" and expression.fields.get("value") is None


def _expanded_column(
    attribute: Attribute, expressions: Sequence[PlanNode], scope: ColumnScope, context: TraceContext
) -> RelationColumn:
    ids = {expression.expr_id for expression in expressions if expression.name == "AttributeReference"}
    others = [e for e in expressions if e.name != "AttributeReference" and not _is_null(e)]
    if len(ids) == 1 and not others:  # one column, or null where it is not grouped by
        column = scope.find(next(iter(ids)))
        if column is not None:
            return column.as_attribute(attribute)
    values = [ValueWithSql(shorten_sql(context.text(e, scope)), context.value(e, scope)) for e in expressions]
    return RelationColumn(attribute.expr_id, attribute.name, one_of(values), None, attribute.type, attribute.nullable)


FAMILY: OperatorFamily = {
    "Union": _union,
    "SequentialStreamingUnion": _union,
    "Intersect": _intersect_or_except,
    "Except": _intersect_or_except,
    "Expand": _expand,
}
