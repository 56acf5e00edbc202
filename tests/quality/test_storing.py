"""Measured and stated quality in the store."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import headwater as hw
from headwater.errors import QualityError, RulesBroken, StoreUrlInvalid, UnknownDataset
from headwater.model.quality import QualityBasis
from headwater.rules import custom, in_range, not_null, unique

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def orders(spark: SparkSession, tmp_path: Path) -> Path:
    rows = [(1, "a", 10), (2, "a", -5), (2, "b", None), (4, None, 7)]
    spark.createDataFrame(rows, "id int, customer string, amount int").coalesce(1).write.parquet(
        str(tmp_path / "orders")
    )
    return tmp_path / "orders"


RULES = [not_null("amount"), unique("id"), in_range("amount", 0), custom("known", "customer in ('a', 'c')")]


def test_a_check_is_a_run_with_the_standard_facets(spark: SparkSession, orders: Path, sqlite_url: str) -> None:
    report = hw.quality(spark.read.parquet(str(orders)), RULES, store=sqlite_url, job="check", namespace="shop")
    assert report.dataset == hw.Dataset("file", str(orders))
    with hw.connect(sqlite_url) as lin:
        (told,) = lin.quality(report.dataset)
        assert told.basis is QualityBasis.MEASURED
        assert (told.job, told.run_id) == (hw.Job("shop", "check"), report.run_id)
        assert told.report.document() == report.document()
        assert told.version is None  # nobody is known to have written it
        assert report.run_id is not None
        run = lin.run(report.run_id)
        assert run.problems == ()
        (use,) = run.inputs
        metrics = use.io_facets["dataQualityMetrics"]
        assert metrics["rowCount"] == 4
        assert metrics["columnMetrics"] == {"amount": {"nullCount": 1}, "id": {"distinctCount": 3}}
        assertions = use.io_facets["dataQualityAssertions"]["assertions"]
        assert [(a["assertion"], a.get("column"), a["success"], a["actual"]) for a in assertions] == [
            ("not_null", "amount", False, "1"),
            ("unique", "id", False, "1"),
            ("range", "amount", False, "1"),
            ("custom", None, False, "1"),
        ]
        assert assertions[3]["content"] == "customer in ('a', 'c')"
        assert lin.upstream(report.dataset).nodes == ()  # a check moves no data


def test_a_check_belongs_to_the_measured_version(spark: SparkSession, tmp_path: Path, sqlite_url: str) -> None:
    hw.enable(spark, store=sqlite_url, namespace="shop", spool=tmp_path / "spool", rows="off")
    try:
        with hw.run("load") as first:
            spark.range(3).write.parquet(str(tmp_path / "out"))
        assert hw.flush()
        early = hw.quality(spark.read.parquet(str(tmp_path / "out")), [in_range("id", high=1)])
        with hw.run("load") as second:
            spark.range(2).write.mode("overwrite").parquet(str(tmp_path / "out"))
        assert hw.flush()
        late = hw.quality(spark.read.parquet(str(tmp_path / "out")), [in_range("id", high=1)])
        assert hw.flush()
    finally:
        hw.disable(spark)
    with hw.connect(sqlite_url) as lin:
        assert late.dataset is not None
        told = lin.quality(late.dataset)
        assert [each.run_id for each in told] == [late.run_id, early.run_id]
        assert [each.report.passed for each in told] == [True, False]
        assert [each.version and each.version.run_id for each in told] == [second, first]
        assert told[0].job == hw.Job("shop", f"quality of {tmp_path}/out")
        assert lin.quality(late.dataset, limit=1) == told[:1]


def test_a_derived_frame_needs_a_dataset_name(spark: SparkSession, orders: Path, sqlite_url: str) -> None:
    part = spark.read.parquet(str(orders)).filter("id > 1")
    with pytest.raises(QualityError, match="name the dataset with dataset="):
        hw.quality(part, [not_null("id")], store=sqlite_url)
    both = spark.read.parquet(str(orders), str(orders.parent / "orders"))
    with hw.connect(sqlite_url) as lin:
        report = hw.quality(part, [not_null("id")], store=lin, dataset=hw.Dataset("file", "/elsewhere"))
        assert [each.run_id for each in lin.quality("file//elsewhere")] == [report.run_id]
        with pytest.raises(UnknownDataset, match="/elsewhere"):
            hw.quality(both, [not_null("id")], store=lin, dataset="elsewere")
        assert hw.quality(both, [not_null("id")], store=lin, dataset="/elsewhere").dataset == report.dataset


def test_an_unavailable_store_causes_a_warning(
    spark: SparkSession, orders: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "no.db").write_text("This is no database, and it will not become one.")
    with caplog.at_level(logging.WARNING, "headwater"):
        report = hw.quality(spark.read.parquet(str(orders)), RULES, store=f"sqlite:///{tmp_path}/no.db")
    assert len(caplog.records) == 1
    assert "The quality is not stored" in caplog.text
    assert (report.rows, report.run_id, report.dataset) == (4, None, None)
    with pytest.raises(StoreUrlInvalid):
        hw.quality(spark.read.parquet(str(orders)), RULES, store="mysql://nowhere")


def test_without_a_store_nothing_is_stored(
    spark: SparkSession, orders: Path, monkeypatch: pytest.MonkeyPatch, sqlite_url: str
) -> None:
    frame = spark.read.parquet(str(orders))
    monkeypatch.delenv("HEADWATER_STORE", raising=False)
    assert hw.quality(frame, RULES).run_id is None
    monkeypatch.setenv("HEADWATER_STORE", sqlite_url)
    report = hw.quality(frame, RULES)
    with pytest.raises(RulesBroken):
        hw.quality(frame, RULES, strict=True)
    with hw.connect(sqlite_url, create=False) as lin:
        assert report.dataset is not None
        assert len(lin.quality(report.dataset)) == 2  # what is strict is stored before it raises
        assert lin.quality(report.dataset)[1].run_id == report.run_id


def test_the_source_rows_of_a_violation(spark: SparkSession, orders: Path) -> None:
    """Through a join and a filter, back to the rows that were read."""
    people = [("a", "Ann"), ("b", "Bob")]
    folder = str(orders.parent / "people")
    spark.createDataFrame(people, "customer string, name string").coalesce(1).write.parquet(folder)
    frame = (
        spark.read.parquet(str(orders))
        .join(spark.read.parquet(folder), "customer")
        .filter("id < 4")
        .selectExpr("id", "name", "amount * 2 as double")
    )
    report = hw.quality(frame, [in_range("double", 0, name="positive"), unique("id")])
    assert [each.failed_count for each in report.validations] == [1, 1]

    def sources(rule: str) -> dict[str, list[tuple[Any, ...]]]:
        found = hw.trace(report.failing(rule)).sources
        return {name.rsplit("/", 1)[1]: sorted(map(tuple, found[name].collect()), key=repr) for name in found}

    orders_of = {name: [row[:3] for row in rows] for name, rows in sources("positive").items()}
    assert orders_of["orders"] == [(2, "a", -5)]
    assert [row[:2] for row in sources("positive")["people"]] == [("a", "Ann")]
    assert [row[:3] for row in sources("unique(id)")["orders"]] == [(2, "a", -5), (2, "b", None)]


def test_the_source_rows_through_the_job_that_wrote(
    spark: SparkSession, orders: Path, tmp_path: Path, sqlite_url: str
) -> None:
    """The measured table was written by a captured job; the invalid value came from that job's source."""
    hw.enable(spark, store=sqlite_url, spool=tmp_path / "spool")
    try:
        with hw.run("double"):
            read = spark.read.parquet(str(orders))
            read.selectExpr("id", "amount * 2 as twice").write.parquet(str(tmp_path / "doubled"))
        assert hw.flush()
        report = hw.quality(spark.read.parquet(str(tmp_path / "doubled")), [in_range("twice", 0)])
        (failing,) = report.failing("range(twice, 0..)").collect()
        assert tuple(failing) == (2, -10)
        (back,) = hw.trace(report.failing("range(twice, 0..)"), store=sqlite_url, depth=None).further.values()
        assert [tuple(row)[:3] for row in back.sources["orders"].collect()] == [(2, "a", -5)]
    finally:
        hw.disable(spark)


def test_the_document_is_json(spark: SparkSession, orders: Path) -> None:
    report = hw.quality(spark.read.parquet(str(orders)), RULES)
    document = json.loads(json.dumps(report.document()))
    assert datetime.fromisoformat(document["measured_at"]) <= datetime.now(UTC)
    assert document["rows"] == 4
    assert document["validations"][1] == {
        "rule_name": "unique(id)",
        "rule_type": "unique",
        "passed": False,
        "failed_count": 1,
        "details": "id is unique",
    }
    assert document["anomalies"][1] == {
        "type": "duplicate",
        "severity": "critical",
        "count": 1,
        "description": "unique(id): 1 of 4 rows",
    }
