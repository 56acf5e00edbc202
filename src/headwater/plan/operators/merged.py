"""The rows that a row-level command combines: Spark's own rewrite of MERGE."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headwater.plan.context import TraceContext
from headwater.plan.flow import DependencyKind, ValueWithSql
from headwater.plan.operators.family import OperatorFamily, scope_of, value_with_sql
from headwater.plan.operators.setops import one_of
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

_CLAUSES = ("matchedInstructions", "notMatchedInstructions", "notMatchedBySourceInstructions")


def _merge_rows(
    node: PlanNode, inputs: Sequence[Relation], outer: ColumnScope | None, context: TraceContext
) -> Relation:
    """Each clause keeps, splits or drops a row, with its own expressions for the columns."""
    scope = scope_of(node, inputs, outer)
    instructions = [tree for field in _CLAUSES for tree in node.trees(field)]
    output = read_attributes(node.trees("output"))
    rows = [row for instruction in instructions for row in _rows(instruction) if len(row) == len(output)]
    columns = []
    for index, attribute in enumerate(output):
        values = [
            ValueWithSql(shorten_sql(context.text(row[index], scope)), context.value(row[index], scope)) for row in rows
        ]
        columns.append(
            RelationColumn(attribute.expr_id, attribute.name, one_of(values), None, attribute.type, attribute.nullable)
        )
    conditions = [value_with_sql(tree, scope, context) for i in instructions for tree in i.trees("condition")]
    return Relation(tuple(columns), combine_values(inputs[0].whole, row_dependency(DependencyKind.FILTER, *conditions)))


def _rows(instruction: PlanNode) -> Iterator[tuple[PlanNode, ...]]:
    """The rows a clause makes of one: none, one, or two where an update is a delete and an insert."""
    for field in ("output", "otherOutput"):
        if row := instruction.trees(field):
            yield row


FAMILY: OperatorFamily = {"MergeRows": _merge_rows}
