"""A pipeline on a cluster whose executors have no headwater, while a Python worker is killed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.cluster import ClusterUnavailable, SparkCluster

pytestmark = [pytest.mark.spark, pytest.mark.long]

JOB = """
import json, os, signal, sys
import headwater as hw
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

folder, disturbed = sys.argv[1], sys.argv[2] == "disturbed"
out = f"{folder}/{sys.argv[2]}"
spark = SparkSession.builder.appName("a-pipeline").getOrCreate()

def price(row):
    import importlib.util

    assert importlib.util.find_spec("headwater") is None
    if disturbed and row.id == 70:
        try:
            os.close(os.open(f"{out}-killed", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            pass
        else:
            os.kill(os.getpid(), signal.SIGKILL)
    if row.id % 10 == 3:
        raise ValueError("a three")
    if row.id % 10 == 4:
        return None
    return {"id": row.id, "k": row.k, "eur": row.id * 2}

p = hw.Pipeline("clustered", namespace="tests")
orders = p.source("orders", lambda spark: spark.read.parquet(f"{folder}/orders"), key="id")
names = p.source("names", lambda spark: spark.read.parquet(f"{folder}/names"), key="k")
valid = p.transform("valid", orders, lambda df: df.where("id >= 10"))
priced = p.map("priced", valid, price, schema="id long, k long, eur long", retries=1, on_error="dead_letter")
named = p.join("named", priced, names, on="k")
daily = p.aggregate("daily", named, by="name", total=F.sum("eur"))
p.sink("out", daily, format="parquet", path=f"{out}/daily")
result = p.run(
    spark,
    options=hw.LineageOptions.complete().with_(location=f"{out}/items"),
    store=f"sqlite:///{out}.db",
    progress=False,
)
items = [row.asDict(recursive=True) for row in result.items.orderBy("source", "key").collect()]
for item in items:
    for hop in item["hops"]:
        del hop["at"]
print(json.dumps({
    "items": items,
    "counts": {str(reason): count for reason, count in result.counts.items()},
    "letters": sum(reason == "DeadLettered" for reason in (item["reason"] for item in items)),
    "daily": sorted(map(list, spark.read.parquet(f"{out}/daily").collect())),
    "killed": os.path.exists(f"{out}-killed"),
}))
spark.stop()
"""

PREPARED = """
import sys
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
spark.range(100).selectExpr("id", "id % 4 as k").repartition(4).write.parquet(f"{sys.argv[1]}/orders")
spark.createDataFrame([(0, "even"), (1, "odd"), (2, "even"), (7, "none")], "k long, name string").write.parquet(
    f"{sys.argv[1]}/names"
)
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


def answer(cluster: SparkCluster, script: str, *arguments: str) -> Any:
    done = cluster.run(script, str(cluster.folder), *arguments)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1]) if done.stdout else None


def test_a_killed_worker_changes_nothing(cluster: SparkCluster) -> None:
    answer(cluster, PREPARED)
    calm, disturbed = (answer(cluster, JOB, how) for how in ("calm", "disturbed"))
    assert (calm["killed"], disturbed["killed"]) == (False, True)
    assert disturbed["items"] == calm["items"]
    assert disturbed["daily"] == calm["daily"] == by_hand()
    ids = [id for id in range(10, 100) if id % 10 not in (3, 4)]
    unnamed = sum(id % 4 == 3 for id in ids)
    assert calm["counts"] == {
        "DeadLettered": 9,
        "FilteredOut": 10 + 9 + unnamed + 1,
        "Emitted": len(ids) - unnamed + 3,
    }
    assert len(calm["items"]) == 104


def by_hand() -> list[list[Any]]:
    totals = {"even": 0, "odd": 0}
    for id in range(10, 100):
        if id % 10 not in (3, 4) and id % 4 != 3:
            totals["odd" if id % 4 == 1 else "even"] += id * 2
    return sorted(map(list, totals.items()))
