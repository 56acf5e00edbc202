"""Every case: a query on real Spark has exactly the lineage that is written beside it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.plan.cases_file import Case, read_cases, rewrite
from tests.plan.reading import trace, written

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CASES = read_cases()
SINCE = {"spark4": (4, 0), "spark43": (4, 3)}


def frame_of(spark: SparkSession, query: str) -> DataFrame:
    if not query.startswith("df ="):
        return spark.sql(query)
    from pyspark.sql import Window
    from pyspark.sql import functions as F
    from pyspark.sql import types as T

    names: dict[str, object] = {"spark": spark, "F": F, "T": T, "Window": Window}
    exec(query, names)
    found: DataFrame = names["df"]  # type: ignore[assignment]
    return found


@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(case: Case, spark: SparkSession) -> None:
    if tuple(map(int, spark.version.split(".")[:2])) < SINCE.get(case.file, (3, 5)):
        pytest.skip(f"not run: Spark {spark.version} does not know this")
    lines = written(trace(frame_of(spark, case.query)))
    if os.environ.get("HEADWATER_REWRITE_CASES") == "1":
        rewrite(case.file, {case.title: lines})
        return
    assert lines == list(case.expected)


def test_titles_are_unique() -> None:
    titles = [str(case) for case in CASES]
    assert sorted(set(titles)) == sorted(titles)
