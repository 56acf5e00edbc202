"""Captured reads and writes have provenance automatically, and a purpose if the run states one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import headwater as hw
from headwater.errors import ProvenanceInvalid
from headwater.model.provenance import Context

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_reads_and_writes_have_provenance(spark: SparkSession, tmp_path: Path) -> None:
    url, raw, made = f"sqlite:///{tmp_path}/lineage.db", f"{tmp_path}/raw", f"{tmp_path}/made"
    spark.range(5).write.parquet(raw)
    hw.enable(spark, store=url, namespace="tests")
    try:
        for number in range(2):
            purpose = "billing" if number else None
            with hw.run("orders", purpose=purpose, legal_basis="contract", sensitivity="internal"):
                spark.read.parquet(raw).write.mode("overwrite").parquet(made)
        assert hw.flush()
    finally:
        hw.disable(spark)
    with hw.connect(url) as lineage:
        second, first = lineage.provenance(f"file/{made}")
        assert [one.event for one in (second, first)] == ["modified", "created"]
        assert (first.operation.type, first.operation.method) == ("transform", "OVERWRITE")
        assert first.context == Context(None, "contract", None, "internal")
        assert second.context == Context("billing", "contract", None, "internal")
        assert (second.agent.type, second.agent.id) == ("job", "tests/orders")
        read = lineage.provenance(f"file/{raw}")
        assert [one.event for one in read] == ["accessed", "accessed"]
        assert [one.run_id for one in read] == [second.run_id, first.run_id]
        assert [one.context.purpose for one in read] == ["billing", None]


def test_a_pipeline_states_its_purpose(spark: SparkSession, tmp_path: Path) -> None:
    url, raw, made = f"sqlite:///{tmp_path}/lineage.db", f"{tmp_path}/raw", f"{tmp_path}/made"
    spark.range(5).write.parquet(raw)
    pipeline = hw.Pipeline("billing", namespace="tests")
    with pytest.raises(ProvenanceInvalid, match="sensitivity_level must be one of"):
        pipeline.purpose("invoices", sensitivity="top")
    pipeline.purpose("invoices", legal_basis="contract", retention_period="P10Y", sensitivity="internal")
    numbers = pipeline.source("numbers", lambda spark: spark.read.parquet(raw), key="id")
    pipeline.sink("out", numbers, format="parquet", path=made)
    options = hw.LineageOptions(location=f"{tmp_path}/pipelines")
    pipeline.run(spark, store=url, options=options, progress=False)
    with hw.connect(url) as lineage:
        (created,) = lineage.provenance(f"file/{made}")
        assert created.context == Context("invoices", "contract", "P10Y", "internal")
        assert created.agent.id == "tests/billing"


def test_a_drop_is_a_deletion(spark: SparkSession, tmp_path: Path) -> None:
    """Under the name that the job used, and under the table's name if only that is known."""
    url = f"sqlite:///{tmp_path}/lineage.db"
    spark.sql(f"CREATE DATABASE dropping LOCATION '{tmp_path}/tables'")
    try:
        spark.sql("CREATE TABLE dropping.late USING parquet AS SELECT 1 AS a")
        hw.enable(spark, store=url, namespace="tests", job="cleaning")
        try:
            spark.sql("CREATE TABLE dropping.own USING parquet AS SELECT 1 AS a")
            with hw.run("monthly", purpose="retention"):
                spark.sql("DROP TABLE dropping.own")
                spark.sql("DROP TABLE IF EXISTS dropping.own")
            spark.table("dropping.late").write.parquet(f"{tmp_path}/copy")
            assert hw.flush()
        finally:
            hw.disable(spark)
        hw.enable(spark, store=url, namespace="tests", job="cleaning")  # one that has never met the table
        try:
            spark.sql("DROP TABLE dropping.late")
            assert hw.flush()
        finally:
            hw.disable(spark)
    finally:
        spark.sql("DROP DATABASE dropping CASCADE")
    with hw.connect(url) as lineage:
        deleted, created = lineage.provenance(f"file/{tmp_path}/tables/own")
        assert [one.event for one in (deleted, created)] == ["deleted", "created"]
        assert (deleted.agent.type, deleted.agent.id) == ("job", "tests/monthly")
        assert (deleted.operation.type, deleted.operation.method) == ("write", "DROP TABLE")
        assert deleted.context == Context("retention", None, None, None)
        assert lineage.run(str(deleted.operation.parameters["run_id"])).run.job.name == "monthly"
        late = lineage.provenance(f"file/{tmp_path}/tables/late")
        assert [one.event for one in late] == ["deleted", "accessed"]
        assert late[0].agent.id == "tests/cleaning"
        below = lineage.downstream(f"file/{tmp_path}/tables/late").nodes
        assert [node.endpoint.name for node in below] == [f"{tmp_path}/copy"], "what came of it stays known"


def test_an_invalid_sensitivity_is_refused(spark: SparkSession) -> None:
    with (
        pytest.raises(ProvenanceInvalid, match="sensitivity_level must be one of"),
        hw.run("orders", sensitivity="top"),
    ):
        raise AssertionError("the block must not run")
