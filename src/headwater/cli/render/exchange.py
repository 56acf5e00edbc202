"""Results of an export, an import or a validation."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Group, RenderableType
from rich.text import Text

from headwater.cli.render.layout import ResponsiveTable
from headwater.cli.render.parts import data, join, note
from headwater.cli.text import count_of
from headwater.model.exchange import ExportResult, ImportResult, ValidationResult

_KIND_NAMES = {
    "node": ("node", "nodes"),
    "edge": ("edge", "edges"),
    "column_lineage": ("column lineage", "column lineages"),
    "provenance": ("provenance", "provenances"),
    "quality": ("quality annotation", "quality annotations"),
    "events": ("event", "events"),
}
_MAX_CYCLES = 10


def export_text(result: ExportResult) -> RenderableType:
    lines: list[RenderableType] = [
        join([data(result.path, "cyan"), f" ({result.format}): {_counts(result.counts)}."], "")
    ]
    if result.cycles:
        lines.append(Text("The format does not allow cycles, so these datasets are exported version by version:"))
        lines += [join(["  ", join(map(data, path), " → ")], "") for path in result.cycles[:_MAX_CYCLES]]
        if len(result.cycles) > _MAX_CYCLES:
            lines.append(note(f"  and {len(result.cycles) - _MAX_CYCLES} more"))
    return Group(*lines)


def import_text(result: ImportResult) -> RenderableType:
    duplicates = (
        f" {count_of(result.duplicates, 'event')} of {result.events:,} were already in the store."
        if result.duplicates
        else ""
    )
    return join([data(result.path, "cyan"), f" ({result.format}): {_counts(result.counts)} imported.{duplicates}"], "")


def validation_text(result: ValidationResult) -> RenderableType:
    head = join([data(result.path, "cyan"), f" ({result.format}): {_counts(result.counts)}."], "")
    if result.sound:
        return Group(head, Text("Valid.", style="green"))
    rows = ResponsiveTable("Rule", "Element", "What is wrong")
    for problem in result.problems:
        rows.add(data(problem.rule), data(problem.element), data(problem.reason))
    more = [note(f"Only the first {len(result.problems)} are shown.")] if result.truncated else []
    return Group(head, rows, *more)


def _counts(counts: Mapping[str, int]) -> str:
    """Format the counts: nodes and edges always, others unless they are zero."""
    shown_counts = [(kind, number) for kind, number in counts.items() if number or kind in ("node", "edge", "events")]
    return ", ".join(count_of(number, *_KIND_NAMES[kind]) for kind, number in shown_counts)
