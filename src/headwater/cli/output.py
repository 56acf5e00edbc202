"""Prints answers on stdout: JSON with --json, otherwise text."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from headwater.client import Lineage

Answer = TypeVar("Answer")

_PIPE_WIDTH = 1_000_000
"""The width of a pipe or a file, so that no name is wrapped."""


def open_store(url: str, *, create: bool = False) -> Lineage:
    """Open the store at ``url``. Only commands that write may create it: a mistyped URL must not create a store."""
    from headwater import connect

    return connect(url, create=create)


def show(answer: Answer, as_json: bool, render: Callable[[Answer], RenderableType]) -> None:
    if as_json:
        from headwater.model.plain import plain

        print_json(plain(answer))
    else:
        print_text(render(answer))


def print_json(value: object) -> None:
    """Print one JSON document in ASCII, so that any name survives any terminal, locale and pipe."""
    sys.stdout.write(json.dumps(value, indent=2, allow_nan=False) + "\n")


def print_text(*parts: RenderableType, whole_lines: bool = False) -> None:
    """Print text. A pipe or file gets neither wrapping nor Rich's trailing blanks.

    ``whole_lines`` lets the terminal wrap long lines, so that a copied line stays one line.
    """
    out = console()
    if sys.stdout.isatty():
        out.print(*parts, sep="\n", soft_wrap=whole_lines)
        return
    with out.capture() as capture:
        out.print(*parts, sep="\n")
    sys.stdout.writelines(line.rstrip(" ") + "\n" for line in capture.get().removesuffix("\n").split("\n"))


def console(*, stderr: bool = False) -> Console:
    """Return a Rich console without markup, emoji codes and highlighting: names are printed as they are."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _PIPE_WIDTH
    return Console(file=stream, width=width, markup=False, emoji=False, highlight=False)
