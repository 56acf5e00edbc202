"""Spark, with three small tables that the cases are about."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.support.spark import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES = {
    "orders": "id int, customer_id int, amount double, price double, qty int, status string, day date, "
    "items array<struct<sku: string, qty: int, price: double>>, "
    "address struct<city: string, zip: string, geo: struct<lat: double, lon: double>>, tags map<string, string>",
    "customers": "id int, name string, email string, country string",
    "payments": "order_id int, paid double, method string",
}


@pytest.fixture(scope="session")
def plain_spark() -> Iterator[SparkSession]:
    with spark_session() as session:
        yield session


@pytest.fixture(scope="session")
def spark(plain_spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """With the tables, in a database of their own."""
    folder = tmp_path_factory.mktemp("plan")
    plain_spark.sql(f"CREATE DATABASE plan_tests LOCATION '{folder}'")
    plain_spark.sql("USE plan_tests")
    for name, columns in TABLES.items():
        plain_spark.sql(f"CREATE TABLE {name} ({columns}) USING parquet")
    plain_spark.sql(
        "CREATE VIEW big_orders AS SELECT id AS order_id, amount * 2 AS doubled FROM orders WHERE amount > 9"
    )
    plain_spark.table("orders").where("qty > 1").createOrReplaceTempView("recent")
    yield plain_spark
    plain_spark.sql("USE default")
    plain_spark.sql("DROP DATABASE plan_tests CASCADE")
    plain_spark.catalog.dropTempView("recent")
