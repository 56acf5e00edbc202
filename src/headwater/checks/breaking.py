"""Rules for Spark: the columns they name, and the condition under which a row breaks one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from headwater.errors import QualityError, shorten
from headwater.model.quality import Rule, RuleKind, refuse_same_names

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_TIME_TYPES = ("date", "timestamp", "timestamp_ntz")
_FLOAT_TYPES = ("float", "double")


def column_of(name: str) -> Column:
    """A column by its full name, which may contain dots."""
    from pyspark.sql import functions as F

    return F.col(f"`{name.replace('`', '``')}`")


def refuse_unfit(frame: DataFrame, rules: Sequence[Rule]) -> None:
    """Raises QualityError for rules that cannot fit the frame, before Spark runs anything."""
    refuse_same_names(tuple(rules))
    types = [(field.name, field.dataType.simpleString()) for field in frame.schema.fields]
    for rule in rules:
        for name in rule.columns:
            matches = [kind for column, kind in types if column == name]
            if len(matches) != 1:
                problem = f"names {len(matches)} columns" if matches else "is not a column of the frame"
                available = ", ".join(shorten(column) for column, _ in types)
                raise QualityError(f"Rule '{shorten(rule.name)}': '{shorten(name)}' {problem}. Columns: {available}.")
            _refuse_type(rule, name, matches[0])
        _refuse_condition(frame, rule)


def _refuse_type(rule: Rule, name: str, kind: str) -> None:
    unfit = {
        RuleKind.UNIQUE: "map<" in kind or kind == "variant",
        RuleKind.RANGE: kind.startswith(("map<", "struct<", "array<")) or kind in ("variant", "boolean", "binary"),
        RuleKind.PATTERN: kind.startswith(("map<", "struct<", "array<")) or kind in ("variant", "binary"),
        RuleKind.FRESH: kind not in _TIME_TYPES,
    }
    if unfit.get(rule.kind, False):
        raise QualityError(f"Rule '{shorten(rule.name)}': '{shorten(name)}' is of type {shorten(kind)}.")


def _refuse_condition(frame: DataFrame, rule: Rule) -> None:
    """Analyzes the rule as a filter, which takes no aggregates and only conditions."""
    from pyspark.errors import PySparkException
    from pyspark.sql import functions as F

    condition = breaks_rule(frame, rule, datetime.fromtimestamp(0)) if rule.kind is not RuleKind.UNIQUE else None
    try:
        if rule.kind is RuleKind.CUSTOM:
            frame.filter(F.expr(rule.condition)).schema  # noqa: B018
        elif condition is not None:
            frame.filter(condition).schema  # noqa: B018
    except PySparkException as wrong:
        first = str(wrong).partition("\n")[0].strip()
        raise QualityError(f"Rule '{shorten(rule.name)}' does not fit the frame: {first}") from wrong


def breaks_rule(frame: DataFrame, rule: Rule, now: datetime) -> Column:
    """Whether a row breaks the rule: true or false, never null. A rule `unique` needs other rows and is not allowed."""
    from pyspark.sql import functions as F

    if rule.kind is RuleKind.CUSTOM:
        return _is_true(~F.expr(rule.condition))
    column = column_of(rule.columns[0])
    if rule.kind is RuleKind.NOT_NULL:
        return column.isNull()
    if rule.kind is RuleKind.PATTERN:
        return _is_true(~column.cast("string").rlike(rule.regex))
    if rule.kind is RuleKind.FRESH:
        return _is_true(column.cast("timestamp") < F.lit(now - rule.within))
    assert rule.kind is RuleKind.RANGE
    broken = F.lit(False)
    if rule.low is not None:
        broken = broken | _is_true(column < F.lit(rule.low))
    if rule.high is not None:
        broken = broken | _is_true(column > F.lit(rule.high))
    if frame.schema[rule.columns[0]].dataType.simpleString() in _FLOAT_TYPES:
        broken = broken | _is_true(F.isnan(column))
    return broken


def has_key(rule: Rule) -> Column:
    """For a rule `unique`: whether a row has a value in all of its columns. A row without one equals no other row."""
    from functools import reduce
    from operator import and_

    return reduce(and_, (column_of(name).isNotNull() for name in rule.columns))


def _is_true(condition: Column) -> Column:
    from pyspark.sql import functions as F

    return F.coalesce(condition, F.lit(False))
