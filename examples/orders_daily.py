"""An ordinary PySpark job: it knows nothing of lineage.

    headwater exec examples/orders_daily.py
    headwater upstream default.daily_revenue --column revenue

Writes into ./warehouse of the current folder.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

ORDERS = [
    (1, 10, "2026-11-14", 20.0, "EUR"),
    (2, 11, "2026-11-14", 35.5, "USD"),
    (3, 10, "2026-11-15", 12.0, "EUR"),
    (4, 12, "2026-11-15", -1.0, "EUR"),
    (5, 11, "2026-11-15", 80.0, "USD"),
]
CUSTOMERS = [(10, "ada@example.com", "PL"), (11, "grace@example.com", "US"), (12, "alan@example.com", "GB")]
RATES = {"EUR": 1.0, "USD": 0.92}


def main(warehouse: str) -> None:
    spark = (
        SparkSession.builder.appName("orders_daily")
        .config("spark.sql.warehouse.dir", warehouse)
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    orders = spark.createDataFrame(ORDERS, "order_id int, customer_id int, day string, amount double, currency string")
    orders.write.mode("overwrite").partitionBy("day").parquet(f"{warehouse}/raw/orders")
    customers = spark.createDataFrame(CUSTOMERS, "customer_id int, email string, country string")
    customers.write.mode("overwrite").json(f"{warehouse}/raw/customers")

    rates = F.create_map(*[F.lit(part) for pair in RATES.items() for part in pair])
    valid = spark.read.parquet(f"{warehouse}/raw/orders").where("amount > 0")
    priced = valid.withColumn("eur", F.round(F.col("amount") * rates[F.col("currency")], 2))
    named = priced.join(spark.read.json(f"{warehouse}/raw/customers"), "customer_id")
    (
        named.select("order_id", "day", "country", "eur", F.sha2("email", 256).alias("customer"))
        .write.mode("overwrite")
        .parquet(f"{warehouse}/orders_priced")
    )

    spark.read.parquet(f"{warehouse}/orders_priced").createOrReplaceTempView("orders_priced")
    daily = spark.sql(
        """
        SELECT day, country, sum(eur) AS revenue, count(DISTINCT customer) AS customers
        FROM orders_priced GROUP BY day, country
        """
    )
    # With a path, so that it can run again: the catalog of a local session forgets its tables, the folder stays.
    daily.write.mode("overwrite").option("path", f"{warehouse}/daily_revenue").saveAsTable("daily_revenue")
    for row in spark.table("daily_revenue").orderBy("day", "country").collect():
        print(row.day, row.country, row.revenue)
    spark.stop()


if __name__ == "__main__":
    main(str(Path(sys.argv[1] if len(sys.argv) > 1 else "warehouse").resolve()))
