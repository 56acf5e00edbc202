"""Checks of single elements: rules 3, 4 and 6 of the format, and the types of the fields."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from functools import lru_cache

from headwater.errors import (
    FieldMissing,
    GraphInvalid,
    NamespaceInvalid,
    StructureInvalid,
    TimestampInvalid,
    shorten,
)
from headwater.formats.openlineage.text import UNSTORABLE_REASON, is_storable
from headwater.formats.wia.elements import FIELDS, Document, ElementKind, FieldSpec, FieldType, element_name
from headwater.formats.wia.namespaces import is_uri

_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\Z")
_NO_OFFSET = timedelta(0)
_MAX_COUNT = 2**63

FieldFault = tuple[type[GraphInvalid], str]
"""The error class of the rule, and the fault as a phrase that follows the name of the field."""

FieldTree = dict[str, "FieldSpec | FieldTree"]


def element_faults(kind: ElementKind, document: Document) -> list[GraphInvalid]:
    """All faults of one element."""
    faults: list[tuple[str, FieldFault]] = []
    for field in _REQUIRED[kind]:
        value = document.get(field.path[0])
        if value is None or value == "":
            faults.append((field.path[0], (FieldMissing, "is missing" if value is None else "is empty")))
    _check_fields(_TREES[kind], document, "", faults)
    return [error(element_name(kind, document), f"{path} {reason}") for path, (error, reason) in faults]


def _check_fields(
    tree: FieldTree, document: Mapping[str, object], path: str, faults: list[tuple[str, FieldFault]]
) -> None:
    """Only the fields that are present: most fields of most elements are not."""
    for name, value in document.items():
        spec = tree.get(name)
        if spec is None or value is None:
            continue
        if isinstance(spec, dict):
            if isinstance(value, dict):
                _check_fields(spec, value, f"{path}{name}.", faults)
            else:
                faults.append((path + name, (StructureInvalid, f"must be an object, not {_quoted_value(value)}")))
            continue
        fault = _CHECKS[spec.type](spec, value) if value != "" or not spec.required else None
        if fault is not None:
            faults.append((path + name, fault))
        elif spec.items and isinstance(value, list):
            _check_items(spec, value, path + name, faults)


def _check_items(field: FieldSpec, items: list[Document], path: str, faults: list[tuple[str, FieldFault]]) -> None:
    tree = tree_of(field.items)
    for number, item in enumerate(items):
        missing = [
            item_field.path[0] for item_field in field.items if item_field.required and not item.get(item_field.path[0])
        ]
        faults += [(f"{path}[{number}].{name}", (FieldMissing, "is missing")) for name in missing]
        _check_fields(tree, item, f"{path}[{number}].", faults)


def tree_of(fields: Iterable[FieldSpec]) -> FieldTree:
    tree: FieldTree = {}
    for field in fields:
        branch = tree
        for step in field.path[:-1]:
            inner = branch.setdefault(step, {})
            assert isinstance(inner, dict), f"{field.name} lies within another field"
            branch = inner
        branch[field.path[-1]] = field
    return tree


_TREES = {kind: tree_of(fields) for kind, fields in FIELDS.items()}
_REQUIRED = {kind: [field for field in fields if field.required] for kind, fields in FIELDS.items()}
"""None of them is nested."""


def _id(field: FieldSpec, value: object) -> FieldFault | None:
    return None if is_id(value) else (StructureInvalid, f"is not a UUID: {_quoted_value(value)}")


def is_id(value: object) -> bool:
    return isinstance(value, str) and _UUID.match(value) is not None


def _text(field: FieldSpec, value: object) -> FieldFault | None:
    if not isinstance(value, str):
        return StructureInvalid, f"must be a text, not {_quoted_value(value)}"
    if field.choices and value not in field.choices:
        return StructureInvalid, f"must be one of {', '.join(sorted(field.choices))}, not {_quoted_value(value)}"
    if field.required and not is_storable(value):
        return StructureInvalid, UNSTORABLE_REASON
    return None


def _time(field: FieldSpec, value: object) -> FieldFault | None:
    return None if is_utc(value) else (TimestampInvalid, f"is not an ISO 8601 time in UTC: {_quoted_value(value)}")


def is_utc(value: object) -> bool:
    return isinstance(value, str) and _is_utc(value)


@lru_cache(1024)
def _is_utc(text: str) -> bool:
    # A date without a time, and a time without a zone, have no offset.
    try:
        return datetime.fromisoformat(text).utcoffset() == _NO_OFFSET
    except ValueError:
        return False


def _uri(field: FieldSpec, value: object) -> FieldFault | None:
    if not isinstance(value, str):
        return StructureInvalid, f"must be a text, not {_quoted_value(value)}"
    return None if is_uri(value) else (NamespaceInvalid, f"is not a URI: {_quoted_value(value)}")


def _count(field: FieldSpec, value: object) -> FieldFault | None:
    # JSON has one kind of number: 12.0 is a whole one.
    if isinstance(value, int | float) and not isinstance(value, bool):
        whole = isinstance(value, int) or value.is_integer()
        if whole and -_MAX_COUNT <= value < _MAX_COUNT:
            return None
    return StructureInvalid, f"must be a whole number, not {_quoted_value(value)}"


def _fraction(field: FieldSpec, value: object) -> FieldFault | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        return StructureInvalid, f"must be a number from 0 to 1, not {_quoted_value(value)}"
    return None


def _flag(field: FieldSpec, value: object) -> FieldFault | None:
    return None if isinstance(value, bool) else (StructureInvalid, f"must be true or false, not {_quoted_value(value)}")


def _texts(field: FieldSpec, value: object) -> FieldFault | None:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return None
    return StructureInvalid, f"must be a list of texts, not {_quoted_value(value)}"


def _object(field: FieldSpec, value: object) -> FieldFault | None:
    return None if isinstance(value, dict) else (StructureInvalid, f"must be an object, not {_quoted_value(value)}")


def _objects(field: FieldSpec, value: object) -> FieldFault | None:
    if isinstance(value, list) and all(isinstance(item, dict) for item in value):
        return None
    return StructureInvalid, f"must be a list of objects, not {_quoted_value(value)}"


_CHECKS: Mapping[FieldType, Callable[[FieldSpec, object], FieldFault | None]] = {
    FieldType.ID: _id,
    FieldType.TEXT: _text,
    FieldType.TIME: _time,
    FieldType.URI: _uri,
    FieldType.COUNT: _count,
    FieldType.FRACTION: _fraction,
    FieldType.FLAG: _flag,
    FieldType.TEXTS: _texts,
    FieldType.OBJECT: _object,
    FieldType.OBJECTS: _objects,
}


def _quoted_value(value: object) -> str:
    return shorten(repr(value))
