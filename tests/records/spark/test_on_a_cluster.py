"""Compaction and streaming on a cluster whose executors have no headwater."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headwater.records.archive.archive import Archive
from headwater.store.store import Store
from tests.records.oracle import LoadedRecord
from tests.records.spark.archive_checks import check_archive, load, stray_files
from tests.records.spark.test_building import chain, ledger
from tests.records.spark.test_stream import add_file, request
from tests.support.cluster import ClusterUnavailable, SparkCluster

pytestmark = [pytest.mark.spark, pytest.mark.long]

JOB = """
import json, sys
from datetime import UTC, datetime
from pyspark.sql import SparkSession
import headwater as hw
from headwater.records.compaction.compaction import compact
from headwater.records.compaction.archive_attempt import CompactionOptions
from headwater.records.query.sql import query_by_spark
from headwater.records.intake.stream import stream

def has_no_headwater(_):
    import importlib.util
    yield importlib.util.find_spec("headwater") is None

url, folder = sys.argv[1:]
spark = SparkSession.builder.getOrCreate()
assert all(spark.sparkContext.parallelize(range(4), 4).mapPartitions(has_no_headwater).collect())
done = []
with hw.connect(url) as lineage:
    now = datetime(2026, 11, 20, tzinfo=UTC)
    compacted = compact(lineage, spark, archive=f"{folder}/archive", options=CompactionOptions(big=30), now=now)
    query = stream(lineage, spark, f"{folder}/landing", checkpoint=f"{folder}/checkpoint", on_batch=done.append)
    query.awaitTermination()
    (answer,) = query_by_spark(lineage, spark, "SELECT count(*) FROM records").rows
print(json.dumps({"compacted": compacted.archived, "streamed": [each.archived for each in done], "asked": answer[0]}))
spark.stop()
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[SparkCluster]:
    cluster = SparkCluster()
    try:
        cluster.start()
    except ClusterUnavailable as unavailable:
        pytest.skip(f"not run: no Spark cluster: {unavailable}")
    yield cluster
    cluster.stop()


def test_executors_need_no_headwater(cluster: SparkCluster, durable_url: str, tmp_path: Path) -> None:
    hot = one_content_each([*ledger(5, 100), *chain("deep", 60)])
    landed = one_content_each(chain("landed", 20))
    add_file(tmp_path / "landing", "a.jsonl", *map(request, landed))
    with Store(durable_url) as store:
        load(store, hot)
        told = answer(cluster, durable_url, str(tmp_path))
        assert told == {"compacted": len(hot), "streamed": [len(landed)], "asked": len(hot) + len(landed)}
        check_archive(store, [*hot, *landed])
        assert stray_files(store) == []
        assert len(Archive(store._database).history()) == 2


def one_content_each(loaded: list[LoadedRecord]) -> list[Any]:
    """One content for each record."""
    return list({(one.record.root_id, one.record.node_id): one.record for one in loaded}.values())


def answer(cluster: SparkCluster, *arguments: str) -> Any:
    done = cluster.run(JOB, *arguments)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])
