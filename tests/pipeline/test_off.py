"""With lineage off a pipeline is the same Spark plan as by hand; with it on, user code sees no trace of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import headwater as hw
from headwater.errors import PipelineError
from headwater.pipeline.run import steps
from headwater.pipeline.run.execution import PipelineExecution
from headwater.pipeline.run.result import Result
from headwater.pipeline.run.workspace import Workspace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def plan(frame: DataFrame) -> str:
    java: Any = frame
    return str(java._jdf.queryExecution().optimizedPlan().canonicalized().toString())


def seen(frame: DataFrame) -> DataFrame:
    assert not [column for column in frame.columns if "__hw_" in column]
    assert not [column for column in frame.where("true").columns if "__hw_" in column]
    return frame


def shop(folder: Path, name: str) -> hw.Pipeline:
    from pyspark.sql import functions as F

    def twice(row: Any) -> dict[str, Any]:
        assert not [column for column in row.asDict() if "__hw_" in column]
        return {"id": row.id, "k": row.k, "double": row.id * 2}

    p = hw.Pipeline(name, namespace="tests")
    p.source("numbers", lambda spark: spark.read.parquet(str(folder / "in")), key="id")
    p.source("names", lambda spark: spark.createDataFrame([(1, "one"), (2, "two")], "k long, name string"))
    p.transform("some", "numbers", lambda df: seen(df).where("id > 3"))
    p.map("twice", "some", twice, schema="id long, k long, double long")
    p.join("named", "twice", "names", on="k", how="left")
    p.transform("looked at", "named", lambda df: seen(df).select("*"))
    p.aggregate("sums", "looked at", by="name", total=F.sum("double"))
    p.transform("last", "sums", seen)
    p.sink("out", "last", format="parquet", path=str(folder / name))
    p.sink("all", "named", format="json", path=str(folder / f"{name} all"))
    return p


@pytest.fixture
def folder(spark: SparkSession, tmp_path: Path) -> Path:
    spark.range(20).selectExpr("id", "id % 3 as k").write.parquet(str(tmp_path / "in"))
    return tmp_path


def test_off_is_the_plan_by_hand(spark: SparkSession, folder: Path) -> None:
    from pyspark.sql import functions as F

    p = shop(folder, "off")
    execution = PipelineExecution(
        spark, p.check(), hw.LineageOptions.off(), Workspace(spark, str(folder / "items"), "run", p.id)
    )
    execution.run()
    numbers, names = execution.frames["numbers"], execution.frames["names"]
    function = steps.row_function(_node(p), ["id", "k"], steps.schema_of(_node(p), spark), spark)
    by_hand = (
        numbers.where("id > 3")
        .mapInArrow(function.map_rows, "id long, k long, double long")
        .join(names, on=["k"], how="left")
        .select("*")
        .groupBy("name")
        .agg(F.sum("double").alias("total"))
    )
    assert _bare(plan(execution.frames["last"])) == _bare(plan(by_hand))
    assert not (folder / "items").exists()


def _node(p: hw.Pipeline) -> Any:
    return next(node for node in p.nodes if node.name == "twice")


def _bare(text: str) -> str:
    """Without the number that Spark gives to a Python function."""
    import re

    return re.sub(r"plainly\(.*?\)(#\d+)?", "plainly", text)


def check_nothing_followed(result: Result) -> None:
    assert result.counts == {}
    with pytest.raises(PipelineError, match="followed no items"):
        _ = result.items
    assert {node.name for node in result.report.nodes if node.seconds is not None} >= {"numbers", "twice", "out"}


@pytest.mark.parametrize("mode", ["full", pytest.param("sampled", marks=pytest.mark.long), "key", "off"])
def test_user_code_sees_no_added_columns(spark: SparkSession, folder: Path, mode: str) -> None:
    options = hw.LineageOptions(mode=mode, sample_every=3, location=str(folder / "items"))
    result = shop(folder, mode).start(spark, options=options).wait()
    assert spark.read.parquet(str(folder / mode)).columns == ["name", "total"]
    totals = {row["name"]: row["total"] for row in spark.read.parquet(str(folder / mode)).collect()}
    assert totals == {None: 120, "one": 138, "two": 110}
    assert set(spark.read.json(str(folder / f"{mode} all")).columns) == {"k", "id", "double", "name"}
    assert (mode in ("full", "sampled")) == bool(result.counts)
    if mode == "off":
        check_nothing_followed(result)


@pytest.mark.long
def test_off_needs_no_location(spark: SparkSession, folder: Path) -> None:
    check_nothing_followed(shop(folder, "nothing").start(spark, options=hw.LineageOptions.off()).wait())
