"""The rows a row-level command puts together: Spark's own rewrite of MERGE."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headwater.plan.context import Context
from headwater.plan.flow import Kind, Said
from headwater.plan.operators.family import Family, said, scope_of
from headwater.plan.operators.setops import either
from headwater.plan.relation import Column, Relation, Scope, attributes, decides, together
from headwater.plan.sqltext.text import shortened
from headwater.plan.tree import Node

_CLAUSES = ("matchedInstructions", "notMatchedInstructions", "notMatchedBySourceInstructions")


def _merge_rows(node: Node, inputs: Sequence[Relation], outer: Scope | None, context: Context) -> Relation:
    """Each clause keeps, splits or drops a row, with its own expressions for the columns."""
    scope = scope_of(node, inputs, outer)
    instructions = [tree for field in _CLAUSES for tree in node.trees(field)]
    output = attributes(node.trees("output"))
    rows = [row for instruction in instructions for row in _rows(instruction) if len(row) == len(output)]
    columns = []
    for at, made in enumerate(output):
        values = [Said(shortened(context.text(row[at], scope)), context.value(row[at], scope)) for row in rows]
        columns.append(Column(made.expr_id, made.name, either(values), None, made.type, made.nullable))
    conditions = [said(tree, scope, context) for i in instructions for tree in i.trees("condition")]
    return Relation(tuple(columns), together(inputs[0].whole, decides(Kind.FILTER, *conditions)))


def _rows(instruction: Node) -> Iterator[tuple[Node, ...]]:
    """The rows a clause makes of one: none, one, or two where an update is a delete and an insert."""
    for field in ("output", "otherOutput"):
        if row := instruction.trees(field):
            yield row


FAMILY: Family = {"MergeRows": _merge_rows}
