"""A JSON array of events, read one by one: each keeps its original bytes, and a refused event does not affect the
others."""

from __future__ import annotations

import json
import re

from headwater.errors import EventRefused
from headwater.formats.openlineage.event import Event, read_event

_SPACE = re.compile(r"[ \t\n\r]*")
_NOT_A_LIST = "a JSON array of events is needed"


def read_events(body: bytes) -> list[Event | EventRefused]:
    """The events of the array, with refusals in place of those that cannot be accepted. Otherwise
    :class:`EventRefused`."""
    try:
        text = body.decode("utf-8-sig")
        return [_read(piece) for piece in _pieces(text)]
    except UnicodeDecodeError as error:
        raise EventRefused("$", f"not UTF-8 ({error.reason} at byte {error.start})") from None
    except RecursionError:
        raise EventRefused("$", "nested too deeply to read") from None
    except ValueError as error:
        raise EventRefused("$", f"not JSON ({error})") from None


def _read(text: str) -> Event | EventRefused:
    try:
        return read_event(text)
    except EventRefused as refusal:
        return refusal


def _pieces(text: str) -> list[str]:
    """The texts of the elements. The array has to be complete: nothing is read from a truncated one."""
    decode = json.JSONDecoder().raw_decode
    position = _past_space(text, 0)
    if text[position : position + 1] != "[":
        raise EventRefused("$", _NOT_A_LIST)
    pieces: list[str] = []
    position = _past_space(text, position + 1)
    separator = "]" if text[position : position + 1] == "]" else ","
    while separator == ",":
        _, end = decode(text, position)
        pieces.append(text[position:end])
        position = _past_space(text, end)
        separator = text[position : position + 1]
        if separator not in (",", "]"):
            raise json.JSONDecodeError("Expecting ',' delimiter", text, position)
        position = _past_space(text, position + 1) if separator == "," else position
    position = _past_space(text, position + 1)
    if position != len(text):
        raise json.JSONDecodeError("Extra data", text, position)
    return pieces


def _past_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    assert match is not None
    return match.end()
