"""JSON from files that anybody may have made: bounded in depth, with every fault told as a ``ValueError``."""

from __future__ import annotations

import json
from typing import Any

from headwater.formats.openlineage.event import is_deeper, refuse_constant

DEEPEST = 100


_DECODER = json.JSONDecoder(parse_constant=refuse_constant)


def decoded(text: str) -> Any:
    """The one value that ``text`` is."""
    value, end = decoded_at(text, 0)
    if text[end:].strip():
        raise ValueError(f"more follows at character {end}")
    return value


def decoded_at(text: str, start: int) -> tuple[Any, int]:
    """The value that begins at ``start``, and where it ends."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except RecursionError:
        raise ValueError(f"nested more than {DEEPEST} levels deep") from None
    if _brackets(text, start, end) > DEEPEST and is_deeper(value, DEEPEST):
        raise ValueError(f"nested more than {DEEPEST} levels deep")
    return value, end


def _brackets(text: str, start: int, end: int) -> int:
    """No value is deeper than that; counting them is quicker than going down."""
    return text.count("{", start, end) + text.count("[", start, end)
