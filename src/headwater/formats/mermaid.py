"""Mermaid: a graph as text that a README shows as a picture. Names are data, and are escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import IO

from headwater.formats.wia.elements import Element, ElementKind

_SHAPES = {
    "view": ("[[", "]]"),
    "report": ("[/", "/]"),
    "model": ("{{", "}}"),
    "file": ("[", "]"),
    "stream": (">", "]"),
    "column": ("(", ")"),
}
_TABLE = ("[(", ")]")
_MARKS = re.compile(r"[^\w \-./:@,()+=]|[\\]")


def write(elements: Iterable[Element], out: IO[str]) -> None:
    """``elements``: nodes before edges; one arrow for each pair of nodes."""
    numbers: dict[str, int] = {}
    drawn: set[tuple[int, int]] = set()
    out.write("flowchart LR\n")
    for kind, document in elements:
        if kind is ElementKind.NODE:
            number = numbers[document["node_id"]] = len(numbers)
            opening, closing = _SHAPES.get(document["node_type"], _TABLE)
            out.write(f'  n{number}{opening}"{label(document["name"])}"{closing}\n')
        elif kind is ElementKind.EDGE:
            pair = numbers[document["source_node_id"]], numbers[document["target_node_id"]]
            if pair not in drawn:
                drawn.add(pair)
                words = document["edge_type"].replace("_", " ")
                out.write(f"  n{pair[0]} -->|{words}| n{pair[1]}\n")


def label(text: str) -> str:
    """Escape every character that Mermaid or HTML could interpret. A character code is shown as the character."""
    return _MARKS.sub(lambda match: f"#{ord(match[0])};" if match[0].isprintable() else "#65533;", text)
