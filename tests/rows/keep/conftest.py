"""Spark under capture, with a few files to read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.capture.watching import Watch, watched
from tests.rows.keep.keeping import Keeping

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def data(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`items` and `groups` as Parquet, and as temporary views of the same names."""
    folder = tmp_path_factory.mktemp("data")
    items = spark.range(40).selectExpr("id", "id % 5 AS k", "concat('s', id) AS s", "id * 1.5D AS v")
    items.repartition(3).write.parquet(f"{folder}/items")
    spark.range(4).selectExpr("id AS k", "concat('g', id) AS g").write.parquet(f"{folder}/groups")
    for name in ("items", "groups"):
        spark.read.parquet(f"{folder}/{name}").createOrReplaceTempView(name)
    return folder


@pytest.fixture(scope="module")
def watch(spark: SparkSession, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watch]:
    with watched(spark, tmp_path_factory.mktemp("watch")) as found:
        yield found


@pytest.fixture
def keeping(watch: Watch, tmp_path: Path) -> Keeping:
    return Keeping(watch, tmp_path)
