"""The quality of a dataset: the newest word on it whole, those before it a line each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields

from rich.console import Group, RenderableType
from rich.text import Text

from headwater.cli.render.layout import ResponsiveTable
from headwater.cli.render.parts import at_limit, data, join, properties, section
from headwater.cli.text import count_of, moment
from headwater.model.quality import Metrics, QualityStatement, Validation

_METRICS = [field.name for field in fields(Metrics)]


def quality_list(asked: str, found: Sequence[QualityStatement], limit: int) -> RenderableType:
    if not found:
        return join([Text("No quality is recorded for "), data(asked), Text(".")], "")
    newest, *older = found
    parts = list(_statement_parts(newest))
    if older:
        rows = ResponsiveTable("Measured (UTC)", "Basis", *(name.capitalize() for name in _METRICS), "Rules")
        for one in older:
            shares = [_share(getattr(one.report.metrics, name)) or Text("") for name in _METRICS]
            rows.add(Text(moment(one.at), no_wrap=True), Text(one.basis), *shares, _rules(one))
        parts.append(section("Earlier", rows))
    return Group(*parts, *at_limit(found, limit))


def _statement_parts(one: QualityStatement) -> Iterator[RenderableType]:
    report, version = one.report, one.version
    yield join([Text("Quality of ", style="bold"), data(one.dataset, "bold")], "")
    written = f"{moment(version.written_at)} UTC" if version is not None else None
    by = f" by run {version.run_id}" if version is not None and version.run_id else ""
    yield properties(
        [
            ("measured", Text(f"{moment(one.at)} UTC")),
            ("basis", Text(one.basis)),
            ("job", data(one.job, "cyan") if one.job else None),
            ("run", data(one.run_id) if one.run_id else None),
            ("version of", data(f"{written}{by}") if written else None),
            ("rows", Text(f"{report.rows:,}") if report.rows is not None else None),
            *((name, _share(getattr(report.metrics, name))) for name in _METRICS),
        ]
    )
    if report.validations:
        rows = ResponsiveTable("Rule", "Type", "Holds", "Failed", "Details", lead=0)
        for validation in report.validations:
            rows.add(
                data(validation.rule_name or ""),
                data(validation.rule_type or ""),
                _holds(validation),
                _count(validation.failed_count),
                data(validation.details or ""),
            )
        yield section(_rules(one), rows)
    if report.anomalies:
        rows = ResponsiveTable("Anomaly", "Severity", "Count", "Description")
        for found in report.anomalies:
            rows.add(data(found.type or ""), data(found.severity or ""), _count(found.count),
                     data(found.description or ""))  # fmt: skip
        yield section(count_of(len(report.anomalies), "anomaly", "anomalies"), rows)


def _share(value: float | None) -> Text | None:
    """Cut, not rounded: what is not whole must not look so."""
    return None if value is None else Text(f"{int(value * 10_000) / 100:.2f} %")


def _count(value: int | None) -> Text:
    return Text("" if value is None else f"{value:,}")


def _holds(each: Validation) -> Text:
    if each.passed is None:
        return Text("not reported", style="dim")
    return Text("yes", style="green") if each.passed else Text("no", style="bold red")


def _rules(one: QualityStatement) -> Text:
    asked = one.report.validations
    held = sum(each.passed is True for each in asked)
    return Text(f"{held:,} of {count_of(len(asked), 'rule')} hold" if asked else "no rules")
