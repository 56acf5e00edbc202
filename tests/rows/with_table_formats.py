"""Rows of tables that have versions, traced in a process of its own: the jars have to be there when Spark's JVM starts.

python -m tests.rows.with_table_formats delta /some/folder
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import headwater as hw
from headwater.errors import InputsChanged
from tests.capture.with_jars import surroundings
from tests.support.spark import spark_application

ROWS = [(1, 10, 5.0), (2, 10, 7.0), (3, 11, 9.0)]
LATER = [(4, 10, 100.0)]


def tell(name: str, folder: Path) -> dict[str, Any]:
    """What a trace says before and after the table has a new version, and once the old one is gone."""
    with spark_application(folder) as spark:
        table = "lake.db.orders" if name == "iceberg" else "orders"
        spark.sql("CREATE DATABASE IF NOT EXISTS lake.db") if name == "iceberg" else None
        rows = spark.createDataFrame(ROWS, "order_id long, customer_id long, amount double")
        rows.coalesce(1).writeTo(table).using(name).create()
        store = f"sqlite:///{folder}/lineage.db"
        hw.enable(spark, store=store, spool=folder / "spool")
        totals = spark.table(table).where("amount > 5").groupBy("customer_id").agg({"amount": "sum"})
        totals.toDF("customer_id", "total").write.parquet(f"{folder}/totals")
        assert hw.flush(120)
        hw.disable(spark)

        def traced() -> list[Any]:
            found = hw.trace(f"{folder}/totals", "customer_id = 10", spark=spark, store=store)
            (occurrence,) = found.occurrences
            kept = occurrence.rows.select("order_id", "customer_id", "amount").collect()
            answer = [occurrence.grain, sorted(map(list, kept))]
            found.release()
            return answer

        told: dict[str, Any] = {"at first": traced()}
        later = spark.createDataFrame(LATER, "order_id long, customer_id long, amount double")
        later.coalesce(1).writeTo(table).append()
        told["with a new version"] = traced()
        spark.sql(f"DROP TABLE {table}")
        try:
            told["once it is gone"] = traced()
        except InputsChanged as changed:
            told["once it is gone"] = [type(changed).__name__, str(changed)]
        return told


def main(name: str, folder: Path) -> None:
    with surroundings(name, folder) as (settings, _, _):
        arguments = " ".join(f"--conf {key}={value}" for key, value in settings.items())
        os.environ["PYSPARK_SUBMIT_ARGS"] = f"{arguments} pyspark-shell"
        (folder / "told.json").write_text(json.dumps(tell(name, folder)))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
