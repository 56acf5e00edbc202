"""What following items costs: rows through source, filter, row function, join, aggregate and sink.

    ./dev bench pipeline [--rows 10000000] [--rounds 3] [--modes off,fast,complete]

The same by hand in PySpark, the row function over Arrow batches with `to_pylist`, takes turns with the declared
pipeline: lineage off, one item in a hundred (the preset `fast`), and every item without snapshots. What each of them
writes is compared. The memory of the driver's Python is what it grew by in a run, at its highest.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import headwater as hw
from benchmarks.harness import console, show
from benchmarks.overhead import session

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = "order_id long, customer_id long, day date, eur double"


def main() -> None:
    options = arguments()
    with tempfile.TemporaryDirectory(prefix="headwater-pipeline-") as scratch, session("pipeline") as spark:
        folder = Path(scratch)
        make_data(spark, folder, options.rows)
        modes: dict[str, Callable[[], object]] = {"by hand": partial(by_hand, spark, folder)}
        modes |= {name: partial(declared, spark, folder, name) for name in options.modes}
        took: dict[str, list[float]] = {name: [] for name in modes}
        grew: dict[str, list[float]] = {name: [] for name in modes}
        for number in range(options.rounds + 1):  # the first is to warm up
            for name in list(modes)[:: 1 if number % 2 else -1]:
                seconds, mebibytes = measured(modes[name])
                if number:
                    took[name].append(seconds)
                    grew[name].append(mebibytes)
                console.print(f"{name}: {seconds:.1f} s, Python {mebibytes:.0f} MiB")
                check(spark, folder, name)
        base = statistics.median(took["by hand"])
        rows = [
            [
                name,
                f"{statistics.median(times):.1f}",
                f"{statistics.median(times) / base:.2f}",
                f"{max(grew[name]):.0f}",
            ]
            for name, times in took.items()
        ]
        title = f"{options.rows:,} rows on Spark {spark.version}, {options.rounds} rounds"
    show(title, ("lineage", "seconds", "of by hand", "Python MiB"), rows)


def make_data(spark: SparkSession, folder: Path, rows: int) -> None:
    orders = spark.range(0, rows, 1, 8).selectExpr(
        "id as order_id",
        "pmod(xxhash64(id), 100000) as customer_id",
        "date_add(date'2026-01-01', cast(pmod(id, 90) as int)) as day",
        "cast(pmod(xxhash64(id, 1), 10000) as double) / 100 - 5 as amount",
        "concat('order ', id) as note",
    )
    orders.write.parquet(f"{folder}/orders")
    spark.range(100_000).selectExpr("id as customer_id", "concat('C', pmod(id, 40)) as country").write.parquet(
        f"{folder}/customers"
    )


def priced(row: Any) -> tuple[Any, ...]:
    return (row.order_id, row.customer_id, row.day, row.amount * 0.92)


def priced_dict(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "order_id": row["order_id"],
        "customer_id": row["customer_id"],
        "day": row["day"],
        "eur": row["amount"] * 0.92,
    }


def by_hand(spark: SparkSession, folder: Path) -> None:
    from pyspark.sql import functions as F

    schema = _arrow(spark)

    def each(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow

        for batch in batches:
            rows = [priced_dict(row) for row in batch.to_pylist()]
            yield pyarrow.RecordBatch.from_pylist(rows, schema=schema)

    valid = spark.read.parquet(f"{folder}/orders").where("amount > 0")
    customers = spark.read.parquet(f"{folder}/customers")
    named = valid.mapInArrow(each, SCHEMA).join(customers, on=["customer_id"], how="inner")
    daily = named.groupBy("day", "country").agg(F.sum("eur").alias("total"), F.count("*").alias("orders"))
    daily.write.mode("overwrite").parquet(f"{folder}/by hand")


def _arrow(spark: SparkSession) -> pa.Schema:
    from headwater.pipeline.declare.function_schemas import arrow_schema

    return arrow_schema(spark.createDataFrame([], SCHEMA).schema, "UTC")


def declared(spark: SparkSession, folder: Path, mode: str) -> None:
    from pyspark.sql import functions as F

    p = hw.Pipeline("bench", namespace="bench")
    orders = p.source("orders", lambda spark: spark.read.parquet(f"{folder}/orders"), key="order_id")
    customers = p.source("customers", lambda spark: spark.read.parquet(f"{folder}/customers"), key="customer_id")
    valid = p.transform("valid", orders, lambda rows: rows.where("amount > 0"))
    eur = p.map("priced", valid, priced, schema=SCHEMA)
    named = p.join("named", eur, customers, on="customer_id")
    daily = p.aggregate("daily", named, by=["day", "country"], total=F.sum("eur"), orders=F.count("*"))
    p.sink("report", daily, format="parquet", path=f"{folder}/{mode}", mode="overwrite")
    options = {
        "off": hw.LineageOptions.off(),
        "fast": hw.LineageOptions.fast(),
        "complete": hw.LineageOptions.complete().with_(snapshots=False),
    }[mode]
    store = None if mode == "off" else f"sqlite:///{folder}/lineage.db"
    p.run(spark, options=options.with_(location=f"{folder}/items"), store=store)


def check(spark: SparkSession, folder: Path, name: str) -> None:
    """Fast and wrong would look good."""
    if name == "by hand" or not (folder / "by hand").exists():
        return
    ours, theirs = (_sums(spark.read.parquet(f"{folder}/{each}")) for each in (name, "by hand"))
    if ours != theirs:
        raise SystemExit(f"No figures: {name} wrote {ours}, by hand it is {theirs}")


def _sums(rows: DataFrame) -> tuple[int, int, int]:
    found = rows.selectExpr("count(*)", "sum(orders)", "round(sum(total))").first()
    assert found is not None
    return int(found[0]), int(found[1]), int(found[2])


def measured(job: Callable[[], object]) -> tuple[float, float]:
    """Seconds, and by how much this process grew at most."""
    over, highest, before = Event(), [0.0], resident()

    def watch() -> None:
        while not over.wait(0.1):
            highest[0] = max(highest[0], resident() - before)

    watching = Thread(target=watch, daemon=True)
    watching.start()
    began = time.perf_counter()
    job()
    seconds = time.perf_counter() - began
    over.set()
    watching.join()
    return seconds, highest[0]


def resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench pipeline")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--modes", type=lambda names: names.split(","), default=["off", "fast", "complete"])
    return parser.parse_args()


if __name__ == "__main__":
    main()
