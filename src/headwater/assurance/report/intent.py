"""The section on intent: the job, its owner, and its declaration."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta

from headwater.assurance.report.gather import ReportData
from headwater.assurance.report.markup import Html, Part, absent_note, code, facts, join_parts, lines, table, tag, words
from headwater.assurance.report.shapes import mapping, mappings, number, text
from headwater.formats.openlineage.describe import first_owner
from headwater.formats.openlineage.facet_names import PIPELINE_FACET
from headwater.model.runs import DatasetUse


def owner(case: ReportData) -> str | None:
    """Return the owner of the job, or else of its outputs."""
    result = first_owner(case.detail.job_facets)
    return result or next(filter(None, (first_owner(use.facets) for use in case.detail.outputs)), None)


def declared_nodes(case: ReportData) -> list[Mapping[str, object]]:
    return mappings(mapping(case.facet(PIPELINE_FACET)).get("nodes"))


def sql(case: ReportData) -> str | None:
    return text(mapping(case.detail.job_facets.get("sql")).get("query"))


def intent(case: ReportData) -> Html:
    run, certificate = case.detail.run, case.certificate
    described = text(mapping(case.detail.job_facets.get("documentation")).get("description"))
    version = None if certificate is None else certificate.contract_version
    return join_parts(
        [
            facts(
                [
                    ("Job", code(run.job)),
                    ("Purpose", described),
                    ("Owner", owner(case) or "none stated"),
                    ("Contract version", version or "none stated"),
                    ("Nominal time", _span(run.nominal_start, run.nominal_end)),
                    ("Began", _moment(run.started_at)),
                    ("Ended", _end_text(run.started_at, run.ended_at)),
                    ("Part of run", None if run.parent_run_id is None else code(run.parent_run_id)),
                    ("Engine", _engine(case)),
                    ("Code", _location(case)),
                ]
            ),
            tag("h3", "Declared"),
            *_declared_section(case),
            tag("h3", "Reads and writes"),
            _uses(case),
        ]
    )


def _declared_section(case: ReportData) -> Iterator[Html]:
    nodes, query = declared_nodes(case), sql(case)
    if nodes:
        yield table(
            ["Node", "Kind", "As configured"],
            ([code(words(node.get("name"))), words(node.get("type")), _configuration(node)] for node in nodes),
        )
    if query is not None:
        yield lines(query)
    if not nodes and query is None:
        yield absent_note("No pipeline or query was declared: the plan is hashed as design below.")


def _configuration(node: Mapping[str, object]) -> Part:
    configuration = mapping(node.get("configuration"))
    return (
        join_parts((join_parts([code(key), " ", words(value)]) for key, value in configuration.items()), "<br>")
        if configuration
        else "—"
    )


def _uses(case: ReportData) -> Html:
    uses = [("reads", use) for use in case.detail.inputs] + [("writes", use) for use in case.detail.outputs]
    if not uses:
        return absent_note("The run names no dataset.")
    rows = ([way, code(use.dataset), ", ".join(use.partitions) or "whole", _rows(use)] for way, use in uses)
    return table(["", "Dataset", "Part", "Rows"], rows)


def _rows(use: DatasetUse) -> str:
    facets: Iterable[object] = (use.io_facets.get(name) for name in ("inputStatistics", "outputStatistics"))
    count = next((number(mapping(one).get("rowCount")) for one in facets if mapping(one)), None)
    return "—" if count is None else f"{count:,}"


def _engine(case: ReportData) -> str | None:
    facet = mapping(case.facet("processing_engine"))
    parts = [text(facet.get(key)) for key in ("name", "version")]
    return " ".join(filter(None, parts)) or None


def _location(case: ReportData) -> Html | None:
    facet = mapping(case.detail.job_facets.get("sourceCodeLocation"))
    parts = [text(facet.get(key)) for key in ("url", "path", "version", "branch")]
    return code(" ".join(filter(None, parts))) if any(parts) else None


def _moment(at: datetime | None) -> str | None:
    return None if at is None else f"{at.replace(tzinfo=None).isoformat(sep=' ', timespec='seconds')} UTC"


def _span(start: datetime | None, end: datetime | None) -> str | None:
    moments = [_moment(one) for one in (start, end) if one is not None]
    return " to ".join(filter(None, moments)) or None


def _end_text(started: datetime | None, ended: datetime | None) -> str | None:
    if ended is None:
        return "not yet"
    took = "" if started is None else f", after {timedelta(seconds=round((ended - started).total_seconds()))}"
    return f"{_moment(ended)}{took}"
