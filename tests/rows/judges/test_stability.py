"""The same rows under the same ids, however Spark runs the query: a trace is a fact about data, not about a run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.rows.judges.lab import Lab, write
from tests.rows.judges.occurrences import Named, occurrence_names
from tests.rows.judges.small_tables import SCHEMAS, small_tables
from tests.rows.judges.test_tpch import query as tpch_query
from tests.rows.judges.tpch_tables import tpch_tables
from tests.rows.judges.traced import Traced, trace
from tests.support.cluster import ClusterUnavailable, SparkCluster

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEED = 3
QUERIES = {
    "floating sums": "SELECT t.b, avg(t.id / 7) AS m FROM t JOIN u ON t.a = u.a GROUP BY t.b",
    "set operations": "SELECT a FROM t UNION ALL SELECT a FROM u INTERSECT ALL SELECT a FROM v",
    "a limit": "SELECT a, b FROM t ORDER BY a, b LIMIT 3",
    "a window": "SELECT id, sum(b) OVER (PARTITION BY a ORDER BY id) AS s FROM t",
    "nested": "SELECT n, count(*) AS m FROM (SELECT a, count(*) AS n FROM v GROUP BY a) GROUP BY n",
}
WAYS = [
    {"spark.sql.adaptive.enabled": "true"},
    {"spark.sql.adaptive.enabled": "false"},
    {"spark.sql.shuffle.partitions": "1"},
    {"spark.sql.shuffle.partitions": "8"},
    {"spark.sql.shuffle.partitions": "200"},
    {"spark.sql.autoBroadcastJoinThreshold": "-1"},
    {"spark.sql.files.maxPartitionBytes": "500"},  # files in several splits
]

# Each of them at once with others, where there is less time. A window alone has one shuffle for 200 partitions, and a
# limit the least to do when nothing has changed.
TOGETHER = [
    {**WAYS[0], **WAYS[2], **WAYS[5]},
    {**WAYS[1], **WAYS[3], **WAYS[6]},
]
MORE: dict[str, list[dict[str, str]]] = {"a window": [WAYS[4]], "a limit": [{}]}


def told(traced: Traced) -> tuple[object, ...]:
    """Without the values, of which floating sums may differ."""
    return sorted(out_id for _, out_id in traced.rows), traced.pairs, traced.grains


def trace_under(spark: SparkSession, settings: dict[str, str], lab: Lab, named: Named) -> Traced:
    before = {name: spark.conf.get(name) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        return trace(lab.frame(named), named.tables)
    finally:
        for name, old in before.items():
            spark.conf.set(name, str(old))


@pytest.mark.parametrize("one_by_one", [False, pytest.param(True, marks=pytest.mark.long)], ids=["together", "each"])
@pytest.mark.parametrize("title", QUERIES)
def test_however_spark_runs(spark: SparkSession, tmp_path: Path, title: str, one_by_one: bool) -> None:
    lab = Lab.of(spark, tmp_path, small_tables(SEED))
    named = occurrence_names(QUERIES[title], SCHEMAS)
    first = trace(lab.frame(named), named.tables)
    assert first.rows
    for settings in [{}, *WAYS] if one_by_one else [*TOGETHER, *MORE.get(title, [])]:
        assert told(trace_under(spark, settings, lab, named)) == told(first), settings


@pytest.mark.long
@pytest.mark.parametrize("name", ["q03", "q09", "q13", "q21"])
def test_however_spark_runs_tpch(spark: SparkSession, tmp_path: Path, name: str) -> None:
    lab = Lab.of(spark, tmp_path, tpch_tables())
    named = tpch_query(name)
    first = trace(lab.frame(named), named.tables)
    for settings in WAYS:
        assert told(trace_under(spark, settings, lab, named)) == told(first), settings


# ------------------------------------------------------------------------------------------ on a cluster

# Each row takes a moment, so that there is time to end an executor in the middle of the work.
JOB = """
import json, sys, time
import headwater as hw
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

folder = sys.argv[1]
spark = SparkSession.builder.config("spark.sql.files.maxPartitionBytes", "2000").getOrCreate()

@F.udf("long")
def slowly(number):
    time.sleep(0.02)
    return number

lines = spark.read.parquet(f"{folder}/lineitem").withColumn("slow", slowly("l_orderkey"))
orders = spark.read.parquet(f"{folder}/orders")
joined = lines.join(orders, F.col("slow") == F.col("o_orderkey"))
print("tracing", flush=True)
found = hw.trace(joined.groupBy("o_orderpriority").agg(F.sum("l_quantity").alias("n")))
pairs = [
    sorted((str(out_id), file.rsplit("/")[-1], row) for out_id, file, row in each.pairs.collect())
    for each in found.occurrences
]
rows = sorted((row[0], str(row[1]), str(row[2])) for row in found.rows.collect())
print(json.dumps([rows, pairs]), flush=True)
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


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="not run: processes are looked up in /proc")
def test_when_an_executor_dies(cluster: SparkCluster) -> None:
    for name, table in tpch_tables().items():
        write(table, cluster.folder / "shop" / name)
    undisturbed = run_job(cluster, disturbed=False)
    assert run_job(cluster, disturbed=True) == undisturbed
    rows, (lines, orders) = undisturbed
    assert len(rows) == 5
    assert len(lines) > len(orders) > 0


def run_job(cluster: SparkCluster, disturbed: bool) -> Any:
    """What the job prints; if it is disturbed, an executor is killed while it traces."""
    script = cluster.folder / "job.py"
    script.write_text(JOB)
    command = [sys.executable, str(script), str(cluster.folder / "shop")]
    with subprocess.Popen(
        command, cwd=cluster.folder, env=cluster.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as driver:
        assert driver.stdout is not None
        assert driver.stdout.readline() == "tracing\n", driver.communicate()[1][-3000:]
        if disturbed:
            os.kill(at_work(cluster.folder), signal.SIGKILL)
        out, errors = driver.communicate(timeout=300)
    assert driver.returncode == 0, errors[-3000:]
    return json.loads(out)


def at_work(folder: Path) -> int:
    """An executor that has been at it for a while."""
    for _ in range(100):
        if executors_in(folder):
            time.sleep(5)
            return executors_in(folder)[0]
        time.sleep(0.2)
    raise AssertionError("no executor was started")


def executors_in(folder: Path) -> list[int]:
    """Those that this cluster's workers started: Java processes that work in its folders."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (
                folder in Path(os.readlink(process / "cwd")).parents
                and Path(os.readlink(process / "exe")).name == "java"
            ):
                found.append(int(process.name))
        except OSError:  # it ended, or is not ours to look at
            continue
    return sorted(found)
