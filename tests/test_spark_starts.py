"""The set-up provides a working Spark: the Java that ./dev chose, this Python on both sides, Arrow in between."""

import os
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import why_missing

if TYPE_CHECKING:
    import pandas
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def spark() -> Iterator["SparkSession"]:
    reason = why_missing("java")
    if reason is not None:
        pytest.skip(f"not run: no Java 17 or 21: {reason}")
    from pyspark.sql import SparkSession

    found = SparkSession.getActiveSession()  # another test's: not ours to stop
    session = found or (
        SparkSession.builder.master("local[2]")
        .appName("headwater-set-up")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    yield session
    if found is None:
        session.stop()


def test_counts_and_groups(spark: "SparkSession") -> None:
    frame = spark.range(1000).selectExpr("id", "id % 7 as bucket")
    assert frame.count() == 1000
    assert frame.groupBy("bucket").count().count() == 7


def test_java_is_the_chosen_one(spark: "SparkSession") -> None:
    jvm = spark.sparkContext._jvm
    assert jvm is not None
    assert jvm.java.lang.System.getProperty("java.specification.version") in ("17", "21")
    home = os.environ.get("JAVA_HOME")
    if home is not None:  # as ./dev sets it; its bin/java may be a shim before the real one
        assert os.path.exists(os.path.join(home, "bin", "java"))


def test_python_workers_are_this_python(spark: "SparkSession") -> None:
    versions = spark.sparkContext.parallelize([0], 1).map(lambda _: tuple(sys.version_info[:3])).collect()
    assert versions == [tuple(sys.version_info[:3])]


def test_arrow_carries_rows_both_ways(spark: "SparkSession") -> None:
    def unchanged(batches: Iterator[Any]) -> Iterator[Any]:
        return batches

    rows = spark.range(5).mapInArrow(unchanged, "id long").collect()
    assert sorted(row["id"] for row in rows) == [0, 1, 2, 3, 4]


def test_pandas_functions_run(spark: "SparkSession") -> None:
    def doubled(batches: Iterable["pandas.DataFrame"]) -> Iterator["pandas.DataFrame"]:
        for batch in batches:
            yield batch * 2

    rows = spark.range(5).mapInPandas(doubled, "id long").collect()
    assert sorted(row["id"] for row in rows) == [0, 2, 4, 6, 8]
