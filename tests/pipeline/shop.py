"""A small shop with some orders that a function cannot price."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import headwater as hw

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

ORDERS = [
    (1, 10, 5.0, "2026-11-15"),
    (2, 11, -1.0, "2026-11-15"),
    (3, 10, 7.0, "2026-11-16"),
    (4, 12, 9.0, "2026-11-16"),
    (5, 11, 13.0, "2026-11-16"),
    (6, 11, 14.0, "2026-11-15"),
    (7, 99, 15.0, "2026-11-15"),
]
COLUMNS = "order_id long, customer_id long, amount double, day string"
PRICED = "order_id long, customer_id long, day string, eur double"


def pricing(bad: Collection[int]) -> Callable[[Row], Any]:
    """A function that fails on some orders."""
    unlucky = frozenset(bad)

    def price(row: Row) -> Any:
        if row.order_id in unlucky:
            raise ValueError(f"no price for {row.order_id}")
        return {"order_id": row.order_id, "customer_id": row.customer_id, "day": row.day, "eur": row.amount * 2}

    return price


@dataclass(frozen=True)
class Shop:
    folder: Path

    @property
    def location(self) -> str:
        return str(self.folder / "items")

    @property
    def report(self) -> str:
        return str(self.folder / "report")

    @property
    def options(self) -> hw.LineageOptions:
        return hw.LineageOptions.complete().with_(location=self.location)

    def open(self, spark: SparkSession) -> Shop:
        spark.createDataFrame(ORDERS, COLUMNS).coalesce(1).write.parquet(str(self.folder / "orders"))
        customers = spark.createDataFrame([(10, "FR"), (11, "US"), (13, "DE")], "customer_id long, country string")
        customers.coalesce(1).write.parquet(str(self.folder / "customers"))
        return self

    def read(self, name: str) -> Callable[[SparkSession], DataFrame]:
        return lambda spark: spark.read.parquet(str(self.folder / name))

    def pipeline(self, bad: Collection[int], name: str = "shop", **how: Any) -> hw.Pipeline:
        """orders → valid → priced → named (with customers) → report"""
        p = hw.Pipeline(name, namespace="test")
        orders = p.source("orders", self.read("orders"), key="order_id")
        customers = p.source("customers", self.read("customers"), key="customer_id")
        valid = p.transform("valid", orders, lambda df: df.where("amount > 0"))
        settings = {"schema": PRICED, "on_error": "dead_letter"} | how
        priced = p.map("priced", valid, pricing(bad), **settings)
        named = p.join("named", priced, customers, on="customer_id")
        p.sink("report", named, format="parquet", path=self.report, mode="overwrite")
        return p

    def letters(self, spark: SparkSession, pipeline: hw.Pipeline, node: str = "priced") -> DataFrame:
        return spark.read.parquet(f"{self.location}/dead_letters/{pipeline.id}/{node}")

    def written(self, spark: SparkSession, path: str | None = None) -> list[int]:
        return sorted(row["order_id"] for row in spark.read.parquet(path or self.report).collect())
