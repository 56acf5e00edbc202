"""Documents as rows and back: what tables of Parquet and keys of GraphML are made of.

A row has a value for each field of its kind. Where these do not give the very document back (a field that nobody
knows, a null, a time that is written in another way), the whole document goes along as JSON.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from headwater.formats.wia.checks import is_utc
from headwater.formats.wia.decoding import decoded
from headwater.formats.wia.elements import FIELDS, Document, Field, Kind, Type

DOCUMENT = "document"
"""The column, or the key, of a document that its fields do not give back."""

_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
_AS_JSON = (Type.OBJECT, Type.OBJECTS)
_PLAIN = {Type.COUNT: int, Type.FRACTION: int | float, Type.FLAG: bool}


def flattened(kind: Kind, document: Document) -> dict[str, Any]:
    """A value for each field, None where there is none, and for :data:`DOCUMENT`."""
    row: dict[str, Any] = {field.name: _outward(field, document) for field in FIELDS[kind]}
    row[DOCUMENT] = None if inflated(kind, row) == document else _encode(document)
    return row


def inflated(kind: Kind, row: dict[str, Any]) -> Document:
    """The document that a row came from. Raises a ``ValueError`` where what should be JSON is not."""
    whole = row.get(DOCUMENT)
    if whole is not None:
        document = decoded(whole)
        if not isinstance(document, dict):
            raise ValueError(f"'{DOCUMENT}' is no JSON object")
        return document
    document = {}
    for field in FIELDS[kind]:
        value = row.get(field.name)
        if value is not None:
            owner = document
            for step in field.path[:-1]:
                owner = owner.setdefault(step, {})
            owner[field.path[-1]] = _inward(field, value)
    return document


def _outward(field: Field, document: Document) -> Any:
    value: Any = document
    for step in field.path:
        value = value.get(step) if isinstance(value, dict) else None
    if value is None:
        return None
    if field.type in _AS_JSON:
        return _encode(value)
    if field.type is Type.TIME:
        return as_moment(value)
    if field.type is Type.TEXTS:
        return value if isinstance(value, list) and all(isinstance(each, str) for each in value) else None
    if field.type in _PLAIN:
        fits = isinstance(value, _PLAIN[field.type]) and isinstance(value, bool) == (field.type is Type.FLAG)
        return value if fits else None
    return value if isinstance(value, str) else None


def _inward(field: Field, value: Any) -> Any:
    if field.type in _AS_JSON and isinstance(value, str):
        return decoded(value)
    if field.type is Type.TIME and isinstance(value, datetime):
        return time_text(value)
    return value


def as_moment(value: Any) -> datetime | None:
    return datetime.fromisoformat(value).astimezone(UTC) if is_utc(value) else None


def time_text(moment: datetime) -> str:
    """As we write every time: in UTC, to the microsecond where that says anything."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
