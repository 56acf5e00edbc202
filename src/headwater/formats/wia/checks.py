"""What every element by itself has to be: rules 3, 4 and 6 of the format, and the types of its fields."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from headwater.errors import (
    FieldMissing,
    GraphInvalid,
    NamespaceInvalid,
    StructureInvalid,
    TimestampInvalid,
    shorten,
)
from headwater.formats.openlineage.text import UNSTORABLE_REASON, storable
from headwater.formats.wia.elements import FIELDS, Document, Field, Kind, Type, named
from headwater.formats.wia.namespaces import is_uri

_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\Z")
_NO_OFFSET = timedelta(0)
_LARGEST = 2**63

Fault = tuple[type[GraphInvalid], str]
"""The rule, and what is wrong, to be read after the name of the field."""

Tree = dict[str, "Field | Tree"]


def faults(kind: Kind, document: Document) -> list[GraphInvalid]:
    """Everything that is wrong with one element."""
    found: list[tuple[str, Fault]] = []
    for field in _REQUIRED[kind]:
        value = document.get(field.path[0])
        if value is None or value == "":
            found.append((field.path[0], (FieldMissing, "is missing" if value is None else "is empty")))
    _look(_TREES[kind], document, "", found)
    return [error(named(kind, document), f"{path} {reason}") for path, (error, reason) in found]


def _look(tree: Tree, document: Mapping[str, Any], path: str, found: list[tuple[str, Fault]]) -> None:
    """Only at what is there: most fields of most elements are not."""
    for name, value in document.items():
        entry = tree.get(name)
        if entry is None or value is None:
            continue
        if isinstance(entry, dict):
            if isinstance(value, dict):
                _look(entry, value, f"{path}{name}.", found)
            else:
                found.append((path + name, (StructureInvalid, f"must be an object, not {_shown(value)}")))
            continue
        fault = _CHECKS[entry.type](entry, value) if value != "" or not entry.required else None
        if fault is not None:
            found.append((path + name, fault))
        elif entry.items:
            _look_into(entry, value, path + name, found)


def _look_into(field: Field, items: list[Document], path: str, found: list[tuple[str, Fault]]) -> None:
    tree = tree_of(field.items)
    for number, item in enumerate(items):
        absent = [each.path[0] for each in field.items if each.required and not item.get(each.path[0])]
        found += [(f"{path}[{number}].{name}", (FieldMissing, "is missing")) for name in absent]
        _look(tree, item, f"{path}[{number}].", found)


def tree_of(fields: Iterable[Field]) -> Tree:
    tree: Tree = {}
    for field in fields:
        room: Any = tree
        for step in field.path[:-1]:
            room = room.setdefault(step, {})
        room[field.path[-1]] = field
    return tree


_TREES = {kind: tree_of(fields) for kind, fields in FIELDS.items()}
_REQUIRED = {kind: [field for field in fields if field.required] for kind, fields in FIELDS.items()}
"""None of which lies deeper than the element itself."""


def _id(field: Field, value: Any) -> Fault | None:
    return None if is_id(value) else (StructureInvalid, f"is no UUID: {_shown(value)}")


def is_id(value: Any) -> bool:
    return isinstance(value, str) and _UUID.match(value) is not None


def _text(field: Field, value: Any) -> Fault | None:
    if not isinstance(value, str):
        return StructureInvalid, f"must be a text, not {_shown(value)}"
    if field.choices and value not in field.choices:
        return StructureInvalid, f"must be one of {', '.join(sorted(field.choices))}, not {_shown(value)}"
    if field.required and not storable(value):
        return StructureInvalid, UNSTORABLE_REASON
    return None


def _time(field: Field, value: Any) -> Fault | None:
    return None if is_utc(value) else (TimestampInvalid, f"is no ISO 8601 time in UTC: {_shown(value)}")


def is_utc(value: Any) -> bool:
    return isinstance(value, str) and _is_utc(value)


@lru_cache(1024)
def _is_utc(text: str) -> bool:
    # A date without a time, and a time without a zone, have no offset.
    try:
        return datetime.fromisoformat(text).utcoffset() == _NO_OFFSET
    except ValueError:
        return False


def _uri(field: Field, value: Any) -> Fault | None:
    if not isinstance(value, str):
        return StructureInvalid, f"must be a text, not {_shown(value)}"
    return None if is_uri(value) else (NamespaceInvalid, f"is no URI: {_shown(value)}")


def _count(field: Field, value: Any) -> Fault | None:
    # JSON has one kind of number: 12.0 is a whole one.
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not whole or not -_LARGEST <= value < _LARGEST:
        return StructureInvalid, f"must be a whole number, not {_shown(value)}"
    return None


def _fraction(field: Field, value: Any) -> Fault | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        return StructureInvalid, f"must be a number from 0 to 1, not {_shown(value)}"
    return None


def _flag(field: Field, value: Any) -> Fault | None:
    return None if isinstance(value, bool) else (StructureInvalid, f"must be true or false, not {_shown(value)}")


def _texts(field: Field, value: Any) -> Fault | None:
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return None
    return StructureInvalid, f"must be a list of texts, not {_shown(value)}"


def _object(field: Field, value: Any) -> Fault | None:
    return None if isinstance(value, dict) else (StructureInvalid, f"must be an object, not {_shown(value)}")


def _objects(field: Field, value: Any) -> Fault | None:
    if isinstance(value, list) and all(isinstance(each, dict) for each in value):
        return None
    return StructureInvalid, f"must be a list of objects, not {_shown(value)}"


_CHECKS: Mapping[Type, Callable[[Field, Any], Fault | None]] = {
    Type.ID: _id,
    Type.TEXT: _text,
    Type.TIME: _time,
    Type.URI: _uri,
    Type.COUNT: _count,
    Type.FRACTION: _fraction,
    Type.FLAG: _flag,
    Type.TEXTS: _texts,
    Type.OBJECT: _object,
    Type.OBJECTS: _objects,
}


def _shown(value: Any) -> str:
    return shorten(repr(value))
