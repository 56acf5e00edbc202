"""Operators that hand rows to a function nobody can look into, and those not known here.

No edges are made up: what comes out is lost, and a gap says which operator lost it. Keys that rows are grouped by are
still known, and so is everything below.
"""

from __future__ import annotations

from collections.abc import Sequence

from headwater.plan.context import Context
from headwater.plan.flow import NOTHING, Kind, Value
from headwater.plan.operators.family import Family, named_column, said, scope_of
from headwater.plan.relation import Column, Relation, Scope, attributes, decides, together
from headwater.plan.tree import Node

_OUTPUT = ("output", "outputAttrs", "outputObjAttr", "resultAttrs")
_KEYS = ("groupingAttributes", "groupingExprs", "leftGroup", "rightGroup")


def _function(node: Node, inputs: Sequence[Relation], outer: Scope | None, context: Context) -> Relation:
    function = node.tree("functionExpr") or node.tree("func")
    name = function.text("name") if function is not None else None
    lost = context.gap(node.name, f"the function {name} cannot be seen through" if name else "its function is opaque")
    made = attributes(tree for field in _OUTPUT for tree in node.trees(field))
    columns = tuple(Column(m.expr_id, m.name, lost, None, m.type, m.nullable) for m in made)
    return Relation(columns, together(*(r.whole for r in inputs), _keys(node, inputs, outer, context)))


def _keys(node: Node, inputs: Sequence[Relation], outer: Scope | None, context: Context) -> Value:
    scope = scope_of(node, inputs, outer)
    keys = [said(tree, scope, context) for field in _KEYS for tree in node.trees(field)]
    lengths = (node.number("leftGroupingLen"), node.number("rightGroupingLen"))
    for relation, length in zip(inputs, lengths, strict=False):
        keys += [column.said for column in relation.columns[: length or 0]]
    grouped = node.number("groupingAttributesLen") or 0
    keys += [column.said for relation in inputs[:1] for column in relation.columns[:grouped]]
    return decides(Kind.GROUP_BY, *keys)


def _appended(node: Node, inputs: Sequence[Relation], outer: Scope | None, context: Context) -> Relation:
    """Typed Scala: keys that a function computes, beside the columns."""
    lost = context.gap(node.name, "its function is opaque")
    made = attributes(tree for field in ("serializer", "newColumnsSerializer") for tree in node.trees(field))
    return inputs[0].with_columns(Column(m.expr_id, m.name, lost) for m in made)


def _typed_filter(node: Node, inputs: Sequence[Relation], outer: Scope | None, context: Context) -> Relation:
    context.gap(node.name, "its function is opaque, and it chooses the rows", rows=True)
    return inputs[0]


def _deserialize(node: Node, inputs: Sequence[Relation], outer: Scope | None, context: Context) -> Relation:
    """Typed Scala: a row becomes an object. What happens to the object is the next operator's to tell."""
    scope = scope_of(node, inputs, outer)
    reader = node.tree("deserializer")
    value = context.value(reader, scope) if reader is not None else context.gap(node.name, "it has no deserializer")
    made = attributes(node.trees("outputObjAttr"))
    return Relation(tuple(Column(m.expr_id, m.name, value, None, m.type) for m in made), inputs[0].whole)


def _serialize(node: Node, inputs: Sequence[Relation], outer: Scope | None, context: Context) -> Relation:
    scope = scope_of(node, inputs, outer)
    return Relation(tuple(named_column(tree, scope, context) for tree in node.trees("serializer")), inputs[0].whole)


def _evaluated(node: Node, inputs: Sequence[Relation], outer: Scope | None, context: Context) -> Relation:
    """Python functions taken out of a projection."""
    scope = scope_of(node, inputs, outer)
    made = attributes(node.trees("resultAttrs"))
    return inputs[0].with_columns(
        Column(m.expr_id, m.name, context.value(f, scope), context.text(f, scope), m.type, m.nullable)
        for m, f in zip(made, node.trees("udfs"), strict=True)
    )


def _numbered(node: Node, inputs: Sequence[Relation], outer: Scope | None, context: Context) -> Relation:
    """A running number in front, from no column (pandas API on Spark)."""
    made = [Column(m.expr_id, m.name, NOTHING) for m in attributes(node.trees("sequenceAttr"))]
    return Relation((*made, *inputs[0].columns), inputs[0].whole)


def unknown(node: Node, inputs: Sequence[Relation], outer: Scope | None, context: Context) -> Relation:
    """What passes through untouched is still there under its id; what the operator adds is lost."""
    lost = context.gap(node.name, "this operator is not known", rows=True)
    passed = tuple(column for relation in inputs for column in relation.columns)
    known = {column.expr_id for column in passed}
    added = [
        Column(m.expr_id, m.name, lost, None, m.type, m.nullable)
        for m in attributes(tree for field in _OUTPUT for tree in node.trees(field))
        if m.expr_id not in known
    ]
    return Relation((*passed, *added), together(*(relation.whole for relation in inputs)))


_FUNCTIONS = (
    "MapInPandas MapInArrow PythonMapInArrow FlatMapGroupsInPandas FlatMapGroupsInArrow FlatMapCoGroupsInPandas "
    "FlatMapCoGroupsInArrow FlatMapGroupsInPandasWithState TransformWithStateInPandas TransformWithStateInPySpark "
    "TransformWithState MapPartitions MapPartitionsExternalUDF MapPartitionsInR MapPartitionsInRWithArrow "
    "FlatMapGroupsInR FlatMapGroupsInRWithArrow MapElements MapGroups CoGroup FlatMapGroupsWithState "
    "ScriptTransformation"
)

FAMILY: Family = {
    **dict.fromkeys(_FUNCTIONS.split(), _function),
    "AppendColumns": _appended,
    "AppendColumnsWithObject": _appended,
    "TypedFilter": _typed_filter,
    "DeserializeToObject": _deserialize,
    "SerializeFromObject": _serialize,
    "ArrowEvalPython": _evaluated,
    "BatchEvalPython": _evaluated,
    "AttachDistributedSequence": _numbered,
}
