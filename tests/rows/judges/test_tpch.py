"""Every output row of each of TPC-H's 22 queries comes back from its traced rows alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from benchmarks.tpch_data import QUERIES
from tests.rows.judges.lab import Lab
from tests.rows.judges.occurrences import Named, occurrence_names
from tests.rows.judges.reexecution import faults
from tests.rows.judges.tpch_tables import SCHEMAS, tpch_tables
from tests.rows.judges.traced import trace
from tests.support.selection import short_and_long

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FRACTION = "0.005"  # query 11 wants more than this part of the whole stock


@pytest.fixture(scope="module")
def lab(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    lab = Lab.of(spark, tmp_path_factory.mktemp("tpch"), tpch_tables())
    with lab.duck:
        yield lab


def query(name: str) -> Named:
    return occurrence_names((QUERIES / f"{name}.sql").read_text().replace("{fraction}", FRACTION), SCHEMAS)


NAMES = sorted(file.stem for file in QUERIES.glob("q*.sql"))


def test_there_are_all_22() -> None:
    assert len(NAMES) == 22


# Scans, groups and joins by equality; EXISTS, a limit, values of subqueries: of each the others have one too.
LONG_ONES = {
    *("q01", "q02", "q03", "q04", "q05", "q06", "q07", "q08", "q09", "q10", "q12", "q14", "q15", "q17", "q19"),
}


@pytest.mark.parametrize("name", short_and_long({name: name for name in NAMES}, LONG_ONES))
def test_every_row_comes_back(lab: Lab, name: str) -> None:
    named = query(name)
    traced = trace(lab.frame(named), named.tables)
    assert traced.rows, "a query without rows tests nothing"
    assert faults(lab.duck, named, traced) == []
    assert set(traced.grains.values()) == {"exact"}
