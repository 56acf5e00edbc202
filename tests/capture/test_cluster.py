"""The cluster that capture is tested on: its executors are other processes, and have no headwater."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import headwater as hw
from tests.support.cluster import ClusterUnavailable, SparkCluster

pytestmark = pytest.mark.spark

# One application, as each has a driver and two executors to start: first as it is without capture, then with it.
JOB = """
import json, os, sys, time
import headwater as hw
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

folder = sys.argv[1]

def where_am_i(number):
    import importlib.util
    import time

    time.sleep(0.5)  # long enough for the other executor to take a task too
    return os.environ["SPARK_EXECUTOR_DIRS"], os.getppid(), importlib.util.find_spec("headwater") is None

spark = SparkSession.builder.getOrCreate()
deadline = time.monotonic() + 180
while spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() < 3:  # the driver and two executors
    assert time.monotonic() < deadline, "an executor did not start"
    time.sleep(0.1)
seen = spark.sparkContext.parallelize(range(8), 8).map(where_am_i).collect()
spark.range(10).selectExpr("id", "id % 2 as odd").write.parquet(f"{folder}/table")
rows = spark.read.parquet(f"{folder}/table").groupBy("odd").count().count()

try:
    spark.sparkContext.parallelize([0], 1).map(lambda number: __import__("headwater").__name__).collect()
    failure = None
except Exception as error:
    failure = str(error)

hw.enable(spark, store=f"sqlite:///{folder}/lineage.db", spool=f"{folder}/spool")

@F.udf("long")
def twice(number):
    return number * 2

spark.range(100).selectExpr("id", "id % 4 as k").write.parquet(f"{folder}/numbers")
numbers = spark.read.parquet(f"{folder}/numbers")
numbers.select("k", twice("id").alias("t")).groupBy("k").agg(F.sum("t").alias("total")).write.parquet(f"{folder}/sums")
total = spark.read.parquet(f"{folder}/sums").agg(F.sum("total")).first()[0]

master = spark.sparkContext.master
print(json.dumps(dict(master=master, driver=os.getpid(), rows=rows, seen=seen, failure=failure, total=total)))
spark.stop()
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[SparkCluster]:
    cluster = SparkCluster()
    try:
        cluster.start()
    except ClusterUnavailable as unavailable:
        pytest.skip(f"not run: no Spark cluster: {unavailable}")
    folder, daemons = cluster.folder, daemons_in(cluster.folder)
    yield cluster
    cluster.stop()
    assert not folder.exists()
    assert not any(Path(f"/proc/{daemon}").exists() for daemon in daemons)


@pytest.fixture(scope="module")
def answer(cluster: SparkCluster) -> dict[str, Any]:
    done = cluster.run(JOB, str(cluster.folder))
    assert done.returncode == 0, done.stderr[-3000:]
    answer: dict[str, Any] = json.loads(done.stdout)  # capture prints nothing beside it
    return answer


def test_a_plain_session_is_of_the_cluster(cluster: SparkCluster, answer: dict[str, Any]) -> None:
    assert answer["master"] == cluster.master_url
    assert answer["rows"] == 2


def test_work_is_done_in_both_executors(answer: dict[str, Any]) -> None:
    assert len({folders for folders, _, _ in answer["seen"]}) == 2
    assert answer["driver"] not in {parent for _, parent, _ in answer["seen"]}


def test_executors_cannot_import_headwater(answer: dict[str, Any]) -> None:
    assert all(absent for _, _, absent in answer["seen"])
    assert "No module named 'headwater'" in answer["failure"]


def test_capture_needs_nothing_on_the_executors(cluster: SparkCluster, answer: dict[str, Any]) -> None:
    assert answer["total"] == 9900
    with hw.connect(f"sqlite:///{cluster.folder}/lineage.db") as lin:
        (node,) = [node for node in lin.upstream(f"{cluster.folder}/sums", column="total").nodes if node.part == "id"]
        assert (node.endpoint.name, node.dependency) == (f"{cluster.folder}/numbers", "DIRECT")
        assert {run.state for run in lin.runs()} == {"COMPLETE"}
        detail = lin.run(lin.runs(dataset=f"{cluster.folder}/sums")[0].run_id)
    (read,), (written,) = detail.inputs, detail.outputs
    assert read.io_facets["inputStatistics"]["rowCount"] == 100
    assert written.io_facets["outputStatistics"]["rowCount"] == 4


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="not run: processes are looked up in /proc")
def test_master_and_workers_are_processes_of_their_own(cluster: SparkCluster) -> None:
    """That none of them outlives the cluster is asserted when it is taken down."""
    assert len(daemons_in(cluster.folder)) == 3


def daemons_in(folder: Path) -> list[int]:
    """Java processes whose working directory is the cluster's."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if Path(os.readlink(process / "cwd")) == folder and Path(os.readlink(process / "exe")).name == "java":
                found.append(int(process.name))
        except OSError:  # it ended, or is not ours to look at
            continue
    return found
