"""The report of a run: its file and its findings."""

from __future__ import annotations

from typing import TypedDict

from rich.console import Group, RenderableType
from rich.text import Text

from headwater.cli.render.layout import Indented
from headwater.cli.render.parts import data, join


class WrittenReport(TypedDict):
    file: str
    holds: bool
    concerns: list[str]


def report_text(answer: WrittenReport) -> RenderableType:
    lines: list[RenderableType] = [join(["Report written to ", data(answer["file"]), "."], "")]
    if answer["concerns"]:
        style = "yellow" if answer["holds"] else "bold red"
        lines.append(Text("Findings:", style=style))
        lines += [Indented(data(concern)) for concern in answer["concerns"]]
    return Group(*lines)
