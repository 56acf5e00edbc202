"""A lineage graph as one JSON document, written and read element by element: it is never completely in memory."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from typing import IO

from headwater.formats.wia.decoding import decode_json_at
from headwater.formats.wia.elements import LISTS, Document, Element, ElementKind

_CHUNK = 2**20
_MAX_CHARACTERS = 64 * 2**20
"""Of one element, or of one value beside the lists."""

_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False, ensure_ascii=False).encode
_BLANK = re.compile("[ \t\r\n\ufeff]+")
_KINDS = {name: kind for kind, name in LISTS.items()}


# -- writing --------------------------------------------------------------------------------------


def write(elements: Iterable[Element], out: IO[str]) -> None:
    """``elements``: the head first, then kind by kind as :data:`LISTS` has them."""
    stream = iter(elements)
    _, head = next(stream)
    early = {name: head[name] for name in ("graph_id", "version", "generated_at") if name in head}
    out.write(_encode(early)[:-1])
    by_kind = ((kind, group) for kind, group in groupby(stream, key=lambda element: element[0]))
    pending = next(by_kind, None)
    for kind, name in LISTS.items():
        out.write(f',\n"{name}":[' if early or kind is not ElementKind.NODE else f'"{name}":[')
        if pending is not None and pending[0] is kind:
            for number, (_, document) in enumerate(pending[1]):
                out.write((",\n" if number else "\n") + _encode(document))
            pending = next(by_kind, None)
        out.write("]")
    for name, value in head.items():
        if name not in early:
            out.write(f",\n{_encode(name)}:{_encode(value)}")
    out.write("}\n")


# -- reading --------------------------------------------------------------------------------------


def read(file: IO[str]) -> Iterator[Element]:
    """The elements in the order of the document; at the end the head, with everything that was in no list.

    Raises a ``ValueError`` that says where reading stopped.
    """
    text = _JsonCursor(file)
    head: Document = {}
    text.expect("{")
    for name in _members(text):
        kind = _KINDS.get(name)
        if kind is not None:
            yield from _list_elements(text, kind)
        else:
            head[name] = text.value()
            if name == "version":  # at once: a later major version may mean anything by what follows
                yield ElementKind.GRAPH, {"version": head[name]}
    if text.next() != "":
        raise text.fault("more follows after the graph")
    yield ElementKind.GRAPH, head


def _members(text: _JsonCursor) -> Iterator[str]:
    if text.next() == "}":
        text.skip()
        return
    while True:
        if text.next() != '"':
            raise text.fault("a name in quotes is expected")
        name = text.value()
        assert isinstance(name, str)
        text.expect(":")
        yield name
        if text.next() == "}":
            text.skip()
            return
        text.expect(",")


def _list_elements(text: _JsonCursor, kind: ElementKind) -> Iterator[Element]:
    text.expect("[")
    if text.next() == "]":
        text.skip()
        return
    while True:
        document = text.value()
        if not isinstance(document, dict):
            raise text.fault(f"{LISTS[kind]} are objects")
        yield kind, document
        if text.next() == "]":
            text.skip()
            return
        text.expect(",")


class _JsonCursor:
    """A position in a long text, of which only the part ahead is in memory."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self._buffer = ""
        self._at = 0
        self._passed = 0
        self._ended = False

    def next(self) -> str:
        """The next character that is not white space, empty at the end; the position stays."""
        while True:
            blank = _BLANK.match(self._buffer, self._at)
            self._at = blank.end() if blank is not None else self._at
            if self._at < len(self._buffer):
                return self._buffer[self._at]
            if not self._more():
                return ""

    def skip(self) -> None:
        self._at += 1

    def expect(self, character: str) -> None:
        next_character = self.next()
        if next_character != character:
            raise self.fault(f"'{character}' is expected" if next_character else "the file is truncated")
        self._at += 1

    def value(self) -> object:
        if self.next() == "":
            raise self.fault("the file is truncated")
        while True:
            try:
                value, end = decode_json_at(self._buffer, self._at)
                # Only a number may continue beyond the text that was read.
                if end < len(self._buffer) or self._ended:
                    self._at = end
                    return value
            except json.JSONDecodeError as error:
                if self._ended:
                    raise self.fault(f"the file is truncated, or not JSON ({error.msg})") from None
                # More text cannot repair a fault far from the end.
                if error.pos < len(self._buffer) - 1000 and not error.msg.startswith("Unterminated string"):
                    raise self.fault(f"not JSON ({error.msg})") from None
            except ValueError as error:
                raise self.fault(str(error)) from None
            if len(self._buffer) - self._at > _MAX_CHARACTERS:
                raise self.fault(f"a value of more than {_MAX_CHARACTERS:,} characters")
            self._more()

    def _more(self) -> bool:
        ahead = self._buffer[self._at :]
        # Twice as much each time: an element that is longer than the buffer is parsed again after each read.
        read = self._file.read(max(_CHUNK, len(ahead)))
        self._passed += self._at
        self._buffer, self._at = ahead + read, 0
        self._ended = self._ended or not read
        return bool(read)

    def fault(self, reason: str) -> ValueError:
        return ValueError(f"{reason} at character {self._passed + self._at + 1:,}")


def graph_document(elements: Iterable[Element]) -> Document:
    """A small graph as one document."""
    graph: Document = {}
    for kind, document in chain(elements):
        if kind is ElementKind.GRAPH:
            graph |= document
        else:
            graph.setdefault(LISTS[kind], []).append(document)
    return graph
