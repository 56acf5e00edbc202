"""What a family of operators provides: rules by Catalyst's class names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from headwater.plan.context import Context
from headwater.plan.flow import Said, Value
from headwater.plan.relation import Column, Relation, Scope, attribute
from headwater.plan.sqltext.text import shortened
from headwater.plan.tree import Node
from headwater.plan.types import type_of


class Operator(Protocol):
    """From what an operator's inputs hand up to what it hands up itself. ``outer`` is the query around a subquery."""

    def __call__(
        self, node: Node, inputs: Sequence[Relation], outer: Scope | None, context: Context, /
    ) -> Relation: ...


Family = Mapping[str, Operator]


def scope_of(node: Node, inputs: Sequence[Relation], outer: Scope | None) -> Scope:
    """Where an operator's expressions look up names."""
    if len(inputs) == 1:
        return Scope(inputs[0].by_id, outer, node.name)
    found: dict[int, Column] = {}
    for relation in inputs:
        found.update(relation.by_id)
    return Scope(found, outer, node.name)


def named_column(node: Node, scope: Scope, context: Context) -> Column:
    """A column of a select list: a reference, passed on as it is, or an alias."""
    made = attribute(node)
    if node.name == "AttributeReference" and made is not None:
        column = scope.find(made.expr_id)
        if column is None:
            return Column(made.expr_id, made.name, context.value(node, scope), None, made.type, made.nullable)
        return column if column.name == made.name and column.type is not None else column.under(made)
    if made is None:
        return Column(-1, node.name, context.value(node, scope), context.text(node, scope), type_of(node))
    child = node.children[0] if node.name == "Alias" and node.children else None
    column = scope.find(child.expr_id) if child is not None and child.name == "AttributeReference" else None
    if column is None:
        return Column(made.expr_id, made.name, context.value(node, scope), context.text(node, scope), type_of(node))
    # Another name for the same. `a AS a`, as Spark adds it when it writes, is even still the source's own column.
    text = column.text if column.home is None else context.text(node, scope)
    home = column.home if column.name == made.name else None
    return Column(made.expr_id, made.name, column.value, text, type_of(node), column.nullable, home)


def said(node: Node, scope: Scope, context: Context) -> Value:
    """A condition, key or order with its SQL."""
    return Said(shortened(context.text(node, scope)), context.value(node, scope))
