"""The differences between two runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.console import Group, RenderableType
from rich.text import Text

from headwater.cli.render.layout import SideBySide
from headwater.cli.render.parts import data, join, note, properties, section, state, title
from headwater.cli.text import elide, moment
from headwater.model.answers import Change, RunDiff
from headwater.model.runs import Run

_STYLES = {"added": "green", "removed": "red", "changed": "yellow"}


def run_diff(answer: RunDiff) -> RenderableType:
    parts: list[RenderableType] = [_run("A", answer.run_a), _run("B", answer.run_b)]
    for heading, changes in (
        ("Inputs", answer.inputs),
        ("Outputs", answer.outputs),
        ("Schemas", answer.schema),
        ("Column lineage", answer.column_edges),
    ):
        if changes:
            parts.append(section(heading, properties([_change(change) for change in changes])))
    if answer.same:
        parts += [Text(), Text("No differences: same inputs, outputs, schemas and column lineage.")]
    return Group(*parts)


def _run(name: str, run: Run) -> SideBySide:
    ended = f"{moment(run.ended_at or run.last_event_at)} UTC"
    named = join([title(name), data(run.run_id)], "  ")
    return SideBySide(named, join([data(run.job, "cyan"), state(run.state), ended], "  "), indent=3)


def _change(change: Change) -> tuple[Text, Text]:
    kind = "added" if change.before is None else "removed" if change.after is None else "changed"
    if kind == "changed":
        sides = [join(["\n", note(side), "  ", _value(value)], "") for side, value in _sides(change)]
    else:
        sides = [join(["  ", _value(value)], "") for _, value in _sides(change) if value is not None]
    return Text(kind, style=_STYLES[kind]), join([data(change.name), *sides], "")


def _sides(change: Change) -> tuple[tuple[str, object], tuple[str, object]]:
    return ("A", change.before), ("B", change.after)


def _value(value: object) -> Text:
    return join([data(elide(word, 400), "dim") for word in _words(value)], "; ", style="dim")


def _words(value: object) -> Iterator[str]:
    """Describe the value of a change: partitions and version of a use, dependency of a column edge."""
    if isinstance(value, Mapping) and "partitions" in value:
        yield from [str(name) for name in value["partitions"]] or ["the whole dataset"]
        if value.get("version") is not None:
            yield f"version {value['version']}"
    elif isinstance(value, Mapping):
        how = (str(value.get("dependency", "")).lower(), value.get("subtype"), value.get("masking") and "masked")
        yield ", ".join(str(word) for word in (*how, value.get("logic")) if word)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _words(item)
    else:
        yield str(value)
