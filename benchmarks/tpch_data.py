"""The TPC-H tables, generated once per scale into `.tpch`, and the 22 queries with their validation parameters."""

from __future__ import annotations

import subprocess
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.harness import console

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CACHE = Path(__file__).parents[1] / ".tpch"
QUERIES = Path(__file__).with_name("tpch_queries")
TABLES = ("customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier")


def tables(scale: float) -> Path:
    """The folder of the eight Parquet files at a scale factor: 1 is a gigabyte as text."""
    folder = CACHE / f"sf{scale:g}"
    if not folder.exists():
        console.print(f"generating the TPC-H tables at scale {scale:g} into {folder}")
        unfinished = CACHE / f"unfinished-{scale:g}"
        generator = Path(sysconfig.get_path("scripts")) / "tpchgen-cli"
        options = ["--scale-factor", f"{scale:g}", "--output-dir", str(unfinished), "--overwrite"]
        subprocess.run([generator, "parquet", *options], check=True)
        unfinished.replace(folder)
    return folder


def queries(scale: float) -> dict[str, str]:
    """Query 11 compares with a fraction of the total that the specification ties to the scale."""
    texts = {file.stem: file.read_text() for file in sorted(QUERIES.glob("q*.sql"))}
    return {name: text.replace("{fraction}", f"{0.0001 / scale:.10f}") for name, text in texts.items()}


def open_tables(spark: SparkSession, folder: Path) -> None:
    for table in TABLES:
        spark.read.parquet(str(folder / f"{table}.parquet")).createOrReplaceTempView(table)
