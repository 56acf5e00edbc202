"""What a cast from one type of Spark to another may lose. Types are in Spark's own words: `decimal(10,2)`,
`array<struct<a:int>>`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

_DIGITS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 19}
"""How many decimal digits the largest value has."""
_WHOLE = tuple(_DIGITS)
_EXACT_BITS = {"float": 24, "double": 53}
_BITS = {"tinyint": 7, "smallint": 15, "int": 31, "bigint": 63}
_FLOATING = tuple(_EXACT_BITS)
_MOMENTS = ("timestamp", "timestamp_ntz")
_DECIMAL = re.compile(r"decimal\((\d+),(-?\d+)\)")
_TEXT = re.compile(r"string( collate \S+)?|(var)?char\(\d+\)")


class Change(StrEnum):
    """What a cast does to values."""

    SAME = "same"
    WIDENING = "widening"
    """Every value has its equal in the new type."""
    NARROWING = "narrowing"
    """Some values are too large for it."""
    PRECISION = "precision"
    """Digits are rounded away."""
    PARSING = "parsing"
    """Text that may mean no value of the type."""
    TRUNCATING = "truncating"
    """A part of the value is cut off, as the time of a day."""
    RENDERING = "rendering"
    """A value as text."""
    UNKNOWN = "unknown"


LOSSY = (Change.NARROWING, Change.PRECISION, Change.PARSING, Change.TRUNCATING)


def is_lossy(change: Change) -> bool | None:
    """None where nobody knows."""
    return None if change is Change.UNKNOWN else change in LOSSY


def change_of(source: str, target: str) -> Change:
    if source == target:
        return Change.SAME
    if source == "void":
        return Change.WIDENING
    nested = _nested(source, target)
    if nested is not None:
        return nested
    if _TEXT.fullmatch(target):
        return _to_text(source, target)
    if _TEXT.fullmatch(source):
        return Change.WIDENING if target == "binary" else Change.PARSING
    if _is_number(source) and _is_number(target):
        return _number(source, target)
    if source == "boolean":
        return Change.WIDENING if _is_number(target) else Change.UNKNOWN
    if target == "boolean":
        return Change.TRUNCATING if _is_number(source) else Change.UNKNOWN
    return _moment(source, target)


def _to_text(source: str, target: str) -> Change:
    if target.startswith(("char", "varchar")):
        return Change.TRUNCATING
    if _TEXT.fullmatch(source):
        return Change.WIDENING
    return Change.PARSING if source == "binary" else Change.RENDERING


def _is_number(type: str) -> bool:
    return type in _WHOLE or type in _FLOATING or _DECIMAL.fullmatch(type) is not None


def _number(source: str, target: str) -> Change:
    whole, scale = _places(source)
    room, places = _places(target)
    if source in _FLOATING:
        if target in _FLOATING:
            return Change.WIDENING if target == "double" else Change.PRECISION
        return Change.TRUNCATING if target in _WHOLE else Change.PRECISION
    if target in _FLOATING:
        exact = source in _WHOLE and _BITS[source] <= _EXACT_BITS[target]
        return Change.WIDENING if exact else Change.PRECISION
    if places < scale:
        return Change.TRUNCATING if target in _WHOLE else Change.PRECISION
    if source in _WHOLE and target in _WHOLE:
        return Change.WIDENING if _BITS[source] <= _BITS[target] else Change.NARROWING
    # As many digits as the largest whole number has do not mean that all numbers of so many digits fit into it.
    fits = room > whole if target in _WHOLE else room >= whole
    return Change.WIDENING if fits else Change.NARROWING


def _places(type: str) -> tuple[int, int]:
    """Digits before the point and behind it."""
    found = _DECIMAL.fullmatch(type)
    if found is not None:
        precision, scale = int(found[1]), int(found[2])
        return precision - scale, scale
    return _DIGITS.get(type, 0), 0


def _moment(source: str, target: str) -> Change:
    if source in _MOMENTS and target == "date":
        return Change.TRUNCATING
    if source == "date" and target in _MOMENTS:
        return Change.WIDENING
    if source in _MOMENTS and target in _MOMENTS:  # which moment a local time is depends on the zone, and back
        return Change.TRUNCATING
    if source in _MOMENTS and _is_number(target):
        return Change.TRUNCATING
    if _is_number(source) and target in _MOMENTS:
        return Change.PRECISION if source in _FLOATING or _DECIMAL.fullmatch(source) else Change.WIDENING
    return Change.UNKNOWN


def _nested(source: str, target: str) -> Change | None:
    """The worst of what happens within; None if the types are not both arrays, maps or structs."""
    for kind in ("array", "map", "struct"):
        one, other = _inside(kind, source), _inside(kind, target)
        if one is None and other is None:
            continue
        if one is None or other is None:
            return Change.RENDERING if _TEXT.fullmatch(target) else Change.UNKNOWN
        if len(one) != len(other):
            return Change.UNKNOWN
        return _worst([change_of(a, b) for a, b in zip(one, other, strict=True)])
    return None


def _worst(changes: Sequence[Change]) -> Change:
    order = (*LOSSY, Change.UNKNOWN, Change.RENDERING, Change.WIDENING, Change.SAME)
    return next((each for each in order if each in changes), Change.SAME)


def _inside(kind: str, type: str) -> list[str] | None:
    if not (type.startswith(f"{kind}<") and type.endswith(">")):
        return None
    parts, depth, begun, text = [], 0, 0, type[len(kind) + 1 : -1]
    for at, letter in enumerate(text):
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and depth == 0:
            parts.append(text[begun:at])
            begun = at + 1
    parts.append(text[begun:])
    return [part.partition(":")[2] for part in parts] if kind == "struct" else parts
