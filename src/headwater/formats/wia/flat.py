"""Documents as rows and back: for tables of Parquet and keys of GraphML.

A row has a value for each field of its kind. If these do not reproduce the document (an unknown field, a null, a time
that is written in another way), the whole document is added as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import lru_cache

from headwater.formats.wia.checks import FieldTree, is_utc, tree_of
from headwater.formats.wia.decoding import decode_json
from headwater.formats.wia.elements import FIELDS, Document, ElementKind, FieldSpec, FieldType

DOCUMENT = "document"
"""The column, or the key, of a document that its fields do not reproduce."""

_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
_AS_JSON = (FieldType.OBJECT, FieldType.OBJECTS)
_PLAIN = {FieldType.COUNT: int, FieldType.FRACTION: int | float, FieldType.FLAG: bool}
_SCALAR = str | int | float | None
_TREES = {kind: tree_of(fields) for kind, fields in FIELDS.items()}
_NAMES = {kind: (*(field.name for field in fields), DOCUMENT) for kind, fields in FIELDS.items()}


def flatten(kind: ElementKind, document: Document) -> dict[str, object]:
    """A value for each field, None for a missing one, and for :data:`DOCUMENT`."""
    row: dict[str, object] = dict.fromkeys(_NAMES[kind])
    if not _fill_row(_TREES[kind], document, row):
        row[DOCUMENT] = _encode(document)
    return row


def _fill_row(tree: FieldTree, document: Document, row: dict[str, object]) -> bool:
    """Whether the values put into the row reproduce the document."""
    complete = True
    for name, value in document.items():
        entry = tree.get(name)
        if isinstance(entry, FieldSpec):
            row[entry.name], same = _to_row_value(entry, value)
        elif entry is not None and isinstance(value, dict) and value:
            same = _fill_row(entry, value, row)
        else:
            same = False
        complete = complete and same
    return complete


def _to_row_value(field: FieldSpec, value: object) -> tuple[object, bool]:
    """The value of a column or a key, and whether it reproduces the original."""
    if value is None:
        return None, False
    type = field.type
    if type in _AS_JSON:
        text = _encode(value)
        return text, _is_plain(value, 3) or decode_json(text) == value
    if type is FieldType.TIME:
        moment = parse_utc(value)
        return moment, moment is not None and time_text(moment) == value
    if type is FieldType.TEXTS:
        fits = isinstance(value, list) and all(isinstance(item, str) for item in value)
    elif type in _PLAIN:
        fits = isinstance(value, _PLAIN[type]) and isinstance(value, bool) == (type is FieldType.FLAG)
    else:
        fits = isinstance(value, str)
    return (value if fits else None), fits


def _is_plain(value: object, levels: int) -> bool:
    """Whether it certainly survives JSON unchanged: most objects are small and plain."""
    if not isinstance(value, dict):
        return isinstance(value, _SCALAR)
    return levels > 0 and all(_is_plain(item, levels - 1) for item in value.values())


def unflatten(kind: ElementKind, row: Mapping[str, object]) -> Document:
    """The document that a row came from. Raises a ``ValueError`` if what should be JSON is not."""
    text = row.get(DOCUMENT)
    if text is not None:
        stated = decode_json(text) if isinstance(text, str) else None
        if not isinstance(stated, dict):
            raise ValueError(f"'{DOCUMENT}' is not a JSON object")
        return stated
    document: Document = {}
    for name, parts, leaf, inward in _PATHS[kind]:
        value = row.get(name)
        if value is not None:
            owner = document
            for step in parts:
                owner = owner.setdefault(step, {})
            owner[leaf] = value if inward is None else inward(value)
    return document


def parse_utc(value: object) -> datetime | None:
    return _moment(value) if isinstance(value, str) else None


# Very many elements of a file, or of a run, have the same few times.
@lru_cache(1024)
def _moment(text: str) -> datetime | None:
    return datetime.fromisoformat(text).astimezone(UTC) if is_utc(text) else None


@lru_cache(1024)
def time_text(moment: datetime) -> str:
    """A time as Headwater writes it: in UTC, with microseconds if there are any."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _object(value: object) -> object:
    return decode_json(value) if isinstance(value, str) else value


def _time(value: object) -> object:
    return time_text(value) if isinstance(value, datetime) else value


_INWARD: Mapping[FieldType, Callable[[object], object]] = {FieldType.TIME: _time, **dict.fromkeys(_AS_JSON, _object)}
_PATHS = {
    kind: [(field.name, field.path[:-1], field.path[-1], _INWARD.get(field.type)) for field in fields]
    for kind, fields in FIELDS.items()
}
"""Of each field: its column, its path in the document, and how its value is read."""
