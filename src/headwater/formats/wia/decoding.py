"""JSON from untrusted files: bounded in depth, with every fault raised as a ``ValueError``."""

from __future__ import annotations

import json

from headwater.formats.openlineage.event import is_deeper, refuse_constant

MAX_DEPTH = 100


_DECODER = json.JSONDecoder(parse_constant=refuse_constant)


def decode_json(text: str) -> object:
    """The one value in ``text``."""
    value, end = decode_json_at(text, 0)
    if text[end:].strip():
        raise ValueError(f"more follows at character {end}")
    return value


def decode_json_at(text: str, start: int) -> tuple[object, int]:
    """The value that starts at ``start``, and its end."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except RecursionError:
        raise ValueError(f"nested more than {MAX_DEPTH} levels deep") from None
    if _brackets(text, start, end) > MAX_DEPTH and is_deeper(value, MAX_DEPTH):
        raise ValueError(f"nested more than {MAX_DEPTH} levels deep")
    return value, end


def _brackets(text: str, start: int, end: int) -> int:
    """An upper bound of the depth; counting is quicker than descending."""
    return text.count("{", start, end) + text.count("[", start, end)
