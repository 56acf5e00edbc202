"""The list of runs, and one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text

from headwater.cli.render.captured import amount, gaps_section, rows_section, telemetry_section
from headwater.cli.render.items import pipeline_section
from headwater.cli.render.layout import Indented, SideBySide, table
from headwater.cli.render.log import certificate_section
from headwater.cli.render.parts import at_limit, data, dependency, join, note, properties, section, state
from headwater.cli.text import elapsed, elide, moment, printable
from headwater.model.answers import RunDetail
from headwater.model.lineage import ColumnEdge, Edge
from headwater.model.names import Endpoint
from headwater.model.runs import DatasetUse, Run, RunState

_MIN_WIDE = 120
"""Terminal width that a run's id, job and times need in one line."""


def run_list(runs: Sequence[Run], limit: int, filtered: bool) -> RenderableType:
    if not runs:
        return Text("No matching runs." if filtered else "The store holds no runs yet.")
    return Group(_RunTable(runs), *at_limit(runs, limit))


class _RunTable:
    """A run per line if there is room; otherwise its id is below its job, so that neither is wrapped."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self._runs = runs

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        wide = options.max_width >= _MIN_WIDE
        rows = table("State", "Started (UTC)", "Took", *(["Job", "Run"] if wide else ["Job and run"]))
        for run in self._runs:
            names = [data(run.job, "cyan"), data(run.run_id)]
            began = run.started_at or run.last_event_at
            cells = [state(run.state), Text(moment(began), no_wrap=True), Text(elapsed(run.started_at, run.ended_at))]
            rows.add_row(*cells, *(names if wide else [join(names, "\n")]))
        yield rows


def run_detail(detail: RunDetail) -> RenderableType:
    run = detail.run
    parts: list[RenderableType] = [
        join([Text("Run ", style="bold"), data(run.run_id, "bold")], ""),
        properties(
            [
                ("job", data(run.job, "cyan")),
                ("state", state(run.state)),
                ("error", _error(detail)),
                ("started", Text(f"{moment(run.started_at)} UTC") if run.started_at else None),
                ("ended", Text(f"{moment(run.ended_at)} UTC, took {_duration(run)}") if run.ended_at else None),
                ("nominal", Text(f"{moment(run.nominal_start)} UTC") if run.nominal_start else None),
                ("parent", data(f"run {run.parent_run_id}") if run.parent_run_id is not None else None),
                ("events", Text(str(detail.event_count))),
                ("facets", _facets(detail)),
            ]
        ),
    ]
    for heading, uses in (("Reads", detail.inputs), ("Writes", detail.outputs)):
        parts.append(section(heading, *(_use(use) for use in uses)) if uses else section(heading, note("Nothing.")))
    parts += certificate_section(detail.certificates)
    if run.state is not RunState.COMPLETE and detail.outputs:
        parts += [Text(), note("The run did not complete, so it adds no lineage.")]
    parts += pipeline_section(detail)
    if detail.edges:
        parts.append(section("Lineage", *(_edge(edge) for edge in detail.edges)))
    if detail.column_edges:
        parts.append(
            section(
                "Column lineage" if run.state is RunState.COMPLETE else "Column lineage as reported",
                _column_edges(detail.column_edges),
            )
        )
    parts += [*gaps_section(detail), *rows_section(detail), *telemetry_section(detail)]
    if detail.children:
        parts.append(section("Child runs", _RunTable(detail.children)))
    if detail.problems:
        lines = [join([data(problem.path), data(problem.reason)], ": ") for problem in detail.problems]
        parts.append(section("Off-specification", *lines))
    return Group(*parts)


def _duration(run: Run) -> str:
    return elapsed(run.started_at, run.ended_at) or "an unknown time"


def _error(detail: RunDetail) -> Text | None:
    facet = detail.run_facets.get("errorMessage")
    message = facet.get("message") if isinstance(facet, Mapping) else None
    return Text(printable(elide(message, 400)), style="red") if isinstance(message, str) else None


def _facets(detail: RunDetail) -> Text | None:
    names = [data(name) for facets in (detail.run_facets, detail.job_facets) for name in sorted(facets)]
    return join(names) if names else None


def _use(use: DatasetUse) -> Text:
    parts = [data(use.dataset, "cyan"), join(map(data, use.partitions), style="dim"), amount(use)]
    return join([part for part in parts if part], "  ")


def _edge(edge: Edge) -> Text:
    how = edge.type.replace("_", " ") + (f" ({printable(edge.transformation)})" if edge.transformation else "")
    ends = [
        _end(edge.downstream, edge.partition, "@"),
        Text(how, "dim"),
        _end(edge.upstream, edge.upstream_partition, "@"),
    ]
    return join(ends, "  ")


def _column_edges(edges: Sequence[ColumnEdge]) -> RenderableType:
    """A block for each output dataset: its columns, and below each its sources."""
    lines: list[RenderableType] = []
    for target, of_target in groupby(edges, key=lambda edge: edge.downstream):
        lines.append(data(target, "cyan"))
        for column, same in groupby(of_target, key=lambda edge: edge.downstream_column):
            lines.append(Indented(data(column) if column is not None else note("(every row)")))
            lines += [Indented(_source(edge), 4) for edge in same]
    return Group(*lines)


def _source(edge: ColumnEdge) -> RenderableType:
    how = [edge.subtype or "", "masked" if edge.masking else "", elide(edge.logic or "")]
    source = join([dependency(edge.dependency), _end(edge.upstream, edge.upstream_column, "#")], "  ")
    return SideBySide(source, data(", ".join(word for word in how if word), "dim"), indent=2)


def _end(endpoint: Endpoint, part: str | None, mark: str) -> Text:
    return data(str(endpoint) if part is None else f"{endpoint}{mark}{part}")
