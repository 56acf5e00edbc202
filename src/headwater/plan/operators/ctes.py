"""Common table expressions: defined once, referred to by id; the recursive ones refer to themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from headwater.plan.context import Context
from headwater.plan.flow import NOTHING, Kind, Mix, Part
from headwater.plan.operators.family import Family
from headwater.plan.relation import Column, Relation, Scope, attributes, together
from headwater.plan.tree import Node


def _with(node: Node, inputs: Sequence[Relation], outer: Scope | None, context: Context) -> Relation:
    """The definitions were walked first; the last input is the query."""
    return inputs[-1]


def _definition(node: Node, inputs: Sequence[Relation], outer: Scope | None, context: Context) -> Relation:
    identity = node.number("id")
    if identity is not None:
        context.ctes[identity] = inputs[0]
    return inputs[0]


def _reference(node: Node, inputs: Sequence[Relation], outer: Scope | None, context: Context) -> Relation:
    output = attributes(node.trees("output"))
    defined = context.ctes.get(node.number("cteId") or 0)
    if defined is None or len(defined.columns) != len(output):
        lost = context.gap(node.name, "its definition is not in the plan")
        return Relation(tuple(Column(made.expr_id, made.name, lost) for made in output))
    columns = (column.under(made) for column, made in zip(defined.columns, output, strict=True))
    return Relation(tuple(columns), defined.whole)


def _loop_reference(node: Node, inputs: Sequence[Relation], outer: Scope | None, context: Context) -> Relation:
    output = attributes(node.trees("output"))
    loop = _loop(context, node.number("loopId"), len(output))
    columns = (
        Column(made.expr_id, made.name, value, None, made.type, made.nullable)
        for made, value in zip(output, loop, strict=True)
    )
    return Relation(tuple(columns), NOTHING)


def _loop_union(node: Node, inputs: Sequence[Relation], outer: Scope | None, context: Context) -> Relation:
    anchor, recursion = inputs
    loop = _loop(context, node.number("id"), len(anchor.columns))
    for value, *sides in zip(loop, anchor.columns, recursion.columns, strict=True):
        value.parts += [Part(side.said, Kind.IDENTITY, through=True) for side in sides]
    ids = [made.get("id") for made in node.fields.get("outputAttrIds") or ()]
    columns = (
        replace(column, expr_id=expr_id, value=value, text=None, home=None)
        for column, expr_id, value in zip(anchor.columns, ids, loop, strict=True)
    )
    return Relation(tuple(columns), together(anchor.whole, recursion.whole))


def _loop(context: Context, identity: int | None, count: int) -> tuple[Mix, ...]:
    return context.loops.setdefault(identity if identity is not None else -1, tuple(Mix() for _ in range(count)))


FAMILY: Family = {
    "WithCTE": _with,
    "CTERelationDef": _definition,
    "CTERelationRef": _reference,
    "UnionLoop": _loop_union,
    "UnionLoopRef": _loop_reference,
}
