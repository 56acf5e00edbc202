"""Building blocks of renderings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from headwater.cli.render.layout import Indented
from headwater.cli.text import count_of, printable
from headwater.model.lineage import Dependency
from headwater.model.runs import RunState

_STATE_STYLES = {
    RunState.COMPLETE: "green",
    RunState.FAIL: "bold red",
    RunState.ABORT: "yellow",
    RunState.RUNNING: "cyan",
    RunState.START: "cyan",
}
_DEPENDENCY_STYLES = {Dependency.DIRECT: "green", Dependency.INDIRECT: "yellow", Dependency.UNKNOWN: "magenta"}


def data(value: object, style: str = "") -> Text:
    """Text from the store, such as a name, escaped."""
    return Text(printable(str(value)), style=style, overflow="fold")


def state(value: RunState) -> Text:
    return Text(value.value, style=_STATE_STYLES.get(value, ""), no_wrap=True)


def dependency(value: Dependency) -> Text:
    """The dependency as a word, because a colour is lost in a pipe."""
    return Text(value.value.lower(), style=_DEPENDENCY_STYLES[value])


def join(pieces: Iterable[Text | str], separator: str = ", ", style: str = "") -> Text:
    text = Text(overflow="fold")
    for position, piece in enumerate(pieces):
        if position:
            text.append(separator, style)
        if isinstance(piece, Text):
            text.append_text(piece)
        else:
            text.append(piece, style)
    return text


def title(text: str) -> Text:
    return Text(text, style="bold")


def note(text: str) -> Text:
    return Text(text, style="dim")


def properties(rows: Iterable[tuple[str | Text, Text | None]]) -> Table:
    """Lines of a name and a value; those without a value are omitted."""
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in rows:
        if value is not None:
            grid.add_row(name, value)
    return grid


def section(heading: str | Text, *body: RenderableType) -> Group:
    return Group(Text(), title(heading) if isinstance(heading, str) else heading, *map(Indented, body))


def at_limit(rows: Sequence[object], limit: int) -> list[Text]:
    """A note if the list may continue."""
    if len(rows) < limit:
        return []
    return [Text(), note(f"Stopped at {count_of(limit, 'row')}; --limit gives more.")]
