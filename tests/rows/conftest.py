"""One Spark for the tests of rows, and two small tables whose rows are known by heart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.spark import TINY_DATA, spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    with spark_session(TINY_DATA) as session:
        yield session


@pytest.fixture(scope="session")
def shop(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`orders` (id, customer, amount) and `customers` (customer, name): one has no order, one order no customer."""
    folder = tmp_path_factory.mktemp("shop")
    orders = [(1, "a", 10), (2, "a", 20), (3, "b", 5), (4, "b", None), (5, "z", 7), (6, None, 3)]
    frame = spark.createDataFrame(orders, "id int, customer string, amount int")
    frame.repartition(2, "id").write.parquet(str(folder / "orders"))
    customers = spark.createDataFrame([("a", "Ann"), ("b", "Bob"), ("c", "Cid")], "customer string, name string")
    customers.coalesce(1).write.parquet(str(folder / "customers"))
    return folder
