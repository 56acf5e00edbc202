"""The answer to why-not, for a terminal and for a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType

    from headwater.rows.why_not import Culprit, WhyNot


_HIDDEN_KINDS = frozenset({"project", "sort", "other"})
"""Operators that let every row through: the tables leave them out."""


def why_not_text(answer: WhyNot) -> RenderableType:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    parts: list[RenderableType] = [
        Text(f"{answer.source} where {answer.where}", style="bold"),
        Text(answer.verdict, style="green" if answer.reached else "red"),
    ]
    parts += [
        Text(f"Had that let it through, {entry.text}: {entry.explanation}.") for entry in _further_culprits(answer)
    ]
    steps = Table(box=None, pad_edge=False)
    steps.add_column("operator", overflow="fold")
    steps.add_column("rows left", justify="right")
    for entry in answer.survivors:
        if entry.kind in _HIDDEN_KINDS:
            continue
        style = "red" if entry.rows == 0 else ""
        steps.add_row(Text(entry.text or entry.operator, style=style), Text(_count_text(entry.rows), style=style))
    parts.append(steps)
    parts += [Text(f"Note: {note}") for note in answer.notes]
    return Group(*parts)


def why_not_html(answer: WhyNot) -> str:
    reasons = "".join(
        f"<li><code>{escape(entry.text)}</code>: {escape(entry.explanation)}</li>" for entry in answer.culprits
    )
    steps = "".join(
        f"<tr><td><code>{escape(entry.text or entry.operator)}</code></td><td>{_count_text(entry.rows)}</td></tr>"
        for entry in answer.survivors
        if entry.kind not in _HIDDEN_KINDS
    )
    notes = "".join(f"<p>Note: {escape(note)}</p>" for note in answer.notes)
    return (
        f"<div><p><b>{escape(answer.source)}</b> where <code>{escape(answer.where)}</code></p>"
        f"<p>{escape(answer.verdict)}</p>"
        + (f"<ol>{reasons}</ol>" if reasons else "")
        + f"<table><tr><th>operator</th><th>rows left</th></tr>{steps}</table>{notes}</div>"
    )


def _further_culprits(answer: WhyNot) -> list[Culprit]:
    """All but the first of each occurrence, which the verdict names."""
    previous = [None, *(culprit.occurrence for culprit in answer.culprits)]
    return [
        culprit
        for culprit, previous_occurrence in zip(answer.culprits, previous, strict=False)
        if culprit.occurrence == previous_occurrence
    ]


def _count_text(rows: int | None) -> str:
    return "?" if rows is None else str(rows)
