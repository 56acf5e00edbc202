"""Structs: built, taken apart, amended. A field taken out depends on that field alone."""

from __future__ import annotations

from headwater.plan.expressions.family import Family, transformed
from headwater.plan.flow import Amended, Field, Struct, Value
from headwater.plan.tree import Node
from headwater.plan.types import field_of


def _field(node: Node, values: list[Value]) -> Value:
    """Also `items.sku` of an array of structs."""
    name = field_of(node) or _name_at(node, values[0])
    return transformed(node, values) if name is None else Field(values[0], name)


def _name_at(node: Node, value: Value) -> str | None:
    ordinal, names = node.number("ordinal"), value.names()
    return names[ordinal] if names is not None and ordinal is not None and ordinal < len(names) else None


def _struct(node: Node, values: list[Value]) -> Value:
    names = [_literal(child) for child in node.children[0::2]]
    known = [name for name in names if name is not None]
    if len(known) != len(names) or len(set(known)) != len(known):
        return transformed(node, values)
    return Struct(dict(zip(known, values[1::2], strict=True)))


def _amended(node: Node, values: list[Value]) -> Value:
    """Later changes see earlier ones."""
    result = values[0]
    for operation, value in zip(node.children[1:], values[1:], strict=True):
        name = operation.text("name")
        if name is None:
            return transformed(node, values)
        result = Amended(result, {name: None if operation.name == "DropField" else value})
    return result


def _with_field(node: Node, values: list[Value]) -> Value:
    return values[0] if values else transformed(node, values)


def _literal(node: Node) -> str | None:
    value = node.fields.get("value") if node.name == "Literal" else None
    return value if isinstance(value, str) else None


FAMILY = Family(
    combine={
        "GetStructField": _field,
        "GetArrayStructFields": _field,
        "CreateNamedStruct": _struct,
        "UpdateFields": _amended,
        "WithField": _with_field,
    }
)
