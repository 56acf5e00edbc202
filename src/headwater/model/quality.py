"""Data quality: rules, and the reports of measuring them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any, TypedDict

from headwater.errors import QualityError, shorten
from headwater.model.names import Dataset, Job
from headwater.model.versions import VersionOf

Bound = int | float | Decimal | str | date | datetime
"""A bound of a range. Spark compares a text with the column by its own rules."""


class RuleKind(StrEnum):
    NOT_NULL = "not_null"
    UNIQUE = "unique"
    RANGE = "range"
    PATTERN = "pattern"
    CUSTOM = "custom"
    FRESH = "fresh"


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition on every row. Use the functions of :mod:`headwater.rules` to make one."""

    kind: RuleKind
    name: str
    columns: tuple[str, ...] = ()
    low: Bound | None = None
    high: Bound | None = None
    regex: str = ""
    condition: str = ""
    within: timedelta = timedelta(0)

    def __post_init__(self) -> None:
        texts: tuple[object, ...] = (self.name, *self.columns, self.regex, self.condition)
        for text in texts:
            if not isinstance(text, str):
                raise QualityError(f"A rule {self.kind} takes texts, not {text!r}.")
        if self.kind is not RuleKind.CUSTOM and not self.columns:
            raise QualityError(f"A rule {self.kind} needs the name of a column.")

    @property
    def type(self) -> str:
        """As WIA-DATA-008 names it, which has no type for the age of data."""
        return "custom" if self.kind is RuleKind.FRESH else str(self.kind)

    @property
    def asks(self) -> str:
        """The condition in words."""
        where = ", ".join(self.columns)
        if self.kind is RuleKind.NOT_NULL:
            return f"{where} is not null"
        if self.kind is RuleKind.UNIQUE:
            return f"{where} is unique"
        if self.kind is RuleKind.RANGE:
            sides = (("at least", self.low), ("at most", self.high))
            return f"{where} is " + " and ".join(f"{words} {bound}" for words, bound in sides if bound is not None)
        if self.kind is RuleKind.PATTERN:
            return f"{where} matches {self.regex}"
        if self.kind is RuleKind.FRESH:
            return f"{where} is no older than {self.within}"
        return self.condition


def not_null(column: str, *, name: str | None = None) -> Rule:
    """The column has a value in every row."""
    return Rule(RuleKind.NOT_NULL, name or f"not_null({column})", (column,))


def unique(*columns: str, name: str | None = None) -> Rule:
    """No two rows have the same values in these columns. As in SQL, a row with a null among them equals no other."""
    return Rule(RuleKind.UNIQUE, name or f"unique({', '.join(map(str, columns))})", columns)


def in_range(column: str, low: Bound | None = None, high: Bound | None = None, *, name: str | None = None) -> Rule:
    """The column is between these bounds, which are inclusive. A null breaks no bound, NaN breaks every bound."""
    if low is None and high is None:
        raise QualityError(f"A range of {column!r} has no bounds. Give low, high or both.")
    for bound in (low, high):
        if isinstance(bound, float) and not math.isfinite(bound):
            raise QualityError(f"{bound!r} is not a bound for {column!r}: leave it out instead.")
    shown = f"{'' if low is None else low}..{'' if high is None else high}"
    return Rule(RuleKind.RANGE, name or f"range({column}, {shown})", (column,), low, high)


def pattern(column: str, regex: str, *, name: str | None = None) -> Rule:
    """The regular expression, in Java's syntax, matches a part of the column's text; `^…$` matches all of it. A null
    breaks no pattern."""
    return Rule(RuleKind.PATTERN, name or f"pattern({column})", (column,), regex=regex)


def custom(name: str, condition: str) -> Rule:
    """A condition in SQL. As with CHECK in SQL, only a row for which it is false breaks it: unknown is not false."""
    rule = Rule(RuleKind.CUSTOM, name, condition=condition)
    if not condition.strip():
        raise QualityError(f"The rule {name!r} has no condition.")
    return rule


def fresh(column: str, within: timedelta, *, name: str | None = None) -> Rule:
    """The date or time in the column is at most this old when it is measured. A null does not break the rule."""
    asked: object = within
    if not isinstance(asked, timedelta) or asked < timedelta(0):
        raise QualityError(f"fresh({column!r}) takes within as a timedelta of zero or more, not {within!r}.")
    return Rule(RuleKind.FRESH, name or f"fresh({column})", (column,), within=within)


