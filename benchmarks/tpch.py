"""What capture costs on TPC-H: each of the 22 queries as a job that writes Parquet, with capture and without.

    ./dev bench tpch [--scale 1] [--rounds 7] [--queries q01,q05]

See benchmarks/overhead.py for how the two take turns. *Settled* adds what capture still does, in the background, after
the job's call has returned.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.harness import console, show
from benchmarks.overhead import Job, geometric_mean, refuse_unless_captured, session, take_turns, without_and_with
from benchmarks.tpch_data import open_tables, queries, tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def write_job(spark: SparkSession, query: str, target: Path) -> Job:
    def job() -> None:
        spark.sql(query).write.mode("overwrite").parquet(str(target))

    return job


def main() -> None:
    options = arguments()
    texts = queries(options.scale)
    chosen = {name: texts[name] for name in options.queries or texts}
    data = tables(options.scale)
    with tempfile.TemporaryDirectory(prefix="headwater-tpch-") as scratch, session("tpch") as spark:
        folder = Path(scratch)
        open_tables(spark, data)
        jobs = {name: write_job(spark, text, folder / name) for name, text in chosen.items()}
        tell: Callable[[str], object] = console.print
        results = take_turns(spark, jobs, without_and_with(spark, folder), options.rounds, tell)
        refuse_unless_captured(folder, jobs, options.rounds + 1)
        title = f"TPC-H at scale {options.scale:g} on Spark {spark.version}, median of {options.rounds} rounds"
    rows: list[list[object]] = []
    ratios: list[tuple[float, float]] = []
    for name, turns in results.items():
        off, on = turns["off"], turns["on"]
        ratios.append((on.seconds / off.seconds, on.seconds_settled / off.seconds))
        rows.append([name, f"{off.seconds * 1000:,.0f}", f"{on.seconds * 1000:,.0f}", *ratios[-1]])
    summaries: dict[str, Callable[[Sequence[float]], float]] = {"geometric mean": geometric_mean, "worst": max}
    for label, summary in summaries.items():
        rows.append([label, "", "", *(summary(column) for column in zip(*ratios, strict=True))])
    shown = [[f"{cell:.3f}" if isinstance(cell, float) else cell for cell in row] for row in rows]
    show(title, ("query", "off ms", "on ms", "on / off", "settled / off"), shown)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench tpch")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--queries", type=lambda names: names.split(","), default=[])
    return parser.parse_args()


if __name__ == "__main__":
    main()
