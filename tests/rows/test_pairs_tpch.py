"""TPC-H's 22 queries: of every row of their results the pair tables say what a trace says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks.tpch_data import QUERIES
from tests.rows.judges.lab import write as write_table
from tests.rows.judges.tpch_tables import tpch_tables
from tests.rows.test_pairs import Kept, looked_up, traced

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AT_ONCE = ("q18", "q22")  # a semi-join with a group and a limit; an anti-join and a constant
FRACTION = "0.005"  # query 11 wants more than this part of the whole stock


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tpch")
    for name, table in tpch_tables().items():
        write_table(table, folder / name)
        spark.read.parquet(str(folder / name)).createOrReplaceTempView(name)
    return folder


def every_query() -> Iterator[object]:
    for name in sorted(file.stem for file in QUERIES.glob("q*.sql")):
        yield name if name in AT_ONCE else pytest.param(name, marks=pytest.mark.long)


@pytest.mark.parametrize("name", list(every_query()))
def test_the_tables_say_what_a_trace_says(spark: SparkSession, tables: Path, tmp_path: Path, name: str) -> None:
    text = (QUERIES / f"{name}.sql").read_text().replace("{fraction}", FRACTION)
    kept = Kept(spark, text, tmp_path)
    with kept.tables:
        outs = [out.id for out in kept.tables.output_rows()]
        assert outs, "a query without rows tests nothing"
        assert looked_up(kept.tables, outs) == traced(spark, kept.frame)
