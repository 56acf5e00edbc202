"""Items have the same ids in other runs, other layouts and concurrent runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import headwater as hw
from headwater.pipeline.run.result import Result
from tests.pipeline.comparison import FULL, run

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SAMPLED = FULL.with_(mode="sampled", sample_every=10)


def ids(result: Result) -> set[str]:
    return {row[0] for row in result.items.select("correlation_id").collect()}


def numbers(spark: SparkSession, path: Path, partitions: int, count: int = 400) -> None:
    spark.range(count).selectExpr("id", "id % 5 as k").repartition(partitions).write.mode("overwrite").parquet(
        str(path)
    )


def of_path(folder: Path, path: Path, key: str | None = "id", name: str = "same") -> hw.Pipeline:
    p = hw.Pipeline(name, namespace="tests")
    p.source("numbers", lambda spark: spark.read.parquet(str(path)), key=key)
    p.transform("odd", "numbers", lambda df: df.where("id % 2 = 1"))
    p.sink("out", "odd", format="parquet", path=str(folder / "out"), mode="overwrite")
    return p


@pytest.mark.parametrize("layouts", [(3, 7), pytest.param((3, 3, 7, 1), marks=pytest.mark.long)])
def test_sampled_items_are_the_same_in_every_run_and_layout(
    spark: SparkSession, tmp_path: Path, layouts: tuple[int, ...]
) -> None:
    pipeline = of_path(tmp_path, tmp_path / "in")
    runs = []
    for partitions in layouts:
        numbers(spark, tmp_path / "in", partitions)
        runs.append(ids(run(spark, pipeline, tmp_path, SAMPLED)))
    one = runs[0]
    assert all(again == one for again in runs)
    assert 15 < len(one) < 80
    everyone = ids(run(spark, pipeline, tmp_path))
    assert one < everyone
    assert len(everyone) == 400


def test_random_samples_differ(spark: SparkSession, tmp_path: Path) -> None:
    numbers(spark, tmp_path / "in", 2)
    options = SAMPLED.with_(deterministic_sampling=False)
    one, other = (ids(run(spark, of_path(tmp_path, tmp_path / "in"), tmp_path, options)) for _ in range(2))
    assert one != other
    assert one
    assert other


def test_rows_without_a_file_with_duplicates(spark: SparkSession, tmp_path: Path) -> None:
    """They are identified by their content, and equal ones by a number: the same ids each time."""
    rows = [(1, "a"), (1, "a"), (1, "a"), (2, None), (2, None), (None, "b")]

    def read(spark: SparkSession) -> DataFrame:
        return spark.createDataFrame(rows, "n long, word string").repartition(3)

    p = hw.Pipeline("memory", namespace="tests")
    p.source("rows", read)
    p.transform("some", "rows", lambda df: df.where("n = 1"))
    p.sink("out", "some", format="parquet", path=str(tmp_path / "out"), mode="overwrite")
    one, again = (run(spark, p, tmp_path) for _ in range(2))
    assert ids(one) == ids(again)
    assert len(ids(one)) == 6
    assert {str(reason): count for reason, count in one.counts.items()} == {"FilteredOut": 3, "Emitted": 3}


def test_two_sources_over_one_path(spark: SparkSession, tmp_path: Path) -> None:
    numbers(spark, tmp_path / "in", 2, 20)
    p = of_path(tmp_path, tmp_path / "in", None)
    p.source("again", lambda spark: spark.read.parquet(str(tmp_path / "in")), key="id")
    p.transform("few", "again", lambda df: df.where("id < 4").withColumnRenamed("k", "k2"))
    p.join("both", "odd", "few", on="id")
    p.sink("joined", "both", format="parquet", path=str(tmp_path / "joined"))
    found = run(spark, p, tmp_path).items
    ended = {(row[0], row[1]): row[2] for row in found.groupBy("source", "node").count().collect()}
    assert ended == {
        ("numbers", "odd"): 10,
        ("numbers", "out"): 8,
        ("numbers", "joined"): 2,
        ("again", "few"): 16,
        ("again", "both"): 2,
        ("again", "joined"): 2,
    }


@pytest.mark.parametrize("count", [3, pytest.param(8, marks=pytest.mark.long)])
def test_concurrent_runs_are_independent(spark: SparkSession, tmp_path: Path, count: int) -> None:
    numbers(spark, tmp_path / "in", 2, 40)

    def times(factor: int) -> Callable[[Any], Any]:
        return lambda row: {"id": row.id, "product": row.id * factor}

    started = []
    for number in range(count):
        p = hw.Pipeline(f"p{number}", namespace="tests")
        p.source("numbers", lambda spark: spark.read.parquet(str(tmp_path / "in")), key="id")
        p.transform("some", "numbers", lambda df, number=number: df.where(f"id % 8 = {number}"))
        p.map("times", "some", times(number), schema="id long, product long")
        p.sink("out", "times", format="parquet", path=str(tmp_path / f"out{number}"))
        options = FULL.with_(location=str(tmp_path / "items"))
        started.append((number, p, p.start(spark, options=options)))
    for number, p, each in started:
        result = each.wait()
        rows = result.items.collect()
        assert len(rows) == 40
        reached = {json.loads(row["key"])["id"] for row in rows if row["node"] == "out"}
        assert reached == {id for id in range(40) if id % 8 == number}
        assert {hop["pipeline_id"] for row in rows for hop in row["hops"]} == {p.id}
        assert {segment.split("::")[0] for row in rows for segment in row["path"]} == {p.id}
        written = spark.read.parquet(str(tmp_path / f"out{number}")).collect()
        assert {tuple(row) for row in written} == {(id, id * number) for id in reached}
