"""Spark with a small shop: files and tables that the cases read, made before anybody watches."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.capture.shop import make_shop
from tests.capture.watching import Watch, watched
from tests.support.spark import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Plans are those of Spark's own settings, adaptive ones among them."""
    with spark_session() as session:
        yield session


@pytest.fixture(scope="session")
def shop(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("shop")
    make_shop(spark, folder)
    yield folder
    spark.sql("DROP DATABASE shop CASCADE")


@pytest.fixture(scope="module")
def watch(spark: SparkSession, shop: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watch]:
    """One capture for the tests of a module."""
    with watched(spark, tmp_path_factory.mktemp("watch")) as found:
        yield found


@pytest.fixture
def here(spark: SparkSession, watch: Watch, tmp_path: Path) -> Iterator[Path]:
    """A folder and, lying in it, a database `cases` that is the current one. Nothing is told of their making."""
    spark.sql(f"CREATE DATABASE cases LOCATION '{tmp_path}'")
    spark.sql("USE cases")
    watch.new_events()
    watch.forget()
    yield tmp_path
    spark.catalog.clearCache()
    spark.sql("USE default")
    spark.sql("DROP DATABASE cases CASCADE")
    watch.new_events()
