"""Impact: every asset that a change affects, with its owner."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from headwater.cli.render.layout import Indented
from headwater.cli.render.parts import data, dependency, join, properties, section, state
from headwater.cli.text import count_of, moment
from headwater.model.answers import Affected, Impact, TouchedColumn


def impact_report(answer: Impact) -> RenderableType:
    start = str(answer.endpoint) if answer.column is None else f"{answer.endpoint}#{answer.column}"
    parts: list[RenderableType] = [join(["A change of ", data(start, "bold"), f" reaches{_reaches(answer)}"], "")]
    for affected in answer.affected:
        parts += [Text(), _asset(affected)]
    if answer.readers:
        parts.append(section("Also read by jobs without outputs", *(data(job) for job in answer.readers)))
    if answer.truncated:
        parts += [Text(), Text(f"Cut at depth {answer.max_depth}: there is more.", style="yellow")]
    return Group(*parts)


def _reaches(answer: Impact) -> str:
    as_of = f", as of {moment(answer.as_of)} UTC" if answer.as_of is not None else ""
    if not answer.affected:
        return f" no other asset{as_of}."
    return f" {count_of(len(answer.affected), 'asset')}{as_of}:"


def _asset(affected: Affected) -> RenderableType:
    head = join([data(affected.endpoint, "cyan"), Text(f"  {count_of(affected.depth, 'hop')} away", style="dim")], "")
    latest = affected.latest_run
    rows = properties(
        [
            ("columns", join([_column(column) for column in affected.columns]) if affected.columns else None),
            ("owner", data(affected.owner) if affected.owner is not None else None),
            ("jobs", join([data(job) for job in affected.jobs]) if affected.jobs else None),
            (
                "latest run",
                join([state(latest.state), f"{moment(latest.last_event_at)} UTC", data(latest.run_id)], "  ")
                if latest is not None
                else None,
            ),
            ("path", join([data(step) for step in affected.path], " → ")),
        ]
    )
    return Group(head, Indented(rows))


def _column(column: TouchedColumn) -> Text:
    name = data(column.name) if column.name is not None else Text("every column")
    return join([name, " (", dependency(column.dependency), ")"], "")
