"""All rules measured by one aggregation of Spark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from headwater.checks.breaking import breaks_rule, column_of, has_key
from headwater.errors import QualityError
from headwater.model.quality import Anomaly, Metrics, QualityReport, Rule, RuleKind, Validation, severity

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_ANOMALIES = {RuleKind.NOT_NULL: "missing", RuleKind.UNIQUE: "duplicate"}
_ACCURACY = (RuleKind.RANGE, RuleKind.PATTERN)
_CONSISTENCY = (RuleKind.UNIQUE, RuleKind.CUSTOM)


@dataclass(frozen=True)
class RuleCounts:
    """What one pass over the rows counted."""

    rows: int
    failed: tuple[int, ...]
    """By rule."""
    nulls: dict[str, int]
    """By column: those of `not_null` rules, or all columns."""
    distinct: dict[str, int]
    """By column: those that must be unique on their own."""
    inaccurate: int
    stale: int


class _AggregateList:
    """Aggregates, and the position of each in the result row."""

    def __init__(self) -> None:
        self.aggregates: list[Column] = []

    def add(self, aggregate: Column) -> int:
        self.aggregates.append(aggregate.alias(f"q{len(self.aggregates)}"))
        return len(self.aggregates) - 1


def count(frame: DataFrame, rules: Sequence[Rule], now: datetime) -> RuleCounts:
    from pyspark.errors import PySparkException
    from pyspark.sql import functions as F

    questions = _AggregateList()

    def breaking(condition: Column) -> int:
        return questions.add(F.count(F.when(condition, True)))

    rows = questions.add(F.count(F.lit(1)))
    alone = [rule for rule in rules if rule.kind is not RuleKind.UNIQUE]
    broken = {rule.name: breaks_rule(frame, rule, now) for rule in alone}
    failed = {name: breaking(condition) for name, condition in broken.items()}
    keys: dict[str, tuple[int, int]] = {}
    for rule in rules:
        if rule.kind is RuleKind.UNIQUE:
            different = F.count_distinct(*map(column_of, rule.columns))
            keys[rule.name] = (breaking(has_key(rule)), questions.add(different))
    nulls = {name: breaking(column_of(name).isNull()) for name in complete_columns(frame, rules)}
    inaccurate = breaking(_any_of([broken[rule.name] for rule in alone if rule.kind in _ACCURACY]))
    stale = breaking(_any_of([broken[rule.name] for rule in alone if rule.kind is RuleKind.FRESH]))
    try:
        answers = frame.agg(*questions.aggregates).collect()[0]
    except PySparkException as wrong:
        first = str(wrong).partition("\n")[0].strip()
        raise QualityError(f"Spark could not measure the frame: {first}") from wrong
    return RuleCounts(
        answers[rows],
        tuple(
            answers[keys[rule.name][0]] - answers[keys[rule.name][1]]
            if rule.name in keys
            else answers[failed[rule.name]]
            for rule in rules
        ),
        {name: answers[place] for name, place in nulls.items()},
        {
            rule.columns[0]: answers[keys[rule.name][1]]
            for rule in rules
            if rule.name in keys and len(rule.columns) == 1
        },
        answers[inaccurate],
        answers[stale],
    )


def complete_columns(frame: DataFrame, rules: Sequence[Rule]) -> list[str]:
    """Columns whose nulls count: those of `not_null` rules, else all columns with a unique name."""
    named = [rule.columns[0] for rule in rules if rule.kind is RuleKind.NOT_NULL]
    columns = frame.columns
    return list(dict.fromkeys(named)) or [name for name in columns if columns.count(name) == 1]


def _any_of(conditions: Sequence[Column]) -> Column:
    from pyspark.sql import functions as F

    return reduce(or_, conditions, F.lit(False))


def report(rules: Sequence[Rule], counts: RuleCounts, now: datetime) -> QualityReport:
    """The report that follows from the counts. Without rows there are no metrics."""
    return QualityReport(
        now,
        counts.rows,
        _metrics(rules, counts) if counts.rows else Metrics(),
        tuple(
            Validation(rule.name, rule.type, failed == 0, failed, rule.asks)
            for rule, failed in zip(rules, counts.failed, strict=True)
        ),
        tuple(
            Anomaly(
                _ANOMALIES.get(rule.kind, "invalid"),
                severity(failed, counts.rows),
                failed,
                f"{rule.name}: {failed:,} of {counts.rows:,} rows",
            )
            for rule, failed in zip(rules, counts.failed, strict=True)
            if failed
        ),
    )


def _metrics(rules: Sequence[Rule], counts: RuleCounts) -> Metrics:
    kinds = {rule.kind for rule in rules}
    cells = counts.rows * len(counts.nulls)
    mutual = [failed for rule, failed in zip(rules, counts.failed, strict=True) if rule.kind in _CONSISTENCY]
    return Metrics(
        1 - sum(counts.nulls.values()) / cells if cells else None,
        1 - counts.inaccurate / counts.rows if kinds & set(_ACCURACY) else None,
        1 - sum(mutual) / (counts.rows * len(mutual)) if mutual else None,
        1 - counts.stale / counts.rows if RuleKind.FRESH in kinds else None,
    )
