"""A JSON array of events, read one by one: each keeps the bytes it came in, and one that is refused costs no other."""

from __future__ import annotations

import json
import re

from headwater.errors import EventRefused
from headwater.formats.openlineage.event import Event, read_event

_SPACE = re.compile(r"[ \t\n\r]*")
_NOT_A_LIST = "a JSON array of events is needed"


def read_events(body: bytes) -> list[Event | EventRefused]:
    """The events of the array, refusals in the place of those that cannot be taken. Else :class:`EventRefused`."""
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
    """The texts of the elements. The array has to be whole: nothing is taken from one that breaks off."""
    decode = json.JSONDecoder().raw_decode
    at = _past_space(text, 0)
    if text[at : at + 1] != "[":
        raise EventRefused("$", _NOT_A_LIST)
    pieces: list[str] = []
    at = _past_space(text, at + 1)
    mark = "]" if text[at : at + 1] == "]" else ","
    while mark == ",":
        _, end = decode(text, at)
        pieces.append(text[at:end])
        at = _past_space(text, end)
        mark = text[at : at + 1]
        if mark not in (",", "]"):
            raise json.JSONDecodeError("Expecting ',' delimiter", text, at)
        at = _past_space(text, at + 1) if mark == "," else at
    at = _past_space(text, at + 1)
    if at != len(text):
        raise json.JSONDecodeError("Extra data", text, at)
    return pieces


def _past_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None
    return found.end()
