"""Spark's types, from Spark's JSON to the `schema` facet."""

from __future__ import annotations

from collections.abc import Iterable

from openlineage.client.facet_v2 import schema_dataset

_Fields = schema_dataset.SchemaDatasetFacetFields


def schema_fields(columns: Iterable[tuple[str, object]]) -> list[_Fields]:
    return [_field(name, kind, position) for position, (name, kind) in enumerate(columns, 1)]


def _field(name: str, kind: object, position: int | None = None) -> _Fields:
    return _Fields(name=name, type=type_name(kind), ordinal_position=position, fields=_below(kind))


def type_name(kind: object) -> str | None:
    """`long`, `decimal(10,2)`, `struct`, `array`, `map`; a user's own type by its class."""
    if isinstance(kind, dict):
        name = kind.get("type")
        return str(kind.get("class") or "udt") if name == "udt" else name
    return None if kind is None else str(kind)


def _below(kind: object) -> list[_Fields]:
    """The fields of a struct; the element of an array and the key and value of a map, under the names from the
    documentation of the facet."""
    if not isinstance(kind, dict):
        return []
    if kind.get("type") == "struct":
        return schema_fields((field["name"], field["type"]) for field in kind.get("fields", ()))
    if kind.get("type") == "array":
        return [_field("_element", kind.get("elementType"))]
    if kind.get("type") == "map":
        return [_field("key", kind.get("keyType")), _field("value", kind.get("valueType"))]
    return []
