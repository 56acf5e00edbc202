"""Common table expressions: defined once, referred to by id; the recursive ones refer to themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from headwater.plan.context import TraceContext
from headwater.plan.flow import NO_SOURCE, CombinedValue, DependencyKind, ValuePart
from headwater.plan.operators.family import OperatorFamily
from headwater.plan.relation import ColumnScope, Relation, RelationColumn, combine_values, read_attributes
from headwater.plan.tree import PlanNode


def _with(node: PlanNode, inputs: Sequence[Relation], outer: ColumnScope | None, context: TraceContext) -> Relation:
    """The definitions were walked first; the last input is the query."""
    return inputs[-1]


def _definition(
    node: PlanNode, inputs: Sequence[Relation], outer: ColumnScope | None, context: TraceContext
) -> Relation:
    identity = node.number("id")
    if identity is not None:
        context.ctes[identity] = inputs[0]
    return inputs[0]


def _reference(
    node: PlanNode, inputs: Sequence[Relation], outer: ColumnScope | None, context: TraceContext
) -> Relation:
    output = read_attributes(node.trees("output"))
    defined = context.ctes.get(node.number("cteId") or 0)
    if defined is None or len(defined.columns) != len(output):
        lost = context.gap(node.name, "its definition is not in the plan")
        return Relation(tuple(RelationColumn(attribute.expr_id, attribute.name, lost) for attribute in output))
    columns = (column.as_attribute(attribute) for column, attribute in zip(defined.columns, output, strict=True))
    return Relation(tuple(columns), defined.whole)


def _loop_reference(
    node: PlanNode, inputs: Sequence[Relation], outer: ColumnScope | None, context: TraceContext
) -> Relation:
    output = read_attributes(node.trees("output"))
    loop = _loop(context, node.number("loopId"), len(output))
    columns = (
        RelationColumn(attribute.expr_id, attribute.name, value, None, attribute.type, attribute.nullable)
        for attribute, value in zip(output, loop, strict=True)
    )
    return Relation(tuple(columns), NO_SOURCE)


def _loop_union(
    node: PlanNode, inputs: Sequence[Relation], outer: ColumnScope | None, context: TraceContext
) -> Relation:
    anchor, recursion = inputs
    loop = _loop(context, node.number("id"), len(anchor.columns))
    for value, *sides in zip(loop, anchor.columns, recursion.columns, strict=True):
        value.parts += [ValuePart(side.with_sql, DependencyKind.IDENTITY, through=True) for side in sides]
    columns = (
        replace(column, expr_id=expr_id, value=value, text=None, home=None)
        for column, expr_id, value in zip(anchor.columns, node.expr_ids("outputAttrIds"), loop, strict=True)
    )
    return Relation(tuple(columns), combine_values(anchor.whole, recursion.whole))


def _loop(context: TraceContext, identity: int | None, count: int) -> tuple[CombinedValue, ...]:
    return context.loops.setdefault(
        identity if identity is not None else -1, tuple(CombinedValue() for _ in range(count))
    )


FAMILY: OperatorFamily = {
    "WithCTE": _with,
    "CTERelationDef": _definition,
    "CTERelationRef": _reference,
    "UnionLoop": _loop_union,
    "UnionLoopRef": _loop_reference,
}
