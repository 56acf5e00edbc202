"""A declared pipeline that tells of every order what became of it.

    python examples/daily_revenue.py
    headwater run RUN --items

Writes into ./warehouse of the current folder, and its lineage into ./.headwater.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F

import headwater as hw

ORDERS = [
    (1, 10, "2026-11-14", 20.0, "EUR"),
    (2, 11, "2026-11-14", 35.5, "USD"),
    (3, 10, "2026-11-15", 12.0, "EUR"),
    (4, 12, "2026-11-15", -1.0, "EUR"),
    (5, 11, "2026-11-15", 80.0, "USD"),
    (6, 10, "2026-11-15", 99.0, "GBP"),
    (7, 13, "2026-11-15", 5.0, "EUR"),
]
CUSTOMERS = [(10, "ada@example.com", "PL"), (11, "grace@example.com", "US"), (12, "alan@example.com", "GB")]
RATES = {"EUR": 1.0, "USD": 0.92}


def price(order: Row) -> dict[str, Any]:
    """Fails for a currency without a rate: such an order becomes a dead letter."""
    eur = round(order.amount * RATES[order.currency], 2)
    return {"order_id": order.order_id, "customer_id": order.customer_id, "day": order.day, "eur": eur}


def daily_revenue(warehouse: str = "warehouse") -> hw.Pipeline:
    p = hw.Pipeline("daily_revenue", namespace="prod")
    orders = p.source("orders", lambda spark: spark.read.parquet(f"{warehouse}/raw/orders"), key="order_id")
    customers = p.source("customers", lambda spark: spark.read.json(f"{warehouse}/raw/customers"), key="customer_id")
    valid = p.transform("valid", orders, lambda df: df.where("amount > 0"))
    schema = "order_id long, customer_id long, day string, eur double"
    priced = p.map("priced", valid, price, schema=schema, retries=2, on_error="dead_letter")
    named = p.join("named", priced, customers, on="customer_id")
    daily = p.aggregate("daily", named, by=["day"], total=F.sum("eur"))
    p.sink("report", daily, format="parquet", path=f"{warehouse}/daily_revenue", mode="overwrite")
    return p


def main(warehouse: str) -> None:
    spark = SparkSession.builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    columns = "order_id long, customer_id long, day string, amount double, currency string"
    spark.createDataFrame(ORDERS, columns).write.mode("overwrite").parquet(f"{warehouse}/raw/orders")
    columns = "customer_id long, email string, country string"
    spark.createDataFrame(CUSTOMERS, columns).write.mode("overwrite").json(f"{warehouse}/raw/customers")

    result = daily_revenue(warehouse).run(spark, options=hw.LineageOptions.complete())
    for row in spark.read.parquet(f"{warehouse}/daily_revenue").orderBy("day").collect():
        print(row.day, row.total)
    for reason, count in result.counts.items():
        print(f"{reason}: {count}")
    print(f"headwater run {result.run_id} --items")
    spark.stop()


if __name__ == "__main__":
    main(str(Path(sys.argv[1] if len(sys.argv) > 1 else "warehouse").resolve()))
