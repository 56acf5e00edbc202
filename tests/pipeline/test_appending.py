"""After which nodes the output rows can be appended to earlier ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import Window
from pyspark.sql import functions as F

import headwater as hw
from headwater.errors import PipelineInvalid
from headwater.pipeline.items.appending import AppendCheck

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Build = Callable[[hw.Pipeline, Any, Any], Any]


def one(fn: Callable[[DataFrame], DataFrame]) -> Build:
    return lambda p, mapped, other: p.transform("t", mapped, fn)


def both(fn: Callable[[DataFrame, DataFrame], DataFrame]) -> Build:
    return lambda p, mapped, other: p.transform("t", [mapped, other], fn)


def joined(how: str, left: bool = True) -> Build:
    return lambda p, mapped, other: p.join("t", *((mapped, other) if left else (other, mapped)), on="id", how=how)


def checked(spark: SparkSession, build: Build) -> None:
    p = hw.Pipeline("p")
    rows = p.source("rows", lambda spark: spark.range(3))
    other = p.source("other", lambda spark: spark.range(5).selectExpr("id", "id as n"))
    mapped = p.map("mapped", rows, lambda row: row, schema="id long, tags array<string>")
    again = p.map("again", other, lambda row: row, schema="id long, n long")
    p.sink("out", build(p, mapped, again), path="nowhere")
    AppendCheck(spark, p.check(), "mapped").check()


@pytest.mark.parametrize(
    "build",
    [
        one(lambda df: df.where("id > 1").withColumn("x", F.col("id") + 1)),
        one(lambda df: df.select("id", F.explode("tags").alias("tag"))),
        one(lambda df: df.repartition(3).sort("id")),
        one(lambda df: df.union(df)),
        one(lambda df: df.where(F.col("id").isin([1, 2])).join(df.sparkSession.range(9), "id")),
        both(lambda df, other: df.join(other, "id", "left")),
        both(lambda df, other: df.join(other, "id", "left_anti")),
        both(lambda df, other: df.crossJoin(other.select("n"))),
        joined("inner"),
        joined("left"),
        joined("semi"),
        joined("right", left=False),
    ],
)
def test_operators_on_single_rows(spark: SparkSession, build: Build) -> None:
    checked(spark, build)


@pytest.mark.parametrize(
    ("build", "why"),
    [
        (lambda p, mapped, other: p.aggregate("t", mapped, by="id", n=F.count("*")), "one row of many"),
        (one(lambda df: df.groupBy("id").count()), "Aggregate"),
        (one(lambda df: df.agg(F.count("*").alias("n"))), "Aggregate"),
        (one(lambda df: df.distinct()), "Distinct|Deduplicate"),
        (one(lambda df: df.dropDuplicates(["id"])), "Deduplicate"),
        (one(lambda df: df.limit(2)), "Limit"),
        (one(lambda df: df.withColumn("n", F.row_number().over(Window.orderBy("id")))), "Window"),
        (one(lambda df: df.mapInArrow(lambda batches: batches, "id long, tags array<string>")), "MapInArrow"),
        (one(lambda df: df.alias("a").join(df.alias("b"), "id")), "Join"),
        (both(lambda df, other: df.select("id").union(other.select("id"))), "do not come from the replayed ones"),
        (both(lambda df, other: other.join(df, "id", "left_semi")), "Join"),
        (both(lambda df, other: other), "do not come from the replayed ones"),
        (joined("right"), "do not come from the replayed ones"),
        (joined("full"), "do not come from the replayed ones"),
        (joined("anti", left=False), "Join"),
        (joined("semi", left=False), "Join"),
    ],
)
def test_operators_on_several_rows(spark: SparkSession, build: Build, why: str) -> None:
    with pytest.raises(PipelineInvalid, match=f"node 't': .*({why})") as refused:
        checked(spark, build)
    assert "mode=" in str(refused.value)


def test_a_subquery_over_the_rows(spark: SparkSession) -> None:
    def fn(df: DataFrame) -> DataFrame:
        df.createOrReplaceTempView("seen_by_itself")
        return df.sparkSession.sql("select * from seen_by_itself where id = (select max(id) from seen_by_itself)")

    with pytest.raises(PipelineInvalid, match=r"node 't'.*subquery"):
        checked(spark, one(fn))
