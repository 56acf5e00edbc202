"""Neither a row too few nor a row too many: monotone queries, judged by leaving out one row at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.profiles import LONG, QUICK
from tests.rows.judges import leave_one_out, reexecution
from tests.rows.judges.lab import Lab
from tests.rows.judges.leave_one_out import Monotone
from tests.rows.judges.monotone_queries import monotone_queries
from tests.rows.judges.small_tables import small_tables
from tests.rows.judges.traced import trace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEEDS = st.integers(0, 999)


def judge(spark: SparkSession, folders: pytest.TempPathFactory, query: Monotone, seed: int) -> None:
    lab = Lab.of(spark, folders.mktemp("precision"), small_tables(seed))
    with lab.duck as duck:
        traced = trace(lab.frame(query.named), query.named.tables)
        assert set(traced.grains.values()) == {"exact"}
        assert reexecution.faults(duck, query.named, traced) == []
        assert leave_one_out.faults(duck, query, traced) == []


@QUICK(3)
@given(query=monotone_queries(), seed=SEEDS)
def test_exactly_the_rows_that_matter(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, query: Monotone, seed: int
) -> None:
    judge(spark, tmp_path_factory, query, seed)


@pytest.mark.long
@LONG(300)
@given(query=monotone_queries(), seed=SEEDS)
def test_exactly_the_rows_that_matter_in_many(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, query: Monotone, seed: int
) -> None:
    judge(spark, tmp_path_factory, query, seed)
