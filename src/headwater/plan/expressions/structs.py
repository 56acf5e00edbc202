"""Structs: built, taken apart, changed. A field taken out depends on that field alone."""

from __future__ import annotations

from headwater.plan.expressions.family import ExpressionFamily, computed_from
from headwater.plan.flow import FieldAccess, StructValue, UpdatedStruct, Value
from headwater.plan.tree import PlanNode
from headwater.plan.types import field_of


def _field(node: PlanNode, values: list[Value]) -> Value:
    """Also `items.sku` of an array of structs."""
    name = field_of(node) or _name_at(node, values[0])
    return computed_from(node, values) if name is None else FieldAccess(values[0], name)


def _name_at(node: PlanNode, value: Value) -> str | None:
    ordinal, names = node.number("ordinal"), value.names()
    return names[ordinal] if names is not None and ordinal is not None and ordinal < len(names) else None


def _struct(node: PlanNode, values: list[Value]) -> Value:
    names = [_literal(child) for child in node.children[0::2]]
    literal_names = [name for name in names if name is not None]
    if len(literal_names) != len(names) or len(set(literal_names)) != len(literal_names):
        return computed_from(node, values)
    return StructValue(dict(zip(literal_names, values[1::2], strict=True)))


def _update_fields(node: PlanNode, values: list[Value]) -> Value:
    """Later changes see earlier ones."""
    result = values[0]
    for operation, value in zip(node.children[1:], values[1:], strict=True):
        name = operation.text("name")
        if name is None:
            return computed_from(node, values)
        result = UpdatedStruct(result, {name: None if operation.name == "DropField" else value})
    return result


def _with_field(node: PlanNode, values: list[Value]) -> Value:
    return values[0] if values else computed_from(node, values)


def _literal(node: PlanNode) -> str | None:
    value = node.fields.get("value") if node.name == "Literal" else None
    return value if isinstance(value, str) else None


FAMILY = ExpressionFamily(
    combine={
        "GetStructField": _field,
        "GetArrayStructFields": _field,
        "CreateNamedStruct": _struct,
        "UpdateFields": _update_fields,
        "WithField": _with_field,
    }
)
