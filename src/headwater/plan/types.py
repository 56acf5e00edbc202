"""Spark's data types as JSON: looking into structs, and into the structs that arrays hold."""

from __future__ import annotations

from typing import TypedDict

from headwater.plan.tree import PlanNode

_TYPED_NODES = frozenset(
    {"AttributeReference", "Cast", "TryCast", "AnsiCast", "Literal", "NamedLambdaVariable", "PythonUDF", "ScalaUDF"}
)
_BOOLEAN = frozenset(
    {
        *("And", "Or", "Not", "EqualTo", "EqualNullSafe", "LessThan", "LessThanOrEqual", "GreaterThan"),
        *("GreaterThanOrEqual", "IsNull", "IsNotNull", "IsNaN", "In", "InSet", "InSubquery", "Exists", "Like", "RLike"),
        *("StartsWith", "EndsWith", "Contains", "ArrayContains", "ArrayExists", "ArrayForAll"),
    }
)


class StructField(TypedDict):
    """A field of a struct in the JSON of its type, as far as it is read here."""

    name: str
    type: object


def struct_of(type: object) -> list[StructField] | None:
    """The fields of a struct, or of the struct that an array holds."""
    while isinstance(type, dict):
        if type.get("type") == "struct":
            fields = type.get("fields")
            return fields if isinstance(fields, list) else None
        if type.get("type") == "udt":
            type = type.get("sqlType")
        elif type.get("type") == "array":
            type = type.get("elementType")
        else:
            return None
    return None


def field_names(type: object) -> list[str] | None:
    fields = struct_of(type)
    return None if fields is None else [str(field["name"]) for field in fields]


def find_field(type: object, name: str) -> tuple[str, object]:
    """A field's name as the schema spells it, and its type; the given name if the schema does not have it."""
    fields = struct_of(type) or []
    for field in fields:
        if field["name"] == name:
            return name, field["type"]
    folded = name.casefold()
    for field in fields:
        if str(field["name"]).casefold() == folded:
            return str(field["name"]), field["type"]
    return name, None


def type_of(node: PlanNode) -> object:
    """An expression's type, as far as the JSON states it; else None."""
    if node.name in _TYPED_NODES:
        return node.fields.get("dataType")
    if node.name in _BOOLEAN:
        return "boolean"
    if node.name == "Alias":
        return type_of(node.children[0])
    if node.name == "GetStructField":
        fields = struct_of(type_of(node.children[0]))
        ordinal = node.number("ordinal")
        return fields[ordinal]["type"] if fields and ordinal is not None and ordinal < len(fields) else None
    if node.name == "GetArrayItem":
        inner = type_of(node.children[0])
        return inner.get("elementType") if isinstance(inner, dict) else None
    return None


def field_of(node: PlanNode) -> str | None:
    """The field that an expression takes out of a struct. `s.*` takes fields by position."""
    field = node.fields.get("field")
    name = node.text("name") or (field.get("name") if isinstance(field, dict) else None)
    if isinstance(name, str):
        return name
    fields = struct_of(type_of(node.children[0]))
    ordinal = node.number("ordinal")
    return str(fields[ordinal]["name"]) if fields and ordinal is not None and ordinal < len(fields) else None


def fixed_choice(node: PlanNode) -> int | None:
    """The child that an IF takes, if its condition is a literal."""
    condition = node.children[0]
    if condition.name != "Literal" or condition.fields.get("dataType") != "boolean":
        return None
    return 1 if condition.fields.get("value") == "true" else 2
