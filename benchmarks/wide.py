"""What capture costs where plans are big: a wide table, a deep chain of joins, a union of many branches.

    ./dev bench wide [--columns 2000] [--joins 300] [--branches 1000] [--rounds 3] [--jobs columns,joins,branches]

Per plan: the job with and without capture, capture's own processor time on the Python side and in the JVM, the memory
it adds at Python's peak and allocates in the JVM, and the edges it found, with those of whole rows. See
benchmarks/overhead.py for how the two take turns, and benchmarks/resources.py for what is read.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import headwater as hw
from benchmarks.captured import by_output, read_events
from benchmarks.harness import console, show
from benchmarks.overhead import Job, Turns, refuse_unless_captured, session, take_turns, without_and_with

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CHAIN = 50
TABLES = 10  # the joins go round a few tables: what is measured is the plan, not the data
DEEP = {"spark.driver.extraJavaOptions": "-Xss64m"}  # Spark itself runs out of stack on 300 joins without it


def wide_chain(spark: SparkSession, folder: Path, columns: int) -> DataFrame:
    """Every column is passed on by each of the chained steps, which add one of their own."""
    source = folder / "wide_source"
    spark.range(10).selectExpr(*(f"id + {n} as c{n}" for n in range(columns))).write.parquet(str(source))
    frame = spark.read.parquet(str(source))
    for step in range(CHAIN):
        frame = frame.withColumn(f"step{step}", frame[f"c{step % columns}"] + frame[f"c{(step + 1) % columns}"])
    return frame


def join_chain(spark: SparkSession, folder: Path, joins: int) -> DataFrame:
    for number in range(TABLES):
        path = str(folder / f"join_source{number}")
        spark.range(10).selectExpr("id", f"id * {number} as amount").coalesce(1).write.parquet(path)
    frame = spark.read.parquet(str(folder / "join_source0"))
    for number in range(joins):
        other = spark.read.parquet(str(folder / f"join_source{number % TABLES}"))
        frame = frame.join(other.withColumnRenamed("amount", f"amount{number}"), "id")
    return frame


def union_of_branches(spark: SparkSession, folder: Path, branches: int) -> DataFrame:
    """As a balanced tree, which is what a program that unions a list builds if it wants to end this day."""
    source = folder / "union_source"
    spark.range(10).selectExpr("id", "id % 3 as bucket").coalesce(1).write.parquet(str(source))
    table = spark.read.parquet(str(source))
    frames = [table.where(f"bucket <> {n}").selectExpr(f"id + {n} as id", "bucket") for n in range(branches)]
    while len(frames) > 1:
        pairs = [frames[n : n + 2] for n in range(0, len(frames), 2)]
        frames = [pair[0].union(pair[1]) if len(pair) == 2 else pair[0] for pair in pairs]
    return frames[0].coalesce(1)


def write(frame: DataFrame, target: Path) -> None:
    frame.write.mode("overwrite").parquet(str(target))


def edges_found(spark: SparkSession, job: Job, name: str, folder: Path) -> str:
    """By one more run, told into a file: what was measured wrote to a store."""
    file = folder / f"{name}.jsonl"
    hw.enable(spark, sink=f"file://{file}", spool=folder / "spool")
    job()
    hw.flush()
    hw.disable(spark)
    captured = by_output(read_events(file))[name]
    return f"{len(captured.direct):,} + {len(captured.indirect):,}"


def difference(turns: dict[str, Turns], figure: str) -> float:
    on, off = (statistics.median(float(getattr(use, figure)) for use in turns[name].use) for name in ("on", "off"))
    return on - off


def main() -> None:
    options = arguments()
    rows: list[list[object]] = []
    with tempfile.TemporaryDirectory(prefix="headwater-wide-") as scratch, session("wide", DEEP) as spark:
        folder = Path(scratch)
        builders: dict[str, Callable[[], DataFrame]] = {
            "columns": lambda: wide_chain(spark, folder, options.columns),
            "joins": lambda: join_chain(spark, folder, options.joins),
            "branches": lambda: union_of_branches(spark, folder, options.branches),
        }
        for name in options.jobs or builders:
            console.print(f"{name}: building the plan")
            job = partial(write, builders[name](), folder / name)
            contestants = without_and_with(spark, folder)
            turns = take_turns(spark, {name: job}, contestants, options.rounds, console.print)[name]
            refuse_unless_captured(folder, [name], options.rounds + 1)
            rows.append(
                [
                    f"{getattr(options, name):,} {name}",
                    turns["off"].seconds,
                    turns["on"].seconds,
                    turns["on"].seconds_settled,
                    difference(turns, "python_seconds"),
                    difference(turns, "capture_jvm_seconds"),
                    f"{difference(turns, 'python_peak'):,.0f}",
                    f"{difference(turns, 'capture_jvm_allocated'):,.0f}",
                    edges_found(spark, job, name, folder),
                ]
            )
        title = (
            f"big plans on Spark {spark.version}, median of {options.rounds} rounds; added by capture: own time, memory"
        )
    columns = ("plan", "off s", "on s", "settled s", "Python s", "JVM s", "Python MiB", "JVM MiB allocated", "edges")
    show(title, columns, rows)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench wide")
    parser.add_argument("--columns", type=int, default=2000)
    parser.add_argument("--joins", type=int, default=300)
    parser.add_argument("--branches", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobs", type=lambda names: names.split(","), default=[])
    return parser.parse_args()


if __name__ == "__main__":
    main()
