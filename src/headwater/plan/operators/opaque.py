"""Operators that pass rows to an opaque function, and unknown operators.

No edges are invented: the origin of their output is unknown, and a gap names the operator. Grouping keys are still
known, and so is everything below.
"""

from __future__ import annotations

from collections.abc import Sequence

from headwater.plan.context import TraceContext
from headwater.plan.flow import NO_SOURCE, DependencyKind, Value
from headwater.plan.operators.family import OperatorFamily, named_column, scope_of, value_with_sql
from headwater.plan.relation import (
    ColumnScope,
    Relation,
    RelationColumn,
    combine_values,
    read_attributes,
    row_dependency,
)
from headwater.plan.tree import PlanNode

_OUTPUT = ("output", "outputAttrs", "outputObjAttr", "resultAttrs")
_KEYS = ("groupingAttributes", "groupingExprs", "leftGroup", "rightGroup")


def _function(node: PlanNode, inputs: Sequence[Relation], outer: ColumnScope | None, context: TraceContext) -> Relation:
    function = node.tree("functionExpr") or node.tree("func")
    name = function.text("name") if function is not None else None
    lost = context.gap(node.name, f"the function {name} cannot be seen through" if name else "its function is opaque")
    output = read_attributes(tree for field in _OUTPUT for tree in node.trees(field))
    columns = tuple(RelationColumn(m.expr_id, m.name, lost, None, m.type, m.nullable) for m in output)
    return Relation(columns, combine_values(*(r.whole for r in inputs), _keys(node, inputs, outer, context)))


def _keys(node: PlanNode, inputs: Sequence[Relation], outer: ColumnScope | None, context: TraceContext) -> Value:
    scope = scope_of(node, inputs, outer)
    keys = [value_with_sql(tree, scope, context) for field in _KEYS for tree in node.trees(field)]
    lengths = (node.number("leftGroupingLen"), node.number("rightGroupingLen"))
    for relation, length in zip(inputs, lengths, strict=False):
        keys += [column.with_sql for column in relation.columns[: length or 0]]
    grouped = node.number("groupingAttributesLen") or 0
    keys += [column.with_sql for relation in inputs[:1] for column in relation.columns[:grouped]]
    return row_dependency(DependencyKind.GROUP_BY, *keys)


def _append_columns(
    node: PlanNode, inputs: Sequence[Relation], outer: ColumnScope | None, context: TraceContext
) -> Relation:
    """Typed Scala: keys that a function computes, in addition to the columns."""
    lost = context.gap(node.name, "its function is opaque")
    output = read_attributes(tree for field in ("serializer", "newColumnsSerializer") for tree in node.trees(field))
    return inputs[0].with_columns(RelationColumn(m.expr_id, m.name, lost) for m in output)


def _typed_filter(
    node: PlanNode, inputs: Sequence[Relation], outer: ColumnScope | None, context: TraceContext
) -> Relation:
    context.gap(node.name, "its function is opaque, and it chooses the rows", rows=True)
    return inputs[0]


def _deserialize(
    node: PlanNode, inputs: Sequence[Relation], outer: ColumnScope | None, context: TraceContext
) -> Relation:
    """Typed Scala: a row becomes an object. The next operator states what happens to the object."""
    scope = scope_of(node, inputs, outer)
    reader = node.tree("deserializer")
    value = context.value(reader, scope) if reader is not None else context.gap(node.name, "it has no deserializer")
    output = read_attributes(node.trees("outputObjAttr"))
    return Relation(tuple(RelationColumn(m.expr_id, m.name, value, None, m.type) for m in output), inputs[0].whole)


def _serialize(
    node: PlanNode, inputs: Sequence[Relation], outer: ColumnScope | None, context: TraceContext
) -> Relation:
    scope = scope_of(node, inputs, outer)
    return Relation(tuple(named_column(tree, scope, context) for tree in node.trees("serializer")), inputs[0].whole)


def _eval_python(
    node: PlanNode, inputs: Sequence[Relation], outer: ColumnScope | None, context: TraceContext
) -> Relation:
    """Python functions moved out of a projection."""
    scope = scope_of(node, inputs, outer)
    output = read_attributes(node.trees("resultAttrs"))
    return inputs[0].with_columns(
        RelationColumn(m.expr_id, m.name, context.value(f, scope), context.text(f, scope), m.type, m.nullable)
        for m, f in zip(output, node.trees("udfs"), strict=True)
    )


def _attach_sequence(
    node: PlanNode, inputs: Sequence[Relation], outer: ColumnScope | None, context: TraceContext
) -> Relation:
    """A running number as the first column, from no column (pandas API on Spark)."""
    columns = [RelationColumn(m.expr_id, m.name, NO_SOURCE) for m in read_attributes(node.trees("sequenceAttr"))]
    return Relation((*columns, *inputs[0].columns), inputs[0].whole)


def unknown_operator(
    node: PlanNode, inputs: Sequence[Relation], outer: ColumnScope | None, context: TraceContext
) -> Relation:
    """Columns that pass unchanged keep their id; the origin of added columns is unknown."""
    lost = context.gap(node.name, "this operator is not known", rows=True)
    passed = tuple(column for relation in inputs for column in relation.columns)
    passed_ids = {column.expr_id for column in passed}
    added = [
        RelationColumn(m.expr_id, m.name, lost, None, m.type, m.nullable)
        for m in read_attributes(tree for field in _OUTPUT for tree in node.trees(field))
        if m.expr_id not in passed_ids
    ]
    return Relation((*passed, *added), combine_values(*(relation.whole for relation in inputs)))


_FUNCTIONS = (
    "MapInPandas MapInArrow PythonMapInArrow FlatMapGroupsInPandas FlatMapGroupsInArrow FlatMapCoGroupsInPandas "
    "FlatMapCoGroupsInArrow FlatMapGroupsInPandasWithState TransformWithStateInPandas TransformWithStateInPySpark "
    "TransformWithState MapPartitions MapPartitionsExternalUDF MapPartitionsInR MapPartitionsInRWithArrow "
    "FlatMapGroupsInR FlatMapGroupsInRWithArrow MapElements MapGroups CoGroup FlatMapGroupsWithState "
    "ScriptTransformation"
)

FAMILY: OperatorFamily = {
    **dict.fromkeys(_FUNCTIONS.split(), _function),
    "AppendColumns": _append_columns,
    "AppendColumnsWithObject": _append_columns,
    "TypedFilter": _typed_filter,
    "DeserializeToObject": _deserialize,
    "SerializeFromObject": _serialize,
    "ArrowEvalPython": _eval_python,
    "BatchEvalPython": _eval_python,
    "AttachDistributedSequence": _attach_sequence,
}
