"""Where a plan begins: relations of every kind, and persistent views."""

from __future__ import annotations

from collections.abc import Sequence

from headwater.plan.context import Context
from headwater.plan.operators.family import Family
from headwater.plan.relation import Relation, Scope, attributes
from headwater.plan.tree import Node


def leaf(node: Node, inputs: Sequence[Relation], outer: Scope | None, context: Context) -> Relation:
    """Anything without inputs that has columns is a source; the caller may know what is behind it."""
    output = attributes(node.trees("output"))
    known = context.origin(node)
    if known is not None and len(known.columns) == len(output):
        columns = (column.under(made) for column, made in zip(known.columns, output, strict=True))
        return Relation(tuple(columns), known.whole)
    if not output:
        context.gap(node.name, "this operator is not known", rows=True)
    return context.source(node, output)


def _nothing(node: Node, inputs: Sequence[Relation], outer: Scope | None, context: Context) -> Relation:
    return Relation(())


def persistent_view(node: Node, inputs: Sequence[Relation], outer: Scope | None, context: Context) -> Relation:
    """A source by its own name. What it is made of is another question: its definition is the node's child."""
    return context.source(node, context.output(node.children[0]))


FAMILY: Family = {"OneRowRelation": _nothing, "EmptyRelation": _nothing}
