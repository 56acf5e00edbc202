"""What a cast from one Spark type to another may lose. Types are in Spark's own notation: `decimal(10,2)`,
`array<struct<a:int>>`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

_DIGITS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 19}
"""The number of decimal digits of the largest value."""
_WHOLE = tuple(_DIGITS)
_EXACT_BITS = {"float": 24, "double": 53}
_BITS = {"tinyint": 7, "smallint": 15, "int": 31, "bigint": 63}
_FLOATING = tuple(_EXACT_BITS)
_MOMENTS = ("timestamp", "timestamp_ntz")
_DECIMAL = re.compile(r"decimal\((\d+),(-?\d+)\)")
_TEXT = re.compile(r"string( collate \S+)?|(var)?char\(\d+\)")


class CastEffect(StrEnum):
    """What a cast does to values."""

    SAME = "same"
    WIDENING = "widening"
    """Every value has an equal in the new type."""
    NARROWING = "narrowing"
    """Some values are too large for the new type."""
    PRECISION = "precision"
    """Digits are rounded."""
    PARSING = "parsing"
    """Text that may not be a value of the type."""
    TRUNCATING = "truncating"
    """A part of the value is cut off, such as the time of a day."""
    RENDERING = "rendering"
    """A value as text."""
    UNKNOWN = "unknown"


LOSSY = (CastEffect.NARROWING, CastEffect.PRECISION, CastEffect.PARSING, CastEffect.TRUNCATING)


def is_lossy(effect: CastEffect) -> bool | None:
    """None if unknown."""
    return None if effect is CastEffect.UNKNOWN else effect in LOSSY


def cast_effect(source: str, target: str) -> CastEffect:
    if source == target:
        return CastEffect.SAME
    if source == "void":
        return CastEffect.WIDENING
    nested = _nested(source, target)
    if nested is not None:
        return nested
    if _TEXT.fullmatch(target):
        return _to_text(source, target)
    if _TEXT.fullmatch(source):
        return CastEffect.WIDENING if target == "binary" else CastEffect.PARSING
    if _is_number(source) and _is_number(target):
        return _number(source, target)
    if source == "boolean":
        return CastEffect.WIDENING if _is_number(target) else CastEffect.UNKNOWN
    if target == "boolean":
        return CastEffect.TRUNCATING if _is_number(source) else CastEffect.UNKNOWN
    return _moment(source, target)


def _to_text(source: str, target: str) -> CastEffect:
    if target.startswith(("char", "varchar")):
        return CastEffect.TRUNCATING
    if _TEXT.fullmatch(source):
        return CastEffect.WIDENING
    return CastEffect.PARSING if source == "binary" else CastEffect.RENDERING


def _is_number(type: str) -> bool:
    return type in _WHOLE or type in _FLOATING or _DECIMAL.fullmatch(type) is not None


def _number(source: str, target: str) -> CastEffect:
    digits, scale = _places(source)
    room, target_scale = _places(target)
    if source in _FLOATING:
        if target in _FLOATING:
            return CastEffect.WIDENING if target == "double" else CastEffect.PRECISION
        return CastEffect.TRUNCATING if target in _WHOLE else CastEffect.PRECISION
    if target in _FLOATING:
        exact = source in _WHOLE and _BITS[source] <= _EXACT_BITS[target]
        return CastEffect.WIDENING if exact else CastEffect.PRECISION
    if target_scale < scale:
        return CastEffect.TRUNCATING if target in _WHOLE else CastEffect.PRECISION
    if source in _WHOLE and target in _WHOLE:
        return CastEffect.WIDENING if _BITS[source] <= _BITS[target] else CastEffect.NARROWING
    # As many digits as the largest whole number has do not mean that all numbers of so many digits fit into it.
    fits = room > digits if target in _WHOLE else room >= digits
    return CastEffect.WIDENING if fits else CastEffect.NARROWING


def _places(type: str) -> tuple[int, int]:
    """The number of digits before and after the decimal point."""
    match = _DECIMAL.fullmatch(type)
    if match is not None:
        precision, scale = int(match[1]), int(match[2])
        return precision - scale, scale
    return _DIGITS.get(type, 0), 0


def _moment(source: str, target: str) -> CastEffect:
    if source in _MOMENTS and target == "date":
        return CastEffect.TRUNCATING
    if source == "date" and target in _MOMENTS:
        return CastEffect.WIDENING
    if source in _MOMENTS and target in _MOMENTS:  # which moment a local time is depends on the zone, and back
        return CastEffect.TRUNCATING
    if source in _MOMENTS and _is_number(target):
        return CastEffect.TRUNCATING
    if _is_number(source) and target in _MOMENTS:
        return CastEffect.PRECISION if source in _FLOATING or _DECIMAL.fullmatch(source) else CastEffect.WIDENING
    return CastEffect.UNKNOWN


def _nested(source: str, target: str) -> CastEffect | None:
    """The worst effect on what is nested; None unless both types are arrays, maps or structs."""
    for kind in ("array", "map", "struct"):
        source_parts, target_parts = _inside(kind, source), _inside(kind, target)
        if source_parts is None and target_parts is None:
            continue
        if source_parts is None or target_parts is None:
            return CastEffect.RENDERING if _TEXT.fullmatch(target) else CastEffect.UNKNOWN
        if len(source_parts) != len(target_parts):
            return CastEffect.UNKNOWN
        return _worst([cast_effect(a, b) for a, b in zip(source_parts, target_parts, strict=True)])
    return None


def _worst(effects: Sequence[CastEffect]) -> CastEffect:
    order = (*LOSSY, CastEffect.UNKNOWN, CastEffect.RENDERING, CastEffect.WIDENING, CastEffect.SAME)
    return next((effect for effect in order if effect in effects), CastEffect.SAME)


def _inside(kind: str, type: str) -> list[str] | None:
    if not (type.startswith(f"{kind}<") and type.endswith(">")):
        return None
    parts, depth, start, text = [], 0, 0, type[len(kind) + 1 : -1]
    for position, letter in enumerate(text):
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    parts.append(text[start:])
    return [part.partition(":")[2] for part in parts] if kind == "struct" else parts
