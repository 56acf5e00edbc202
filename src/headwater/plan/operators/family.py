"""What a family of operators provides: rules by Catalyst's class names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from headwater.plan.context import TraceContext
from headwater.plan.flow import Value, ValueWithSql
from headwater.plan.relation import ColumnScope, Relation, RelationColumn, read_attribute
from headwater.plan.sqltext.text import shorten_sql
from headwater.plan.tree import PlanNode
from headwater.plan.types import type_of


class Operator(Protocol):
    """From the relations of an operator's inputs to its own. ``outer`` is the query around a subquery."""

    def __call__(
        self, node: PlanNode, inputs: Sequence[Relation], outer: ColumnScope | None, context: TraceContext, /
    ) -> Relation: ...


OperatorFamily = Mapping[str, Operator]


def scope_of(node: PlanNode, inputs: Sequence[Relation], outer: ColumnScope | None) -> ColumnScope:
    """Where an operator's expressions resolve names."""
    if len(inputs) == 1:
        return ColumnScope(inputs[0].by_id, outer, node.name)
    columns: dict[int, RelationColumn] = {}
    for relation in inputs:
        columns.update(relation.by_id)
    return ColumnScope(columns, outer, node.name)


def named_column(node: PlanNode, scope: ColumnScope, context: TraceContext) -> RelationColumn:
    """A column of a select list: a reference, passed on as it is, or an alias."""
    attribute = read_attribute(node)
    if node.name == "AttributeReference" and attribute is not None:
        column = scope.find(attribute.expr_id)
        if column is None:
            return RelationColumn(
                attribute.expr_id, attribute.name, context.value(node, scope), None, attribute.type, attribute.nullable
            )
        return column if column.name == attribute.name and column.type is not None else column.as_attribute(attribute)
    if attribute is None:
        return RelationColumn(-1, node.name, context.value(node, scope), context.text(node, scope), type_of(node))
    child = node.children[0] if node.name == "Alias" and node.children else None
    column = scope.find(child.expr_id) if child is not None and child.name == "AttributeReference" else None
    if column is None:
        return RelationColumn(
            attribute.expr_id, attribute.name, context.value(node, scope), context.text(node, scope), type_of(node)
        )
    # Another name for the same. `a AS a`, as Spark adds it when it writes, is even still the source's own column.
    text = column.text if column.home is None else context.text(node, scope)
    home = column.home if column.name == attribute.name else None
    return RelationColumn(
        expr_id=attribute.expr_id,
        name=attribute.name,
        value=column.value,
        text=text,
        type=type_of(node),
        nullable=column.nullable,
        home=home,
    )


def value_with_sql(node: PlanNode, scope: ColumnScope, context: TraceContext) -> Value:
    """A condition, key or order with its SQL."""
    return ValueWithSql(shorten_sql(context.text(node, scope)), context.value(node, scope))
