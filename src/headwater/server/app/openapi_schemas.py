"""Schemas for the OpenAPI document, read off the answers themselves: what :func:`plain` makes of a class.

The page's client is generated from them, and a test holds answers against them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import StrEnum
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from headwater.model.answers import Node
from headwater.model.names import Job
from headwater.server.app.problems import MEDIA_TYPE

Schema = dict[str, Any]
COMPONENTS: dict[str, Schema] = {}
"""The classes that were asked for, by name; the document names them instead of repeating them."""

_PRIMITIVES: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    NoneType: {"type": "null"},
    datetime: {"type": "string", "format": "date-time"},
    Any: {},
}

PROBLEM: Schema = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "instance", "code", "request_id"],
    "properties": {
        **{name: {"type": "string"} for name in ("type", "title", "detail", "instance", "code", "request_id")},
        "status": {"type": "integer"},
    },
}
COMPONENTS["ProblemDetails"] = PROBLEM


def schema_of(kind: Any) -> Schema:
    if kind in _PRIMITIVES:
        return dict(_PRIMITIVES[kind])
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return {"anyOf": [schema_of(each) for each in inner]}
    if origin in (tuple, list):
        return {"type": "array", "items": schema_of(inner[0])}
    if origin is not None and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": schema_of(inner[1])}
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return _component(kind.__name__, lambda: {"type": "string", "enum": [str(each) for each in kind]})
    if is_dataclass(kind) or hasattr(kind, "_fields"):
        return _component(kind.__name__, lambda: _object(kind))
    raise TypeError(f"no schema is known for {kind}")


def _component(name: str, make: Any) -> Schema:
    if name not in COMPONENTS:
        COMPONENTS[name] = {}  # before it is made: a node's parent is a node
        COMPONENTS[name] = make()
    return {"$ref": f"#/components/schemas/{name}"}


def _object(kind: Any) -> Schema:
    """As :func:`plain` does it: a node says its path instead of its parent, a job that it is one."""
    hints = get_type_hints(kind)
    names = [field.name for field in fields(kind)] if is_dataclass(kind) else list(kind._fields)
    if kind is Node:
        names = ["endpoint", "part", "depth", "dependency", "via"]
    properties = {name: schema_of(hints[name]) for name in names}
    if kind is Node:
        properties["path"] = schema_of(list[str])
    if kind is Job:
        properties = {"type": {"const": "job"}, **properties}
    return {"type": "object", "required": list(properties), "properties": properties, "additionalProperties": False}


def with_members(kind: Any, **more: Schema) -> Schema:
    """The object of a class with some members changed or added."""
    whole = _object(kind)
    properties = {**whole["properties"], **more}
    return {**whole, "required": list(properties), "properties": properties}


def page_of(kind: Any) -> Schema:
    item = kind if isinstance(kind, dict) else schema_of(kind)
    return {
        "type": "object",
        "required": ["items", "next"],
        "properties": {
            "items": {"type": "array", "items": item},
            "next": {"anyOf": [_PRIMITIVES[str], _PRIMITIVES[NoneType]]},
        },
    }


_COMMON_PROBLEMS = (401, 403, 429, 500, 503)


def json_responses(schema: Schema, status: int, *problems: int) -> dict[int | str, dict[str, Any]]:
    """What a route may answer with: ``problems`` are its own. To any it may be that one may not ask, asks too often, or
    that the store has gone."""
    good = {"description": "The answer.", "content": {"application/json": {"schema": schema}}}
    ref = {"$ref": "#/components/schemas/ProblemDetails"}
    bad = {"description": "A problem.", "content": {MEDIA_TYPE: {"schema": ref}}}
    return {status: good, **dict.fromkeys(sorted({*_COMMON_PROBLEMS, *problems}), bad)}


def file_responses(media_types: Sequence[str], *problems: int) -> dict[int | str, dict[str, Any]]:
    """The same for a file, of one of these types."""
    content: dict[str, Any] = {media_type: {"schema": _PRIMITIVES[str]} for media_type in media_types}
    if "application/json" in content:
        content["application/json"] = {"schema": {}}  # then it is no text
    return {**json_responses({}, 200, *problems), 200: {"description": "The answer.", "content": content}}


def remove_default_validation_errors(document: dict[str, Any]) -> None:
    """FastAPI says of every route with a parameter that it may answer 422 in a shape of its own. Ours say it where it
    can be, and in the shape that it has."""
    for operations in document["paths"].values():
        for operation in operations.values():
            if "HTTPValidationError" in str(operation["responses"].get("422")):
                del operation["responses"]["422"]
    for name in ("HTTPValidationError", "ValidationError"):
        document["components"]["schemas"].pop(name, None)


def request_body(model: type[BaseModel] | Schema) -> dict[str, Any]:
    """What a route reads off its body itself, told of in the document."""
    schema = model if isinstance(model, dict) else model.model_json_schema(ref_template="#/components/schemas/{model}")
    COMPONENTS.update(schema.pop("$defs", {}))  # the document has one place for all that is named
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}
