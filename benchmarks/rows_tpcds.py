"""How much of TPC-DS row lineage covers: for each query whether its trace is exact, coarser or refused, and right.

    ./dev bench rows_tpcds FOLDER [--scale 0.01] [--rows 5] [--queries q1,q14a]

FOLDER holds the queries, one `q….sql` a query, in Spark's words; their texts are not ours to ship. Of every query's
rows a sample is judged by running the query again, in DuckDB, on nothing but its traced rows.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sysconfig
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from benchmarks.harness import console, show
from benchmarks.overhead import session
from headwater.errors import RowsRefused
from tests.rows.judges.comparing import same_rows
from tests.rows.judges.lab import Lab
from tests.rows.judges.occurrences import Named, occurrence_names
from tests.rows.judges.reexecution import lost_rows, once
from tests.rows.judges.traced import GRAINS, trace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CACHE = Path(__file__).parents[1] / ".tpcds"
PARTS = 2  # files of a table


@dataclass(frozen=True)
class Verdict:
    """``judged`` is what re-execution says; `not judged` with a reason where DuckDB cannot run the query."""

    grain: str
    rows: int = 0
    judged: str = ""
    seconds: float = 0.0
    reason: str = ""


def tables(scale: float) -> Path:
    """A folder for each table, generated once."""
    folder = CACHE / f"sf{scale:g}"
    if not folder.exists():
        console.print(f"generating the TPC-DS tables at scale {scale:g} into {folder}")
        unfinished = CACHE / f"unfinished-{scale:g}"
        generator = Path(sysconfig.get_path("scripts")) / "tpcgen-cli"
        options = [
            "--scale-factor",
            f"{scale:g}",
            "--output-dir",
            str(unfinished),
            "--parts",
            str(PARTS),
            "--overwrite",
        ]
        subprocess.run([generator, "tpcds", "parquet", *options], check=True)
        unfinished.replace(folder)
    return folder


def judge(lab: Lab, named: Named, sample: int) -> Verdict:
    started = time.perf_counter()
    frame = lab.frame(named)
    try:
        traced = trace(frame, named.tables)
    except RowsRefused as refusal:
        return Verdict("refused", reason=str(refusal))
    seconds = time.perf_counter() - started
    grain = max(traced.grains.values(), key=GRAINS.index, default="exact")
    try:
        agree = same_rows(once([row for row, _ in traced.rows]), once(lab.duck.run(named.duck)))
        lost = lost_rows(lab.duck, named, traced, sample)
    except duckdb.Error as error:
        return Verdict(grain, len(traced.rows), "not judged", seconds, f"DuckDB: {first_line(error)}")
    ids = len({out_id for _, out_id in traced.rows})
    tried = min(sample, ids)
    reason = str(lost[0]) if lost else "" if agree else "the engines do not agree on all rows"
    return Verdict(grain, len(traced.rows), f"{tried - len(lost)} of {tried}", seconds, reason)


def first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0]


def verdicts(spark: SparkSession, lab: Lab, texts: Mapping[str, str], sample: int) -> dict[str, Verdict]:
    found = {}
    for name, text in texts.items():
        try:
            found[name] = judge(lab, occurrence_names(text, lab.duck.columns), sample)
        except Exception as error:  # one query that fails, in whatever way, must not hide the others
            found[name] = Verdict("failed", reason=f"{type(error).__name__}: {first_line(error)}")
        spark.catalog.clearCache()
        console.print(f"{name}: {found[name]}", highlight=False)
    return found


def main() -> None:
    options = arguments()
    texts = {file.stem: file.read_text() for file in sorted(options.folder.glob("q*.sql"), key=by_number)}
    chosen = {name: texts[name] for name in options.queries or texts}
    data = tables(options.scale)
    with tempfile.TemporaryDirectory(prefix="headwater-tpcds-") as links, session("tpcds") as spark:
        lab = Lab(spark, data, Path(links))
        found = verdicts(spark, lab, chosen, options.rows)
        title = f"Row lineage of TPC-DS at scale {options.scale:g} on Spark {spark.version}"
    rows = [[name, v.grain, v.rows, v.judged, f"{v.seconds:.1f}", v.reason[:60]] for name, v in found.items()]
    show(title, ("query", "grain", "rows", "rows that come back", "s", ""), rows)
    console.print(dict(Counter(verdict.grain for verdict in found.values()).most_common()))


def by_number(file: Path) -> tuple[int, str]:
    digits = re.findall(r"\d+", file.stem)
    return int(digits[0]) if digits else 0, file.stem


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench rows_tpcds")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scale", type=float, default=0.01)
    parser.add_argument("--rows", type=int, default=5)
    parser.add_argument("--queries", type=lambda names: names.split(","), default=[])
    return parser.parse_args()


if __name__ == "__main__":
    main()