@dataclass(frozen=True, slots=True)
class Metrics:
    """Shares from 0 to 1; None if nothing was measured for the metric."""

    completeness: float | None = None
    accuracy: float | None = None
    consistency: float | None = None
    timeliness: float | None = None


@dataclass(frozen=True, slots=True)
class Validation:
    rule_name: str | None
    rule_type: str | None
    passed: bool | None
    failed_count: int | None
    details: str | None = None


@dataclass(frozen=True, slots=True)
class Anomaly:
    type: str | None
    severity: str | None
    count: int | None
    description: str | None = None


class QualityDocument(TypedDict, total=False):
    """A report in the form of WIA-DATA-008."""

    measured_at: str
    metrics: dict[str, object]
    validations: list[dict[str, object]]
    anomalies: list[dict[str, object]]
    rows: int


@dataclass(frozen=True)
class QualityReport:
    """The result of measuring rules. Any member may be missing in a report of another tool."""

    measured_at: datetime | None
    rows: int | None
    metrics: Metrics
    validations: tuple[Validation, ...] = ()
    anomalies: tuple[Anomaly, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether no rule is known to be broken."""
        return all(validation.passed is not False for validation in self.validations)

    def document(self) -> QualityDocument:
        """In the form of WIA-DATA-008, without ids: an export adds them."""
        document: QualityDocument = {
            "metrics": _stated_members(self.metrics),
            "validations": [_stated_members(validation) for validation in self.validations],
            "anomalies": [_stated_members(anomaly) for anomaly in self.anomalies],
        }
        if self.measured_at is not None:
            moment = self.measured_at.astimezone(UTC).isoformat().replace("+00:00", "Z")
            document = {"measured_at": moment, **document}
        if self.rows is not None:
            document["rows"] = self.rows
        return document


def _stated_members(part: Metrics | Validation | Anomaly) -> dict[str, object]:
    values = {field.name: getattr(part, field.name) for field in fields(part)}
    return {name: value for name, value in values.items() if value is not None}


def report_of(document: Mapping[str, Any]) -> QualityReport:
    """From a document whose fields were checked (``formats/wia/quality.py``): their types are those of its table."""
    moment, rows = document.get("measured_at"), document.get("rows")
    metrics = document.get("metrics") or {}
    return QualityReport(
        datetime.fromisoformat(moment).astimezone(UTC) if moment else None,
        rows if type(rows) is int and rows >= 0 else None,
        Metrics(**{field.name: _share(metrics.get(field.name)) for field in fields(Metrics)}),
        tuple(
            Validation(
                item.get("rule_name"),
                item.get("rule_type"),
                item.get("passed"),
                _count(item.get("failed_count")),
                item.get("details"),
            )
            for item in document.get("validations") or ()
        ),
        tuple(
            Anomaly(item.get("type"), item.get("severity"), _count(item.get("count")), item.get("description"))
            for item in document.get("anomalies") or ()
        ),
    )


def _share(value: float | None) -> float | None:
    return None if value is None else float(value)


def _count(value: float | None) -> int | None:
    return None if value is None else int(value)


_SEVERITIES = ((0.01, "low"), (0.05, "medium"), (0.25, "high"))


def severity(failed: int, rows: int) -> str:
    """By the share of rows: below 1 % low, below 5 % medium, below 25 % high, from there on critical."""
    share = failed / rows
    return next((word for below, word in _SEVERITIES if share < below), "critical")


class QualityBasis(StrEnum):
    """How a quality statement came to the store."""

    MEASURED = "measured"
    """A run measured the data."""
    STATED = "stated"
    """It was stated by hand."""
    IMPORTED = "imported"
    """It is part of an imported graph."""


@dataclass(frozen=True, slots=True)
class QualityStatement:
    """The quality of a dataset at one time. ``version`` is the version of the dataset at that time; None if no earlier
    write is known."""

    quality_id: str
    dataset: Dataset
    basis: QualityBasis
    told_at: datetime
    report: QualityReport
    job: Job | None = None
    run_id: str | None = None
    version: VersionOf | None = None

    @property
    def at(self) -> datetime:
        return self.report.measured_at or self.told_at


def refuse_same_names(rules: tuple[Rule, ...]) -> None:
    names = [rule.name for rule in rules]
    for name in names:
        if names.count(name) > 1:
            raise QualityError(f"Two rules have the name '{shorten(name)}': rename one of them.")
