"""Facets that a capture adds to a run: row counts and sizes, Spark's metrics, gaps.

Facets are untrusted input: values of an unexpected shape are skipped here and still printed with `--json`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta

from rich.console import RenderableType
from rich.text import Text

from headwater.cli.render.layout import table
from headwater.cli.render.parts import data, join, note, section
from headwater.cli.text import count_of, duration
from headwater.formats.openlineage.facet_names import COVERAGE_FACET, ROWS_FACET, TELEMETRY_FACET
from headwater.model.answers import RunDetail
from headwater.model.runs import DatasetUse

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def amount(use: DatasetUse) -> Text | None:
    """`1,200 rows, 3.4 MiB, 2 files`."""
    facet = use.io_facets.get("outputStatistics") or use.io_facets.get("inputStatistics")
    if not isinstance(facet, Mapping):
        return None
    rows, size, files = (_number(facet.get(name)) for name in ("rowCount", "size", "fileCount"))
    words = [
        count_of(rows, "row") if rows is not None else "",
        volume(size) if size is not None else "",
        count_of(files, "file") if files is not None else "",
    ]
    text = ", ".join(word for word in words if word)
    return note(text) if text else None


def gaps_section(detail: RunDetail) -> list[RenderableType]:
    """What of each output and of the run itself could not be captured; empty for runs that were not captured."""
    lines: list[RenderableType] = [join(_gap(gap), " ") for gap in _gaps(detail.run_facets)]
    for use in detail.outputs:
        lines += [join([data(use.dataset, "cyan"), join(_gap(gap), " ")], "  ") for gap in _gaps(use.facets)]
    return [section("Not captured", *lines)] if lines else []


def rows_section(detail: RunDetail) -> list[RenderableType]:
    """Whether the rows of each output can be traced later, or what that would take."""
    lines: list[RenderableType] = []
    for use in detail.outputs:
        facet = use.io_facets.get(ROWS_FACET)
        if isinstance(facet, Mapping):
            lines.append(join([data(use.dataset, "cyan"), _replayable(facet)], "  "))
    return [section("Rows", *lines)] if lines else []


def _replayable(facet: Mapping[str, object]) -> Text:
    if facet.get("replayable") is True:
        sources = facet.get("sources")
        number = len(sources) if isinstance(sources, Sequence) and not isinstance(sources, str) else 0
        return data(
            f"can be traced: the plan and {count_of(number, 'source')} are stored, for Spark {facet.get('spark')}"
        )
    needs = facet.get("needs")
    named = "; ".join(map(str, needs)) if isinstance(needs, Sequence) and not isinstance(needs, str) else ""
    return data(f"cannot be traced later: {named or 'the plan was not stored'}", "yellow")


def _gaps(facets: Mapping[str, object]) -> list[Mapping[str, object]]:
    facet = facets.get(COVERAGE_FACET)
    gaps = facet.get("gaps") if isinstance(facet, Mapping) else None
    return [gap for gap in gaps if isinstance(gap, Mapping)] if isinstance(gaps, Sequence) else []


def _gap(gap: Mapping[str, object]) -> Iterator[Text]:
    yield data(f"{gap.get('operator')}:", "yellow")
    yield data(gap.get("reason"))
    columns = gap.get("columns")
    if isinstance(columns, Sequence) and columns and not isinstance(columns, str):
        yield note(f"(columns {', '.join(map(str, columns))})")


def telemetry_section(detail: RunDetail) -> list[RenderableType]:
    """The measurements of each node of the plan, below the node that reads its rows."""
    facet = detail.run_facets.get(TELEMETRY_FACET)
    writes = facet.get("writes") if isinstance(facet, Mapping) else None
    tables = [_nodes(write) for write in writes or () if isinstance(write, Mapping)]
    return [section("Measured", *tables)] if tables else []


def _nodes(write: Mapping[str, object]) -> RenderableType:
    rows = table("Node", "Rows", "Time", "Bytes", "Spilled")
    depths: list[int] = []
    nodes = write.get("nodes")
    for node in nodes if isinstance(nodes, list) else ():
        parent = _number(node.get("parent"))
        depths.append(depths[parent] + 1 if parent is not None and 0 <= parent < len(depths) else 0)
        numbers = [_number(node.get(name)) for name in ("rows", "bytes", "spillBytes")]
        time = node.get("latencyMs")
        rows.add_row(
            join([Text(" " * depths[-1]), data(node.get("name"))], ""),
            Text("" if numbers[0] is None else f"{numbers[0]:,}"),
            Text(duration(timedelta(milliseconds=time)) if isinstance(time, int | float) else ""),
            Text("" if numbers[1] is None else volume(numbers[1])),
            Text(volume(numbers[2]) if numbers[2] else ""),
        )
    return rows


def volume(size: int) -> str:
    """`812 B`, `3.4 MiB`."""
    value, unit = float(size), 0
    while value >= 1024 and unit < len(_UNITS) - 1:
        value, unit = value / 1024, unit + 1
    return f"{value:.1f} {_UNITS[unit]}" if unit else f"{size} B"


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
