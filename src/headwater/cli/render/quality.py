"""The quality of a dataset: the newest statement in full, earlier ones in a line each."""

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


def quality_list(dataset: str, statements: Sequence[QualityStatement], limit: int) -> RenderableType:
    if not statements:
        return join([Text("No quality is recorded for "), data(dataset), Text(".")], "")
    newest, *older = statements
    parts = list(_statement_parts(newest))
    if older:
        rows = ResponsiveTable("Measured (UTC)", "Basis", *(name.capitalize() for name in _METRICS), "Rules")
        for statement in older:
            shares = [_share(getattr(statement.report.metrics, name)) or Text("") for name in _METRICS]
            rows.add(Text(moment(statement.at), no_wrap=True), Text(statement.basis), *shares, _rules(statement))
        parts.append(section("Earlier", rows))
    return Group(*parts, *at_limit(statements, limit))


def _statement_parts(statement: QualityStatement) -> Iterator[RenderableType]:
    report, version = statement.report, statement.version
    yield join([Text("Quality of ", style="bold"), data(statement.dataset, "bold")], "")
    written = f"{moment(version.written_at)} UTC" if version is not None else None
    by = f" by run {version.run_id}" if version is not None and version.run_id else ""
    yield properties(
        [
            ("measured", Text(f"{moment(statement.at)} UTC")),
            ("basis", Text(statement.basis)),
            ("job", data(statement.job, "cyan") if statement.job else None),
            ("run", data(statement.run_id) if statement.run_id else None),
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
        yield section(_rules(statement), rows)
    if report.anomalies:
        rows = ResponsiveTable("Anomaly", "Severity", "Count", "Description")
        for anomaly in report.anomalies:
            rows.add(data(anomaly.type or ""), data(anomaly.severity or ""), _count(anomaly.count),
                     data(anomaly.description or ""))  # fmt: skip
        yield section(count_of(len(report.anomalies), "anomaly", "anomalies"), rows)


def _share(value: float | None) -> Text | None:
    """Truncate instead of rounding: 99.999 % must not look like 100 %."""
    return None if value is None else Text(f"{int(value * 10_000) / 100:.2f} %")


def _count(value: int | None) -> Text:
    return Text("" if value is None else f"{value:,}")


def _holds(validation: Validation) -> Text:
    if validation.passed is None:
        return Text("not reported", style="dim")
    return Text("yes", style="green") if validation.passed else Text("no", style="bold red")


def _rules(statement: QualityStatement) -> Text:
    validations = statement.report.validations
    passed = sum(validation.passed is True for validation in validations)
    return Text(f"{passed:,} of {count_of(len(validations), 'rule')} hold" if validations else "no rules")
