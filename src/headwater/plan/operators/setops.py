"""Set operations and Expand: rows from several places in one column, by position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from headwater.plan.context import Context
from headwater.plan.flow import Kind, Mix, Part, Said, Value
from headwater.plan.lineage import Attribute
from headwater.plan.operators.family import Family, scope_of
from headwater.plan.relation import Column, Relation, Scope, attributes, decides, together
from headwater.plan.sqltext.text import shortened
from headwater.plan.tree import Node


def either(values: Sequence[Value]) -> Value:
    """One of several values, as it is."""
    return Mix(Part(value, Kind.IDENTITY, through=True) for value in values)


def _union(node: Node, inputs: Sequence[Relation], outer: Scope | None, context: Context) -> Relation:
    """By position: a union by name has been put in order by a projection."""
    first = inputs[0].columns
    if any(len(relation.columns) != len(first) for relation in inputs):
        lost = context.gap(node.name, "its inputs differ in their number of columns")
        return Relation(tuple(replace(column, value=lost, text=None, home=None) for column in first))
    columns = tuple(
        replace(column, value=either([relation.columns[at].said for relation in inputs]), text=None, home=None)
        for at, column in enumerate(first)
    )
    return Relation(columns, together(*(relation.whole for relation in inputs)))


def _compared(node: Node, inputs: Sequence[Relation], outer: Scope | None, context: Context) -> Relation:
    """INTERSECT and EXCEPT: the left side's rows, chosen by comparing all columns with the right side's."""
    left, right = inputs
    compared = (column.said for relation in inputs for column in relation.columns)
    return Relation(left.columns, together(left.whole, right.whole, decides(Kind.FILTER, *compared)))


def _expand(node: Node, inputs: Sequence[Relation], outer: Scope | None, context: Context) -> Relation:
    """Each row several times, by several lists of expressions: ROLLUP, CUBE, GROUPING SETS, UNPIVOT."""
    output = attributes(node.trees("output"))
    rows = node.rows("projections")
    if rows is None or any(len(row) != len(output) for row in rows):
        lost = context.gap(node.name, "its projections are not in the plan's JSON")
        columns = [inputs[0].by_id.get(made.expr_id) or Column(made.expr_id, made.name, lost) for made in output]
        return Relation(tuple(columns), inputs[0].whole)
    scope = scope_of(node, inputs, outer)
    return Relation(
        tuple(_expanded(made, [row[at] for row in rows], scope, context) for at, made in enumerate(output)),
        inputs[0].whole,
    )


def _expanded(made: Attribute, expressions: Sequence[Node], scope: Scope, context: Context) -> Column:
    ids = {expression.expr_id for expression in expressions if expression.name == "AttributeReference"}
    others = [e for e in expressions if e.name != "AttributeReference" and e.fields.get("value") is not None]
    if len(ids) == 1 and not others:  # one column, or null where it is not grouped by
        column = scope.find(next(iter(ids)))
        if column is not None:
            return column.under(made)
    values = [Said(shortened(context.text(e, scope)), context.value(e, scope)) for e in expressions]
    return Column(made.expr_id, made.name, either(values), None, made.type, made.nullable)


FAMILY: Family = {
    "Union": _union,
    "SequentialStreamingUnion": _union,
    "Intersect": _compared,
    "Except": _compared,
    "Expand": _expand,
}
