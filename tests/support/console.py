"""Pages with commands and their output, compared with the real output."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Block:
    """A fenced block of a page, with the text before it."""

    language: str
    before: str
    text: str

    def commands(self) -> list[tuple[str, str]]:
        """For a `console` block: each command with its output."""
        found = re.split(r"^\$ (.*)\n", self.text, flags=re.MULTILINE)[1:]
        return list(zip(found[::2], found[1::2], strict=True))


_FENCE = re.compile(r"^```(\w*)\n((?s:.*?))^```$", re.MULTILINE)


def blocks(page: str) -> Iterator[Block]:
    last = 0
    for found in _FENCE.finditer(page):
        yield Block(found[1], page[last : found.start()], found[2])
        last = found.end()


def prose(page: str) -> str:
    """The page without its blocks."""
    return _FENCE.sub("", page)


def agrees(shown: str, answered: str) -> bool:
    """Whether the output matches; `...` matches anything within a line, or any number of lines."""
    pattern = "".join(
        "(?:.*\n)*" if line == "..." else ".*".join(map(re.escape, line.split("..."))) + "\n"
        for line in shown.splitlines()
    )
    return re.fullmatch(pattern, answered) is not None
