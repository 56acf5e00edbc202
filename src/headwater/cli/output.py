"""Where answers go: JSON for a program, text for a person. Both on stdout, never both at once."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from headwater.client import Lineage

Answer = TypeVar("Answer")

_PIPE_WIDTH = 1_000_000
"""The width of whatever is not a terminal: a pipe or a file gets every name in one piece."""


def open_store(url: str, *, create: bool = False) -> Lineage:
    """The store at ``url``. Only commands that write may create it: a mistyped address must not become a store."""
    from headwater import connect

    return connect(url, create=create)


def show(answer: Answer, as_json: bool, render: Callable[[Answer], RenderableType]) -> None:
    if as_json:
        from headwater.model.plain import plain

        print_json(plain(answer))
    else:
        print_text(render(answer))


def print_json(value: Any) -> None:
    """ASCII, so that any name survives any terminal, locale and pipe; one document, never wrapped or coloured."""
    sys.stdout.write(json.dumps(value, indent=2, allow_nan=False) + "\n")


def print_text(*parts: RenderableType, whole_lines: bool = False) -> None:
    """For a person. What is not a terminal gets neither wrapping nor the blanks Rich fills lines up with.

    ``whole_lines`` leaves long ones to the terminal, so that what is copied from it is one line.
    """
    out = console()
    if sys.stdout.isatty():
        out.print(*parts, sep="\n", soft_wrap=whole_lines)
        return
    with out.capture() as capture:
        out.print(*parts, sep="\n")
    sys.stdout.writelines(line.rstrip(" ") + "\n" for line in capture.get().removesuffix("\n").split("\n"))


def console(*, stderr: bool = False) -> Console:
    """Rich without its markup, emoji codes and highlighting: names are data, and are shown as they are."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _PIPE_WIDTH
    return Console(file=stream, width=width, markup=False, emoji=False, highlight=False)
