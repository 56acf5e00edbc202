"""Quality counted row by row in plain Python, as docs/quality.md defines it: Spark must agree with it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from headwater.model.quality import Rule, RuleKind

Row = dict[str, Any]


def violates(rule: Rule, row: Row, now: datetime) -> bool:
    """Whether the row alone violates the rule. These tests use one custom condition: `n + m > 3`."""
    if rule.kind is RuleKind.CUSTOM:
        assert rule.condition == "n + m > 3"
        return row["n"] is not None and row["m"] is not None and not row["n"] + row["m"] > 3
    value = row[rule.columns[0]]
    if rule.kind is RuleKind.NOT_NULL:
        return value is None
    if value is None:
        return False
    if rule.kind is RuleKind.PATTERN:
        return re.search(rule.regex, str(value)) is None
    if rule.kind is RuleKind.FRESH:
        return bool(value < now - rule.within)
    assert rule.kind is RuleKind.RANGE
    low: Any = rule.low
    high: Any = rule.high
    is_nan = isinstance(value, float) and math.isnan(value)
    return is_nan or (low is not None and value < low) or (high is not None and value > high)


def keys_of(rule: Rule, rows: Sequence[Row]) -> Counter[tuple[Any, ...]]:
    keys = [tuple(row[name] for name in rule.columns) for row in rows]
    return Counter(key for key in keys if None not in key)


def failed(rule: Rule, rows: Sequence[Row], now: datetime) -> int:
    if rule.kind is RuleKind.UNIQUE:
        return sum(times - 1 for times in keys_of(rule, rows).values())
    return sum(violates(rule, row, now) for row in rows)


def failing(rule: Rule, rows: Sequence[Row], now: datetime) -> list[Row]:
    if rule.kind is not RuleKind.UNIQUE:
        return [row for row in rows if violates(rule, row, now)]
    keys = keys_of(rule, rows)
    return [row for row in rows if keys[tuple(row[name] for name in rule.columns)] > 1]


def metrics(rules: Sequence[Rule], rows: Sequence[Row], columns: Sequence[str], now: datetime) -> dict[str, float]:
    if not rows:
        return {}
    named = {rule.columns[0] for rule in rules if rule.kind is RuleKind.NOT_NULL} or set(columns)
    cells = [row[name] is not None for row in rows for name in named]
    told = {"completeness": sum(cells) / len(cells)}
    for metric, kinds in (("accuracy", (RuleKind.RANGE, RuleKind.PATTERN)), ("timeliness", (RuleKind.FRESH,))):
        asked = [rule for rule in rules if rule.kind in kinds]
        if asked:
            told[metric] = sum(not any(violates(rule, row, now) for rule in asked) for row in rows) / len(rows)
    mutual = [rule for rule in rules if rule.kind in (RuleKind.UNIQUE, RuleKind.CUSTOM)]
    if mutual:
        told["consistency"] = sum(1 - failed(rule, rows, now) / len(rows) for rule in mutual) / len(mutual)
    return told
