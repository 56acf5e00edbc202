"""What an export, an import or a check of a file came to."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Group, RenderableType
from rich.text import Text

from headwater.cli.render.layout import ResponsiveTable
from headwater.cli.render.parts import data, join, note
from headwater.cli.text import count_of
from headwater.model.exchange import Exported, Imported, Validated

_KIND_NAMES = {
    "node": ("node", "nodes"),
    "edge": ("edge", "edges"),
    "column_lineage": ("column lineage", "column lineages"),
    "provenance": ("provenance", "provenances"),
    "quality": ("quality annotation", "quality annotations"),
    "events": ("event", "events"),
}
_MAX_CYCLES = 10


def export_text(done: Exported) -> RenderableType:
    lines: list[RenderableType] = [join([data(done.path, "cyan"), f" ({done.format}): {_counts(done.counts)}."], "")]
    if done.cycles:
        lines.append(Text("The format does not allow cycles, so these datasets are exported version by version:"))
        lines += [join(["  ", join(map(data, path), " → ")], "") for path in done.cycles[:_MAX_CYCLES]]
        if len(done.cycles) > _MAX_CYCLES:
            lines.append(note(f"  and {len(done.cycles) - _MAX_CYCLES} more"))
    return Group(*lines)


def import_text(done: Imported) -> RenderableType:
    known = (
        f" {count_of(done.duplicates, 'event')} of {done.events:,} were already in the store."
        if done.duplicates
        else ""
    )
    return join([data(done.path, "cyan"), f" ({done.format}): {_counts(done.counts)} imported.{known}"], "")


def validation_text(found: Validated) -> RenderableType:
    head = join([data(found.path, "cyan"), f" ({found.format}): {_counts(found.counts)}."], "")
    if found.sound:
        return Group(head, Text("Valid.", style="green"))
    rows = ResponsiveTable("Rule", "Element", "What is wrong")
    for problem in found.problems:
        rows.add(data(problem.rule), data(problem.element), data(problem.reason))
    more = [note(f"Only the first {len(found.problems)} are shown.")] if found.truncated else []
    return Group(head, rows, *more)


def _counts(counts: Mapping[str, int]) -> str:
    """Nodes and edges always, the others where there are any."""
    told = [(kind, number) for kind, number in counts.items() if number or kind in ("node", "edge", "events")]
    return ", ".join(count_of(number, *_KIND_NAMES[kind]) for kind, number in told)
