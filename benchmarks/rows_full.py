"""What pair tables cost on TPC-H, what they weigh, and how quickly one row is looked up in them.

    ./dev bench rows_full [--scale 1] [--rounds 3] [--queries q01,q05] [--group 10_000_000]

Each query is a job that writes Parquet; then its pair tables are written, as the capture does after a write. *Full* is
both together over the job alone. A lookup is of one row of the result, all its sources, in a process that has done it
once before. With ``--group`` it is one aggregate of a single group of that size instead, with the JVM's peak of memory.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.harness import console, show
from benchmarks.overhead import geometric_mean, session
from benchmarks.tpch_data import open_tables, queries, tables
from headwater.rows.pairs.lookup import PairTables
from headwater.rows.pairs.write import write_pairs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass
class Figures:
    job: list[float] = field(default_factory=list)
    pairs: list[float] = field(default_factory=list)
    lookups: list[float] = field(default_factory=list)
    facet: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ratio(self) -> float:
        return statistics.median((job + pairs) / job for job, pairs in zip(self.job, self.pairs, strict=True))


def measure(spark: SparkSession, text: str, folder: Path, rounds: int) -> Figures:
    """The first round warms up and does not count, where there are more."""
    found = Figures()
    for number in range(rounds + 1 if rounds > 1 else 1):
        frame = spark.sql(text)
        start = time.perf_counter()
        frame.write.mode("overwrite").parquet(str(folder / "output"))
        written = time.perf_counter()
        plan = frame._jdf.queryExecution().analyzed()
        output = spark.read.schema(frame.schema).parquet(str(folder / "output"))
        done = write_pairs(spark, plan, str(folder / "rows"), "run", 0, output=output)
        kept = time.perf_counter()
        if number or rounds == 1:
            found.job.append(written - start)
            found.pairs.append(kept - written)
        found.facet = done.facet
    found.lookups = lookups(found.facet, rounds)
    return found


def lookups(facet: Mapping[str, Any], rounds: int) -> list[float]:
    """Of single rows, from the id to all its source rows."""
    seconds = []
    with PairTables(facet) as kept:
        outs = kept.output_rows(limit=rounds + 4)
        for number, out in enumerate(outs):
            start = time.perf_counter()
            for rows in kept.sources([out.id]).values():
                rows.rows(limit=100)
            if number or len(outs) == 1:
                seconds.append(time.perf_counter() - start)
    return seconds


def one_group(spark: SparkSession, size: int, folder: Path) -> None:
    """All rows of a table in one group: nothing of it may be gathered anywhere."""
    spark.range(size).selectExpr("id", "1 AS k").write.parquet(str(folder / "data"))
    spark.read.parquet(str(folder / "data")).createOrReplaceTempView("data")
    jvm: Any = spark.sparkContext._jvm
    pools = [
        pool for pool in jvm.java.lang.management.ManagementFactory.getMemoryPoolMXBeans() if "Old" in pool.getName()
    ]
    for pool in pools:
        pool.resetPeakUsage()
    found = measure(spark, "SELECT k, sum(id) AS total FROM data GROUP BY k", folder, 1)
    peak = sum(pool.getPeakUsage().getUsed() for pool in pools) / 2**20
    facet = found.facet
    console.print(
        f"one group of {facet['pairs']:,}: {facet['bytes'] / facet['pairs']:.3f} bytes a pair, "
        f"{found.ratio:.2f} of the job, old generation at most {peak:,.0f} MiB"
    )


def main() -> None:
    options = arguments()
    with tempfile.TemporaryDirectory(prefix="headwater-rows-") as scratch, session("rows_full") as spark:
        spark.sparkContext.setLogLevel("ERROR")
        if options.group:
            one_group(spark, options.group, Path(scratch))
            return
        texts = queries(options.scale)
        open_tables(spark, tables(options.scale))
        results: dict[str, Figures] = {}
        for name in options.queries or texts:
            results[name] = measure(spark, texts[name], Path(scratch) / name, options.rounds)
            console.print(name, " ".join(line(results[name])), highlight=False)
        title = f"Pair tables of TPC-H at scale {options.scale:g} on Spark {spark.version}"
    rows = [[name, *line(figures)] for name, figures in results.items()]
    pairs = sum(figures.facet["pairs"] for figures in results.values())
    weight = sum(figures.facet["bytes"] for figures in results.values())
    mean = geometric_mean([figures.ratio for figures in results.values()])
    slowest = max(each for figures in results.values() for each in figures.lookups)
    whole = ["all", "", "", f"{mean:.2f}", f"{pairs:,}", f"{weight / pairs:.2f}", f"{slowest * 1000:.0f} at most"]
    show(title, ("query", "job s", "pairs s", "full / job", "pairs", "bytes a pair", "lookup ms"), [*rows, whole])


def line(figures: Figures) -> list[str]:
    pairs = figures.facet["pairs"]
    return [
        f"{statistics.median(figures.job):.2f}",
        f"{statistics.median(figures.pairs):.2f}",
        f"{figures.ratio:.2f}",
        f"{pairs:,}",
        f"{figures.facet['bytes'] / max(1, pairs):.2f}",
        f"{statistics.median(figures.lookups) * 1000:.0f}" if figures.lookups else "",
    ]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench rows_full")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--queries", type=lambda names: names.split(","), default=[])
    parser.add_argument("--group", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    main()
