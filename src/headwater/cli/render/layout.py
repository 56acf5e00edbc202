"""Layouts that adapt to the width of the terminal.

Names are long and must not be wrapped, so each layout has a wide and a narrow form.
"""

from __future__ import annotations

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

_MAX_TABLE_WIDTH = 400
"""Beyond this width, which one very long name reaches, a table is mostly blanks, even without a terminal."""


def table(*headings: str) -> Table:
    """Columns side by side without lines; what does not fit is folded, never cut."""
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for heading in headings:
        grid.add_column(heading, overflow="fold")
    return grid


class ResponsiveTable:
    """A table if it fits; otherwise a block per row: the ``lead`` cell, and the others below it with their headings."""

    def __init__(self, *headings: str, lead: int = 0) -> None:
        self._headings = headings
        self._lead = lead
        self._rows: list[tuple[Text, ...]] = []

    def add(self, *cells: Text) -> None:
        self._rows.append(cells)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        wide = table(*self._headings)
        for cells in self._rows:
            wide.add_row(*cells)
        natural = Measurement.get(console, options.update(width=_MAX_TABLE_WIDTH + 1), wide).maximum
        if natural <= min(options.max_width, _MAX_TABLE_WIDTH):
            yield wide
            return
        for cells in self._rows:
            yield cells[self._lead]
            others = [
                Text.assemble((f"{heading[:1].lower()}{heading[1:]} ", "dim"), cell)
                for position, (heading, cell) in enumerate(zip(self._headings, cells, strict=True))
                if position != self._lead and cell.plain
            ]
            if others:
                yield Indented(Text(", ").join(others), 4)


class SideBySide:
    """``second`` beside ``first``, or below it and indented if both do not fit in a line."""

    def __init__(self, first: Text, second: Text, *, between: str = "  ", indent: int = 0) -> None:
        self._first = first
        self._second = second
        self._between = between
        self._indent = indent

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if not self._first.plain or not self._second.plain:
            yield self._first if self._first.plain else self._second
            return
        line = Text.assemble(self._first, self._between, self._second)
        if line.cell_len <= options.max_width:
            yield line
            return
        yield self._first
        yield Indented(self._second, self._indent)


class Indented:
    """Indents its body. Rich's own padding would fill every line to the width, which is huge in a pipe."""

    def __init__(self, body: RenderableType, by: int = 2) -> None:
        self._body = body
        self._by = by

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        narrower = options.update(width=max(options.max_width - self._by, 1))
        for line in console.render_lines(self._body, narrower, pad=False):
            yield Segment(" " * self._by)
            yield from line
            yield Segment.line()
