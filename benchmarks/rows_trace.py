"""What it takes to trace one row: the 22 queries of TPC-H, each written once, then single rows of what they wrote.

    ./dev bench rows_trace [--scale 1] [--rows 3] [--queries q01,q05]

The query itself, written without capture, and the traces of rows of its output take turns. A trace begins with the
store's record and a condition on the row, and ends when the ids of all source rows behind it are known; `rows` of each
output are taken at random, by a seed. Ratios are to the median of the query.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

import headwater as hw
from benchmarks.harness import console, show
from benchmarks.overhead import session
from benchmarks.tpch_data import open_tables, queries, tables

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession


def main() -> None:
    options = arguments()
    texts = queries(options.scale)
    chosen = {name: texts[name] for name in options.queries or texts}
    rows: list[list[object]] = []
    ratios: list[float] = []
    with tempfile.TemporaryDirectory(prefix="headwater-rows-") as scratch, session("rows") as spark:
        folder = Path(scratch)
        open_tables(spark, tables(options.scale))
        store = f"sqlite:///{folder}/lineage.db"
        hw.enable(spark, store=store, spool=folder / "spool")
        for name, text in chosen.items():
            spark.sql(text).write.parquet(str(folder / name))
        hw.flush(600)
        hw.disable(spark)
        for name, text in chosen.items():
            picked = pick(spark, folder / name, options.rows)
            asked: list[float] = []
            traced: list[float] = []
            pairs = 0
            for row in (picked[0], *picked):  # the first is to warm up
                asked.append(
                    timed(lambda text=text: spark.sql(text).write.mode("overwrite").parquet(f"{folder}/again"))
                )
                began = time.perf_counter()
                pairs = trace_one(spark, store, folder / name, row)
                traced.append(time.perf_counter() - began)
            asked, traced = asked[1:], traced[1:]
            own = [seconds / median(asked) for seconds in traced]
            ratios += own
            cells = [f"{median(asked) * 1000:,.0f}", f"{median(traced) * 1000:,.0f}", f"{median(own):.2f}"]
            rows.append([name, *cells, f"{pairs:,}"])
            console.print(*rows[-1])
        title = f"TPC-H at scale {options.scale:g} on Spark {spark.version}, {options.rows} rows of each output"
    p95 = quantiles(ratios, n=20)[-1] if len(ratios) > 1 else ratios[0]
    rows.append(["p50", "", "", f"{median(ratios):.2f}", ""])
    rows.append(["p95", "", "", f"{p95:.2f}", ""])
    show(title, ("query", "query ms", "trace ms", "trace / query", "pairs of the last"), rows)


def pick(spark: SparkSession, output: Path, most: int) -> list[Row]:
    found = sorted(spark.read.parquet(str(output)).collect(), key=str)
    return random.Random(7).sample(found, min(most, len(found)))


def trace_one(spark: SparkSession, store: str, output: Path, row: Row) -> int:
    from pyspark.sql import functions as F

    where: Any = F.lit(True)
    for name, value in row.asDict().items():
        where = where & F.col(name).eqNullSafe(F.lit(value))
    trace = hw.trace(str(output), where, spark=spark, store=store)
    pairs = sum(part.trace.all_pairs().count() for part in trace.parts)
    trace.release()
    if not pairs:
        raise SystemExit(f"{output.name}: nothing is behind {row}: a trace that finds nothing would look fast")
    return pairs


def timed(job: Any) -> float:
    began = time.perf_counter()
    job()
    return time.perf_counter() - began


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench rows_trace")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--rows", type=int, default=3)
    parser.add_argument("--queries", type=lambda names: names.split(","), default=[])
    return parser.parse_args()


if __name__ == "__main__":
    main()
