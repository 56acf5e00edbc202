"""The data that the cases read: two files, the same as tables, partitioned folders and a view."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ORDERS = [(1, 1, 5.0, "2026-11-14"), (2, 1, 7.5, "2026-11-14"), (3, 2, 2.5, "2026-11-15"), (4, 2, 10.0, "2026-11-15")]
CUSTOMERS = [(1, "Ada", "GB"), (2, "Emmy", "DE")]
DERBY = "jdbc:derby:memory:shop;create=true"


def make_files(spark: SparkSession, folder: Path) -> tuple[DataFrame, DataFrame]:
    """Orders and customers, as files and as tables."""
    orders = spark.createDataFrame(ORDERS, "id int, customer int, amount double, day string").coalesce(1)
    customers = spark.createDataFrame(CUSTOMERS, "id int, name string, country string").coalesce(1)
    orders.write.parquet(f"{folder}/orders")
    spark.sql(f"CREATE DATABASE shop LOCATION '{folder}/tables'")
    orders.write.saveAsTable("shop.orders")
    customers.write.saveAsTable("shop.customers")
    return orders, customers


def make_shop(spark: SparkSession, folder: Path) -> None:
    orders, customers = make_files(spark, folder)
    orders.write.partitionBy("day").parquet(f"{folder}/by_day")
    for day in ("2026/11/14", "2026/11/15"):
        orders.where(f"day = '{day.replace('/', '-')}'").drop("day").write.parquet(f"{folder}/dated/{day}")
    (folder / "notes").mkdir()
    (folder / "notes" / "a.txt").write_text("one\ntwo\n")
    (folder / "notes" / "b.txt").write_text("three\n")
    spark.sql("CREATE VIEW shop.big AS SELECT id, amount * 2 AS twice FROM shop.orders WHERE amount > 3")
    for frame, name in ((orders, "ORDERS"), (customers, "CUSTOMERS")):
        write_derby(frame, name)


def write_derby(frame: DataFrame, table: str) -> None:
    """Into the database that Spark brings along, in memory."""
    kinds = ", ".join(f"{name} varchar(20)" for name, kind in frame.dtypes if kind == "string")
    options = {"url": DERBY, "dbtable": table, "createTableColumnTypes": kinds}
    frame.write.format("jdbc").options(**options).mode("overwrite").save()
