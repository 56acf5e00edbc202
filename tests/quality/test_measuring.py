"""Measurements on real Spark, compared with rows counted one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import headwater as hw
from headwater.errors import QualityError, RulesBroken
from headwater.model.quality import Rule
from headwater.rules import custom, fresh, in_range, not_null, pattern, unique
from tests.quality import oracle

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = "n int, m int, x double, t string, at timestamp"
COLUMNS = ("n", "m", "x", "t", "at")
NOW = datetime.now(UTC)
RULES = (
    not_null("n"),
    not_null("t"),
    unique("n"),
    unique("m", "t"),
    in_range("n", 0, 2),
    in_range("x", 0.5),
    in_range("x", high=1.5, name="x is small"),
    pattern("t", "^a+$"),
    pattern("m", "[12]"),
    custom("sum", "n + m > 3"),
    fresh("at", timedelta(days=2)),
)

small = st.none() | st.integers(-1, 3)
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "n": small,
            "m": small,
            "x": st.none() | st.sampled_from([0.0, 0.5, 1.0, 1.5, 2.0, float("nan")]),
            "t": st.none() | st.sampled_from(["", "a", "aa", "ab"]),
            "at": st.none() | st.sampled_from([NOW, NOW - timedelta(days=1), NOW - timedelta(days=3)]),
        }
    ),
    max_size=12,
)


def frame_of(spark: SparkSession, rows: list[dict[str, Any]]) -> DataFrame:
    return spark.createDataFrame([tuple(row[name] for name in COLUMNS) for row in rows], SCHEMA)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS, chosen=st.sets(st.sampled_from(RULES), min_size=1))
def test_every_rule_as_counted_row_by_row(spark: SparkSession, rows: list[dict[str, Any]], chosen: set[Rule]) -> None:
    rules = [rule for rule in RULES if rule in chosen]
    report = hw.quality(frame_of(spark, rows), rules)
    now = report.measured_at
    assert now is not None
    assert report.rows == len(rows)
    told = [(each.rule_name, each.failed_count, each.passed) for each in report.validations]
    counted = [(rule.name, oracle.failed(rule, rows, now)) for rule in rules]
    assert told == [(name, failed, failed == 0) for name, failed in counted]
    shares = {name: share for name, share in asdict(report.metrics).items() if share is not None}
    assert shares == pytest.approx(oracle.metrics(rules, rows, COLUMNS, now))
    assert [(each.count, each.type) for each in report.anomalies] == [
        (failed, {"not_null": "missing", "unique": "duplicate"}.get(rule.kind, "invalid"))
        for rule, (_, failed) in zip(rules, counted, strict=True)
        if failed
    ]


def test_the_rows_that_violate_each_rule(spark: SparkSession) -> None:
    old = NOW - timedelta(days=3)
    values = [
        (1, 1, 0.5, "a", NOW), (1, 2, float("nan"), "b", old), (None, 2, 2.0, "b", None), (3, None, None, None, old),
        (3, None, 1.0, None, NOW), (2, 0, 0.0, "", NOW),
    ]  # fmt: skip
    rows = [dict(zip(COLUMNS, each, strict=True)) for each in values]
    report = hw.quality(frame_of(spark, rows), RULES)
    assert report.measured_at is not None
    for rule in RULES:
        expected = [_shown(row) for row in oracle.failing(rule, rows, report.measured_at)]
        assert expected, rule.name
        found = report.failing(rule.name)
        assert found.columns == list(COLUMNS)
        assert sorted(_shown(row.asDict()) for row in found.collect()) == sorted(expected), rule.name


def _shown(row: dict[str, Any]) -> str:
    """Spark returns times in the zone of this machine, without a zone."""
    at = row["at"]
    return repr([row[name] for name in COLUMNS[:-1]] + [None if at is None else at.astimezone(UTC)])


def test_one_job_of_spark_measures_all_rules(spark: SparkSession) -> None:
    context = spark.sparkContext
    context.setJobGroup("one pass", "quality")
    try:
        hw.quality(spark.range(100).selectExpr("int(id) n", "int(id) m", "1d x", "'a' t", "now() at"), RULES)
        assert context.statusTracker().getJobIdsForGroup("one pass")
        executions = spark._jsparkSession.sharedState().statusStore().executionsList()
        assert len([i for i in range(executions.size()) if executions.apply(i).description() == "quality"]) == 1
    finally:
        context.setJobGroup("others", "")


def test_names_with_dots_and_backticks(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(1, "x"), (None, "x")], "`a.b` int, `c``d` string")
    report = hw.quality(frame, [not_null("a.b"), unique("c`d"), in_range("a.b", low=2)])
    assert [each.failed_count for each in report.validations] == [1, 1, 1]
    assert report.failing("unique(c`d)").count() == 2


def test_bounds_of_other_types(spark: SparkSession) -> None:
    frame = spark.sql("select decimal(1.25) d, date'2026-01-02' day, 'b' t")
    rules = [
        in_range("d", Decimal("1.30"), name="d"),
        in_range("day", high=datetime(2026, 1, 1).date(), name="day"),
        in_range("t", "a", "c", name="t"),
    ]
    assert [each.passed for each in hw.quality(frame, rules).validations] == [False, False, True]


def test_without_rows_there_are_no_shares(spark: SparkSession) -> None:
    report = hw.quality(spark.createDataFrame([], SCHEMA), RULES)
    assert report.passed
    assert report.rows == 0
    assert report.document()["metrics"] == {}


@pytest.mark.parametrize(
    ("failed", "severity"), [(0.009, "low"), (0.01, "medium"), (0.05, "high"), (0.25, "critical"), (1.0, "critical")]
)
def test_severity_is_by_the_share_of_rows(spark: SparkSession, failed: float, severity: str) -> None:
    frame = spark.range(1000).selectExpr(f"if(id < {round(failed * 1000)}, null, id) n")
    assert [each.severity for each in hw.quality(frame, [not_null("n")]).anomalies] == [severity]


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        (not_null("nobody"), "'nobody' is not a column of the frame. Columns: n, s, m, a, a."),
        (in_range("s.inner", 1), "'s.inner' is not a column"),
        (not_null("a"), "'a' names 2 columns"),
        (unique("m"), "is of type map<int,int>"),
        (in_range("s", 1), "is of type struct<inner:int>"),
        (fresh("n", timedelta(1)), "is of type int"),
        (custom("sum", "sum(n) > 1"), "Rule 'sum' does not fit the frame"),
        (custom("number", "n + 1"), "Rule 'number' does not fit the frame"),
        (custom("typo", "n >"), "Rule 'typo' does not fit the frame"),
    ],
    ids=lambda value: value.name if isinstance(value, Rule) else "",
)
def test_unknown_columns_are_refused_with_the_list_of_columns(spark: SparkSession, rule: Rule, told: str) -> None:
    frame = spark.sql("select 1 n, named_struct('inner', 1) s, map(1, 2) m, 1 a, 2 a")
    with pytest.raises(QualityError) as refused:
        hw.quality(frame, [rule])
    assert told in str(refused.value)
    assert "\n" not in str(refused.value)


def test_errors_that_only_the_data_shows(spark: SparkSession) -> None:
    frame = spark.sql("select 'a' t")
    for rule in (pattern("t", "("), custom("divided", "1 / length('') > 0"), in_range("t", 0)):
        with pytest.raises(QualityError) as refused:
            hw.quality(frame, [rule])
        assert "\n" not in str(refused.value)


def test_invalid_rules() -> None:
    wrong: list[Callable[[], Rule]] = [
        lambda: in_range("n"),
        lambda: in_range("n", float("nan")),
        unique,
        lambda: custom("empty", " "),
        lambda: fresh("at", timedelta(-1)),
        lambda: not_null(3),  # type: ignore[arg-type]
    ]
    for make in wrong:
        with pytest.raises(QualityError):
            make()


def test_two_rules_with_one_name(spark: SparkSession) -> None:
    with pytest.raises(QualityError, match=r"Two rules have the name 'not_null\(id\)'"):
        hw.quality(spark.range(1), [not_null("id"), not_null("id")])
    with pytest.raises(QualityError, match="There are no rules"):
        hw.quality(spark.range(1), [])


def test_a_strict_check_raises_and_names_the_violations(spark: SparkSession) -> None:
    with pytest.raises(RulesBroken, match=r"Quality rules are violated: range\(id, 5..\) by 5\."):
        hw.quality(spark.range(10), [not_null("id"), in_range("id", 5)], strict=True)
    assert hw.quality(spark.range(10), [not_null("id")], strict=True).passed


def test_an_unknown_rule_name(spark: SparkSession) -> None:
    report = hw.quality(spark.range(1), [not_null("id")])
    with pytest.raises(QualityError, match=r"There is no rule 'x'\. Rules: not_null\(id\)\."):
        report.failing("x")
