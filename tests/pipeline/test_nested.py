"""A pipeline as a node of another one: its items pass through it as through any other nodes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import headwater as hw
from tests.pipeline.comparison import check
from tests.pipeline.model import Behaviour, Step
from tests.pipeline.random_pipelines import shipped

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = ((0, 1, 1), (1, 1, 3), (2, 2, 4), (3, None, 5), (4, 2, 10))


def test_nested(spark: SparkSession, tmp_path: Path) -> None:
    inner = hw.Pipeline("inner", namespace="tests")
    inner.source("in", lambda spark: spark.range(0))
    inner.map("called", "in", shipped(Behaviour(False, 1)), schema="k long, v long", retries=1, on_error="dead_letter")
    inner.sink("res", "called", format="parquet", path=str(tmp_path / "never"))
    p = hw.Pipeline("outer", namespace="tests")
    p.source("a", lambda spark: spark.createDataFrame(list(ROWS), "id long, k long, v long"))
    sub = p.pipeline("sub", inner, {"in": "a"}, outputs=["res"])
    p.transform("even", sub["res"], lambda df: df.where("v % 2 = 0"))
    p.sink("out", "even", format="parquet", path=str(tmp_path / "out"))
    steps = [
        Step("a", "source", (), ("id", "k", "v"), ROWS, "memory"),
        Step("sub/in", "passage", ("a",), ("id", "k", "v")),
        Step("sub/called", "map", ("sub/in",), ("k", "v"), how="dead_letter", retries=1),
        Step("sub/res", "passage", ("sub/called",), ("k", "v")),
        Step("even", "filter", ("sub/res",), ("k", "v"), how="even"),
        Step("out", "sink", ("even",), ("k", "v")),
    ]
    result = check(spark, steps, p, tmp_path)
    assert not (tmp_path / "never").exists()
    longest = max((row["path"] for row in result.items.collect()), key=len)
    assert longest == [
        f"{p.id}::a",
        f"{inner.id}::in",
        f"{inner.id}::called",
        f"{inner.id}::res",
        f"{p.id}::even",
        f"{p.id}::out",
    ]
    assert {hop.pipeline for row in result.items.collect() for hop in row["hops"]} == {"inner", "outer"}
