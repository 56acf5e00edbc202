"""Leaves of a plan: relations of every kind, and persistent views."""

from __future__ import annotations

from collections.abc import Sequence

from headwater.plan.context import TraceContext
from headwater.plan.operators.family import OperatorFamily
from headwater.plan.relation import ColumnScope, Relation, read_attributes
from headwater.plan.tree import PlanNode


def leaf(node: PlanNode, inputs: Sequence[Relation], outer: ColumnScope | None, context: TraceContext) -> Relation:
    """Every node without inputs that has columns is a source; the caller may know the plan behind it."""
    output = read_attributes(node.trees("output"))
    origin = context.origin(node)
    if origin is not None and len(origin.columns) == len(output):
        columns = (column.as_attribute(attribute) for column, attribute in zip(origin.columns, output, strict=True))
        return Relation(tuple(columns), origin.whole)
    if not output:
        context.gap(node.name, "this operator is not known", rows=True)
    return context.source(node, output)


def _nothing(node: PlanNode, inputs: Sequence[Relation], outer: ColumnScope | None, context: TraceContext) -> Relation:
    return Relation(())


def persistent_view(
    node: PlanNode, inputs: Sequence[Relation], outer: ColumnScope | None, context: TraceContext
) -> Relation:
    """A source by its own name. Its definition is read separately: it is the node's child."""
    return context.source(node, context.output(node.children[0]))


FAMILY: OperatorFamily = {"OneRowRelation": _nothing, "EmptyRelation": _nothing}
