"""A pipeline that knows one currency and writes dead letters for other currencies."""

from __future__ import annotations

SHOP = """
import headwater as hw
from pyspark.sql import SparkSession

RATES = {"EUR": 1.0}

def price(row):
    return row.order_id, RATES[row.currency]

def pipeline():
    p = hw.Pipeline("shop")
    orders = p.source("orders", lambda spark: spark.read.json("orders.json"), key="order_id")
    priced = p.map("priced", orders, price, schema="order_id long, rate double", on_error="dead_letter")
    p.sink("report", priced, format="json", path="report")
    return p

if __name__ == "__main__":
    spark = SparkSession.builder.getOrCreate()
    print(pipeline().run(spark, options=hw.LineageOptions.complete()).run_id)
    spark.stop()
"""
