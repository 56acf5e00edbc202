"""What an export, an import or a check of a file came to."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Group, RenderableType
from rich.text import Text

from headwater.cli.render.layout import Rows
from headwater.cli.render.parts import data, joined, note
from headwater.cli.text import counted
from headwater.model.exchange import Exported, Imported, Validated

_WORDS = {
    "node": ("node", "nodes"),
    "edge": ("edge", "edges"),
    "column_lineage": ("column lineage", "column lineages"),
    "provenance": ("provenance", "provenances"),
    "quality": ("quality annotation", "quality annotations"),
    "events": ("event", "events"),
}
_CYCLES_SHOWN = 10


def exported(done: Exported) -> RenderableType:
    lines: list[RenderableType] = [joined([data(done.path, "cyan"), f" ({done.format}): {_counts(done.counts)}."], "")]
    if done.cycles:
        lines.append(Text("The format does not allow cycles, so these datasets are exported version by version:"))
        lines += [joined(["  ", joined(map(data, path), " → ")], "") for path in done.cycles[:_CYCLES_SHOWN]]
        if len(done.cycles) > _CYCLES_SHOWN:
            lines.append(note(f"  and {len(done.cycles) - _CYCLES_SHOWN} more"))
    return Group(*lines)


def imported(done: Imported) -> RenderableType:
    known = (
        f" {counted(done.duplicates, 'event')} of {done.events:,} were already in the store." if done.duplicates else ""
    )
    return joined([data(done.path, "cyan"), f" ({done.format}): {_counts(done.counts)} imported.{known}"], "")


def verdict(found: Validated) -> RenderableType:
    head = joined([data(found.path, "cyan"), f" ({found.format}): {_counts(found.counts)}."], "")
    if found.sound:
        return Group(head, Text("Valid.", style="green"))
    rows = Rows("Rule", "Element", "What is wrong")
    for problem in found.problems:
        rows.add(data(problem.rule), data(problem.element), data(problem.reason))
    more = [note(f"Only the first {len(found.problems)} are shown.")] if found.truncated else []
    return Group(head, rows, *more)


def _counts(counts: Mapping[str, int]) -> str:
    """Nodes and edges always, the others where there are any."""
    told = [(kind, number) for kind, number in counts.items() if number or kind in ("node", "edge", "events")]
    return ", ".join(counted(number, *_WORDS[kind]) for kind, number in told)
