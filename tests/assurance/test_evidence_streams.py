"""The evidence of a streaming query when it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import headwater as hw
from tests.assurance.evidence_jobs import Json, differing, facets_of, manifest, proving
from tests.capture.telling import Run
from tests.capture.watching import Watch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

Change = Callable[["DataFrame"], "DataFrame"]


@pytest.fixture(scope="module")
def watch(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watch]:
    with proving(spark, tmp_path_factory.mktemp("watch")) as found:
        yield found


@pytest.fixture
def orders(spark: SparkSession, watch: Watch, tmp_path: Path) -> Path:
    spark.range(10).selectExpr("id", "id * 10.5D as amount").write.parquet(f"{tmp_path}/orders")
    watch.new_events()
    return tmp_path


def cheap(orders: DataFrame) -> DataFrame:
    return orders.where("id < 5").selectExpr("id", "cast(amount as int) as amount")


def dear(orders: DataFrame) -> DataFrame:
    return orders.where("id >= 5").selectExpr("id", "cast(amount as int) as amount")


def streamed(
    spark: SparkSession, watch: Watch, folder: Path, place: int, change: Change = cheap, *, by_hand: bool = False
) -> tuple[Run, Json]:
    read = spark.readStream.schema("id long, amount double").option("maxFilesPerTrigger", 1).parquet(f"{folder}/orders")
    writer: DataStreamWriter = change(read).writeStream.option("checkpointLocation", f"{folder}/checkpoint{place}")
    if by_hand:
        writer = writer.foreachBatch(lambda batch, _id: batch.write.mode("append").parquet(f"{folder}/out"))
    else:
        writer = writer.format("parquet").option("path", f"{folder}/out{place}")
    writer.trigger(availableNow=True).start().awaitTermination()
    (run,) = watch.new_runs()
    return run, facets_of(run)


@pytest.mark.parametrize("by_hand", [False, True])
def test_the_evidence_of_a_stream(spark: SparkSession, watch: Watch, orders: Path, *, by_hand: bool) -> None:
    run, facets = streamed(spark, watch, orders, 1, by_hand=by_hand)
    assert run.states[-1] == "COMPLETE"
    told = facets["cdme.runManifest"]
    assert (told["inputChecksums"], told["outputChecksums"]) == ({}, {})
    assert {name.rpartition("/")[2][:3] for name in told["withoutChecksum"]} == {"ord", "out"}
    assert "batch by batch" in " ".join(told["withoutChecksum"].values())
    lossy = [each["column"] for each in facets["cdme.typeUnification"]["morphismReports"] if each["lossy"]]
    assert lossy == ["amount"], "also where it was done before the function got the batch"
    assert "cdme.accountingLedger" not in facets
    with hw.connect("memory://") as lin:
        lin.ingest_many(watch.all_events)
        (certificate,) = lin.certificates(run_id=run.run_id)
        lin.verify()
    assert certificate.holds
    if by_hand:  # the same path, so the same design; another query is another design
        _, again = streamed(spark, watch, orders, 2, by_hand=True)
        assert differing(manifest(facets), manifest(again)) == set()
        _, other = streamed(spark, watch, orders, 3, dear, by_hand=True)
        assert differing(manifest(facets), manifest(other)) == {"designHash"}


def test_a_failing_stream(spark: SparkSession, watch: Watch, orders: Path) -> None:
    broken = "cast(raise_error('not a number') as double) as amount"
    with pytest.raises(Exception, match="not a number"):
        streamed(spark, watch, orders, 1, lambda df: df.selectExpr("id", broken))
    (run,) = watch.new_runs()
    assert run.states[-1] == "FAIL"
