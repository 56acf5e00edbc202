"""What Spark reads and writes has its provenance by itself, and a purpose where the run names one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import headwater as hw
from headwater.errors import ProvenanceInvalid
from headwater.model.provenance import Context

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_reads_and_writes_are_known_by_themselves(spark: SparkSession, tmp_path: Path) -> None:
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


def test_a_run_cannot_be_as_sensitive_as_nothing_is(spark: SparkSession) -> None:
    with (
        pytest.raises(ProvenanceInvalid, match="sensitivity_level must be one of"),
        hw.run("orders", sensitivity="top"),
    ):
        raise AssertionError("the block must not run")
