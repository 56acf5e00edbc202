"""A job with the Spark features that most tests use: the classes that it loads become the archive of `java.py`."""

from __future__ import annotations

import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from headwater.jvm import gateway_of


def main(folder: str) -> None:
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", f"{folder}/warehouse")
        .getOrCreate()
    )
    rows = [(1, "a", 1.5, "2026-11-14"), (2, "b", None, "2026-11-15"), (3, "a", 2.5, "2026-11-15")]
    orders = spark.createDataFrame(rows, "id int, customer string, amount double, day string")
    orders.write.partitionBy("day").parquet(f"{folder}/orders")
    orders.write.mode("overwrite").json(f"{folder}/lines")
    orders.write.mode("append").option("header", True).csv(f"{folder}/table")
    spark.read.json(f"{folder}/lines").createOrReplaceTempView("lines")
    spark.read.option("header", True).csv(f"{folder}/table").createOrReplaceTempView("texts")
    spark.read.parquet(f"{folder}/orders").createOrReplaceTempView("orders")

    @F.udf("double")
    def doubled(amount: float | None) -> float | None:
        return None if amount is None else 2 * amount

    priced = spark.table("orders").where("amount > 0").withColumn("doubled", doubled("amount"))
    priced.join(spark.table("lines").select("id", F.sha2("customer", 256).alias("hashed")), "id").cache().count()
    spark.sql(
        """
        SELECT o.customer, sum(o.amount) AS total, count(DISTINCT t.id) AS n, rank() OVER (ORDER BY o.customer) AS i
        FROM orders o LEFT JOIN texts t ON o.id = CAST(t.id AS INT)
        WHERE o.id IN (SELECT id FROM lines) AND o.amount >= (SELECT min(amount) FROM orders)
        GROUP BY o.customer
        UNION ALL SELECT customer, 0.0, 0, 0 FROM lines
        """
    ).write.mode("overwrite").option("path", f"{folder}/report").saveAsTable("report")
    spark.table("report").orderBy("customer").limit(2).collect()
    spark.table("orders").toPandas()
    schema = spark.table("lines").schema
    stream = spark.readStream.schema(schema).json(f"{folder}/lines").writeStream.trigger(availableNow=True)
    stream.option("checkpointLocation", f"{folder}/checkpoint").format("parquet").start(
        f"{folder}/out"
    ).awaitTermination()
    gateway = gateway_of(spark.sparkContext)
    java = gateway.proc
    spark.stop()
    java.stdin.close()  # Java then ends, and writes the archive
    java.wait()


if __name__ == "__main__":
    main(sys.argv[1])
