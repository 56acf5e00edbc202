"""JSON schemas for the OpenAPI document, derived from the model classes as :func:`plain` encodes them.

The page's client is generated from them, and a test validates responses against them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import StrEnum
from types import NoneType, UnionType
from typing import Any, TypedDict, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from headwater.model.answers import Node
from headwater.model.names import Job
from headwater.server.app.problems import MEDIA_TYPE

Schema = TypedDict(
    "Schema",
    {
        "$ref": str,
        "type": str | list[str],
        "format": str,
        "description": str,
        "const": object,
        "enum": Sequence[object],
        "anyOf": list["Schema"],
        "items": "Schema",
        "maxItems": int,
        "properties": "dict[str, Schema]",
        "required": list[str],
        "additionalProperties": "bool | Schema",
        "minimum": int,
        "maximum": int,
        "pattern": str,
    },
    total=False,
)
"""A JSON schema, with the keywords that this server uses."""
Responses = dict[int | str, dict[str, Any]]
"""Responses of a route by status, as FastAPI takes them."""
OpenApiDocument = dict[str, Any]
"""The OpenAPI document, as FastAPI generates it."""
COMPONENTS: dict[str, Schema] = {}
"""Schemas of classes, by name; the document refers to them instead of repeating them."""

_PRIMITIVES: dict[object, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    NoneType: {"type": "null"},
    datetime: {"type": "string", "format": "date-time"},
    Any: {},
    object: {},
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


def schema_of(kind: object) -> Schema:
    """The schema of a type: a class, a union, or a generic type such as ``tuple[str, ...]``."""
    if kind in _PRIMITIVES:
        return {**_PRIMITIVES[kind]}
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return {"anyOf": [schema_of(member) for member in inner]}
    if origin in (tuple, list):
        return {"type": "array", "items": schema_of(inner[0])}
    if origin is not None and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": schema_of(inner[1])}
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return _component(kind.__name__, lambda: {"type": "string", "enum": [str(member) for member in kind]})
    if isinstance(kind, type) and (is_dataclass(kind) or hasattr(kind, "_fields")):
        return _component(kind.__name__, lambda: _object(kind))
    raise TypeError(f"no schema is known for {kind}")


def _component(name: str, make: Callable[[], Schema]) -> Schema:
    if name not in COMPONENTS:
        COMPONENTS[name] = {}  # before make() is called, because schemas are recursive: a node's parent is a node
        COMPONENTS[name] = make()
    return {"$ref": f"#/components/schemas/{name}"}


def _object(kind: type) -> Schema:
    """Follow :func:`plain`: a node has its path instead of its parent, and a job its type."""
    hints = get_type_hints(kind)
    names = [field.name for field in fields(kind)] if is_dataclass(kind) else list(hints)
    if kind is Node:
        names = ["endpoint", "part", "depth", "dependency", "via"]
    properties = {name: schema_of(hints[name]) for name in names}
    if kind is Node:
        properties["path"] = schema_of(list[str])
    if kind is Job:
        properties = {"type": Schema(const="job"), **properties}
    return {"type": "object", "required": list(properties), "properties": properties, "additionalProperties": False}


def with_members(kind: type, **more: Schema) -> Schema:
    """Return the schema of a class with some members changed or added."""
    whole = _object(kind)
    properties = {**whole["properties"], **more}
    return {**whole, "required": list(properties), "properties": properties}


def page_of(kind: type) -> Schema:
    return {
        "type": "object",
        "required": ["items", "next"],
        "properties": {
            "items": {"type": "array", "items": schema_of(kind)},
            "next": {"anyOf": [_PRIMITIVES[str], _PRIMITIVES[NoneType]]},
        },
    }


_COMMON_PROBLEMS = (401, 403, 429, 500, 503)


def json_responses(schema: Schema, status: int, *problems: int) -> Responses:
    """Return the responses of a route; ``problems`` are the statuses of its own problems.

    Every route may refuse access, exceed the rate limit or find the store unavailable.
    """
    success = {"description": "The answer.", "content": {"application/json": {"schema": schema}}}
    ref = {"$ref": "#/components/schemas/ProblemDetails"}
    problem = {"description": "A problem.", "content": {MEDIA_TYPE: {"schema": ref}}}
    return {status: success, **dict.fromkeys(sorted({*_COMMON_PROBLEMS, *problems}), problem)}


def file_responses(media_types: Sequence[str], *problems: int) -> Responses:
    """Return the responses of a route that serves a file of one of these types."""
    content: dict[str, dict[str, Schema]] = {media_type: {"schema": _PRIMITIVES[str]} for media_type in media_types}
    if "application/json" in content:
        content["application/json"] = {"schema": {}}  # JSON is not text
    return {**json_responses({}, 200, *problems), 200: {"description": "The answer.", "content": content}}


def remove_default_validation_errors(document: OpenApiDocument) -> None:
    """Remove the 422 that FastAPI documents for every route with a parameter, in a shape that this server never sends.

    Routes that can respond with 422 state it themselves.
    """
    for operations in document["paths"].values():
        for operation in operations.values():
            if "HTTPValidationError" in str(operation["responses"].get("422")):
                del operation["responses"]["422"]
    for name in ("HTTPValidationError", "ValidationError"):
        document["components"]["schemas"].pop(name, None)


def request_body(model: type[BaseModel] | Schema) -> dict[str, object]:
    """Document a body that the route reads itself."""
    schema: object = model
    if isinstance(model, type):
        generated = model.model_json_schema(ref_template="#/components/schemas/{model}")
        COMPONENTS.update(generated.pop("$defs", {}))  # the document keeps all named schemas in one place
        schema = generated
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}
