"""A lineage graph as JSON lines, the head first: each line a complete `{"event": KIND, "data": DOCUMENT}`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import IO

from headwater.formats.wia.decoding import decode_json
from headwater.formats.wia.elements import Element, ElementKind

_MAX_CHARACTERS = 64 * 2**20
_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False, ensure_ascii=False).encode


def write(elements: Iterable[Element], out: IO[str]) -> None:
    for kind, document in elements:
        out.write(f'{{"event":"{kind}","data":{_encode(document)}}}\n')


def read(file: IO[str]) -> Iterator[Element]:
    """Raises a ``ValueError`` that names the line."""
    for number, line in numbered_lines(file):
        try:
            statement = decode_json(line)
        except ValueError as error:
            raise ValueError(f"line {number:,} is not JSON ({error})") from None
        yield _element(number, statement)


def numbered_lines(file: IO[str]) -> Iterator[tuple[int, str]]:
    """The lines that are not blank; a line without an end is refused before it fills the memory."""
    number = 0
    while line := file.readline(_MAX_CHARACTERS + 1):
        number += 1
        if len(line) > _MAX_CHARACTERS:
            raise ValueError(f"line {number:,} has more than {_MAX_CHARACTERS:,} characters")
        if line.strip("\ufeff \t\r\n"):
            yield number, line.rstrip("\r\n")


def _element(number: int, statement: object) -> Element:
    if not isinstance(statement, dict) or not isinstance(statement.get("data"), dict):
        raise ValueError(f'line {number:,} is not {{"event": …, "data": {{…}}}}')
    event = statement.get("event")
    if event not in set(ElementKind):
        raise ValueError(f"line {number:,} has the event '{event}', which is not one of {', '.join(ElementKind)}")
    return ElementKind(event), statement["data"]
