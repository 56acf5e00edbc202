"""Documents as rows and back: what tables of Parquet and keys of GraphML are made of.

A row has a value for each field of its kind. Where these do not give the very document back (a field that nobody
knows, a null, a time that is written in another way), the whole document goes along as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from headwater.formats.wia.checks import Tree, is_utc, tree_of
from headwater.formats.wia.decoding import decoded
from headwater.formats.wia.elements import FIELDS, Document, Field, Kind, Type

DOCUMENT = "document"
"""The column, or the key, of a document that its fields do not give back."""

_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
_AS_JSON = (Type.OBJECT, Type.OBJECTS)
_PLAIN = {Type.COUNT: int, Type.FRACTION: int | float, Type.FLAG: bool}
_SCALAR = str | int | float | None
_TREES = {kind: tree_of(fields) for kind, fields in FIELDS.items()}
_NAMES = {kind: (*(field.name for field in fields), DOCUMENT) for kind, fields in FIELDS.items()}


def flattened(kind: Kind, document: Document) -> dict[str, Any]:
    """A value for each field, None where there is none, and for :data:`DOCUMENT`."""
    row: dict[str, Any] = dict.fromkeys(_NAMES[kind])
    if not _lay_out(_TREES[kind], document, row):
        row[DOCUMENT] = _encode(document)
    return row


def _lay_out(tree: Tree, document: Document, row: dict[str, Any]) -> bool:
    """Whether what is put into the row gives back the very document."""
    whole = True
    for name, value in document.items():
        entry = tree.get(name)
        if isinstance(entry, Field):
            row[entry.name], same = _outward(entry, value)
        elif entry is not None and isinstance(value, dict) and value:
            same = _lay_out(entry, value, row)
        else:
            same = False
        whole = whole and same
    return whole


def _outward(field: Field, value: Any) -> tuple[Any, bool]:
    """What a column or a key holds, and whether that gives the value back."""
    if value is None:
        return None, False
    type = field.type
    if type in _AS_JSON:
        text = _encode(value)
        return text, _is_plain(value, 3) or decoded(text) == value
    if type is Type.TIME:
        moment = as_moment(value)
        return moment, moment is not None and time_text(moment) == value
    if type is Type.TEXTS:
        fits = isinstance(value, list) and all(isinstance(each, str) for each in value)
    elif type in _PLAIN:
        fits = isinstance(value, _PLAIN[type]) and isinstance(value, bool) == (type is Type.FLAG)
    else:
        fits = isinstance(value, str)
    return (value if fits else None), fits


def _is_plain(value: Any, levels: int) -> bool:
    """Whether it is certain to be read as it was written: most objects are small, and have nothing odd in them."""
    if not isinstance(value, dict):
        return isinstance(value, _SCALAR)
    return levels > 0 and all(_is_plain(each, levels - 1) for each in value.values())


def inflated(kind: Kind, row: Mapping[str, Any]) -> Document:
    """The document that a row came from. Raises a ``ValueError`` where what should be JSON is not."""
    whole = row.get(DOCUMENT)
    if whole is not None:
        document = decoded(whole)
        if not isinstance(document, dict):
            raise ValueError(f"'{DOCUMENT}' is no JSON object")
        return document
    document = {}
    for name, parts, leaf, inward in _WAYS[kind]:
        value = row.get(name)
        if value is not None:
            owner = document
            for step in parts:
                owner = owner.setdefault(step, {})
            owner[leaf] = value if inward is None else inward(value)
    return document


def as_moment(value: Any) -> datetime | None:
    return _moment(value) if isinstance(value, str) else None


# What a run wrote, or a file declares, has the same few times on a great many elements.
@lru_cache(1024)
def _moment(text: str) -> datetime | None:
    return datetime.fromisoformat(text).astimezone(UTC) if is_utc(text) else None


@lru_cache(1024)
def time_text(moment: datetime) -> str:
    """As we write every time: in UTC, to the microsecond where that says anything."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _object(value: Any) -> Any:
    return decoded(value) if isinstance(value, str) else value


def _time(value: Any) -> Any:
    return time_text(value) if isinstance(value, datetime) else value


_INWARD: Mapping[Type, Callable[[Any], Any]] = {Type.TIME: _time, **dict.fromkeys(_AS_JSON, _object)}
_WAYS = {
    kind: [(field.name, field.path[:-1], field.path[-1], _INWARD.get(field.type)) for field in fields]
    for kind, fields in FIELDS.items()
}
"""Of each field: its column, where in the document it belongs, and how its value is read."""
