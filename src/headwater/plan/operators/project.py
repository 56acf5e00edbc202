"""Select lists: projections, aggregates, windows."""

from __future__ import annotations

from collections.abc import Sequence

from headwater.plan.context import Context
from headwater.plan.flow import Kind
from headwater.plan.operators.family import Family, named_column, said, scope_of
from headwater.plan.relation import Relation, Scope, decides
from headwater.plan.tree import Node


def _project(node: Node, inputs: Sequence[Relation], outer: Scope | None, context: Context) -> Relation:
    scope = scope_of(node, inputs, outer)
    return Relation(
        tuple(named_column(item, scope, context) for item in node.trees("projectList")),
        inputs[0].whole,
    )


def _aggregate(node: Node, inputs: Sequence[Relation], outer: Scope | None, context: Context) -> Relation:
    scope = scope_of(node, inputs, outer)
    columns = tuple(named_column(item, scope, context) for item in node.trees("aggregateExpressions"))
    keys = [said(key, scope, context) for key in node.trees("groupingExpressions")]
    return Relation(columns, inputs[0].with_whole(decides(Kind.GROUP_BY, *keys)).whole)


def _window(node: Node, inputs: Sequence[Relation], outer: Scope | None, context: Context) -> Relation:
    """Each expression carries its own keys and order."""
    scope = scope_of(node, inputs, outer)
    return inputs[0].with_columns(named_column(item, scope, context) for item in node.trees("windowExpressions"))


FAMILY: Family = {"Project": _project, "Aggregate": _aggregate, "Window": _window}
