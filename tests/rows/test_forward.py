"""From source rows to the rows of the result: what forward tracing says is what backward tracing says, mirrored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import headwater as hw
from headwater.errors import RowsError, RowsRefused
from tests.oracles.profiles import LONG, QUICK
from tests.rows.judges.lab import Lab
from tests.rows.judges.occurrences import occurrence_names
from tests.rows.judges.random_queries import Query, queries
from tests.rows.judges.small_tables import SCHEMAS, python_function, small_tables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from headwater.rows.forward import ForwardTrace

Pair = tuple[str, str, int]


def pairs(frame: DataFrame) -> set[Pair]:
    rows = [(row[0], row[1], row[2]) for row in frame.collect()]
    assert len(rows) == len(set(rows)), "a pair is told twice"
    return set(rows)


# ------------------------------------------------------------------------------------------ random queries


@dataclass
class Judge:
    spark: SparkSession
    folders: pytest.TempPathFactory
    tally: Counter[str] = field(default_factory=Counter)

    def judge(self, query: Query, seed: int) -> None:
        named = occurrence_names(query.spark, SCHEMAS, query.duck)
        lab = Lab.of(self.spark, self.folders.mktemp("forward"), small_tables(seed))
        with lab.duck:
            frame = lab.frame(named)
        try:
            backward = hw.trace(frame)
        except RowsRefused as refusal:
            self.tally["refused"] += 1
            note(f"refused: {refusal}")
            return
        name = sorted(named.tables)[seed % len(named.tables)]
        fitting = [each for each in backward.occurrences if each.named.matches(name)]
        back = {pair for each in fitting for pair in pairs(each.pairs)}
        forth = hw.trace_forward(frame, source=name)
        assert pairs(forth.pairs) == back, name
        assert {row["out_id"] for row in forth.rows.select("out_id").collect()} == {out_id for out_id, _, _ in back}
        self.tally["pairs"] += len(back)
        self._one_row(frame, name, forth, back, seed)
        forth.release()
        backward.release()

    def _one_row(self, frame: DataFrame, name: str, forth: ForwardTrace, back: set[Pair], seed: int) -> None:
        """Asked about one row by its content, the same; and the way of a single row leads to the same place."""
        table = forth.source_rows.collect()
        if "id" not in forth.source_rows.columns or not table:
            return
        row = table[seed % len(table)]
        expected = {out_id for out_id, file, place in back if (file, place) == (row["_file"], row["_row"])}
        where = f"id = {row['id']}"
        asked = hw.trace_forward(frame, source=name, where=where)
        assert {each["out_id"] for each in asked.rows.collect()} == expected, (name, where)
        asked.release()
        if forth.grain == "exact":
            answer = hw.why_not(frame, source=name, where=where)
            assert answer.reached == bool(expected), (name, where)
            assert {each["out_id"] for each in answer.rows.collect()} == expected, (name, where)
            assert answer.reached or answer.culprits, (name, where)
            self.tally["reached" if answer.reached else "stopped by " + answer.culprits[0].kind] += 1


def run(judge: Judge, profile: Callable[[Any], Any]) -> None:
    @profile
    @given(query=queries(), seed=st.integers(0, 9999))
    def every(query: Query, seed: int) -> None:
        judge.judge(query, seed)

    judge.spark.udf.register("twist", python_function(), "int")
    every()
    print(dict(judge.tally))
    assert judge.tally["pairs"] > 0
    assert judge.tally["reached"] > 0


def test_forward_is_backward_mirrored(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> None:
    run(Judge(spark, tmp_path_factory), QUICK(3))


@pytest.mark.long
def test_forward_is_backward_mirrored_in_many(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> None:
    run(Judge(spark, tmp_path_factory), LONG(600))


# ------------------------------------------------------------------------------------------ by hand


@pytest.fixture(scope="module")
def raw(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shop") / "raw"
    orders = [(1, 7, 10), (2, 7, 20), (3, 8, 5), (4, 9, 1), (5, None, 3)]
    spark.createDataFrame(orders, "order_id int, cust int, amount int").coalesce(1).write.parquet(f"{folder}/orders")
    customers = [(7, "DE"), (8, "FR"), (10, None)]
    spark.createDataFrame(customers, "id int, country string").coalesce(1).write.parquet(f"{folder}/customers")
    return folder


def by_country(spark: SparkSession, raw: Path) -> DataFrame:
    orders = spark.read.parquet(f"{raw}/orders")
    customers = spark.read.parquet(f"{raw}/customers")
    joined = orders.join(customers, orders["cust"] == customers["id"])
    return joined.groupBy("country").sum("amount").withColumnRenamed("sum(amount)", "total")


def test_the_rows_that_were_reached(spark: SparkSession, raw: Path) -> None:
    found = hw.trace_forward(by_country(spark, raw), source="raw/orders", where="order_id <= 3")
    assert {(row["country"], row["total"]) for row in found.rows.collect()} == {("DE", 30), ("FR", 5)}
    assert found.count() == 2
    assert found.reached
    assert found.grain == "exact"
    assert {(row["order_id"], row["_row"]) for row in found.source_rows.collect()} == {(1, 0), (2, 1), (3, 2)}
    ids = {row["country"]: row["out_id"] for row in found.rows.collect()}
    assert {(out_id, row) for out_id, _, row in pairs(found.pairs)} == {(ids["DE"], 0), (ids["DE"], 1), (ids["FR"], 2)}
    found.release()


def test_rows_that_led_nowhere(spark: SparkSession, raw: Path) -> None:
    found = hw.trace_forward(by_country(spark, raw), source="raw/orders", where="order_id = 4")
    assert found.rows.collect() == []
    assert found.pairs.collect() == []
    assert not found.reached
    assert [row["order_id"] for row in found.source_rows.collect()] == [4]


def test_a_source_that_only_takes_away(spark: SparkSession, raw: Path) -> None:
    orders = spark.read.parquet(f"{raw}/orders")
    customers = spark.read.parquet(f"{raw}/customers")
    frame = orders.join(customers, orders["cust"] == customers["id"], "left_anti")
    found = hw.trace_forward(frame, source="raw/customers")
    assert found.rows.collect() == []
    assert found.pairs.collect() == []
    assert found.pairs.columns == ["out_id", "file", "row"]


def test_a_table_joined_with_itself_is_followed_from_both_sides(spark: SparkSession, raw: Path) -> None:
    orders = spark.read.parquet(f"{raw}/orders").where("cust = 7")
    left, right = orders.alias("left"), orders.alias("right")
    frame = left.join(right).selectExpr("left.order_id as one", "right.order_id as other")
    found = hw.trace_forward(frame, source="raw/orders", where="order_id = 1")
    assert {(row["one"], row["other"]) for row in found.rows.collect()} == {(1, 1), (1, 2), (2, 1)}
    assert found.source_rows.count() == 1


def test_two_columns_of_one_name(spark: SparkSession, raw: Path) -> None:
    orders = spark.read.parquet(f"{raw}/orders")
    frame = orders.selectExpr("order_id as x", "amount as x")
    found = hw.trace_forward(frame, source="raw/orders", where="order_id = 3")
    assert [tuple(row)[:2] for row in found.rows.collect()] == [(3, 5)]


def test_a_condition_lets_the_source_skip(spark: SparkSession, raw: Path) -> None:
    frame = spark.read.parquet(f"{raw}/orders").where("amount > 1")
    found = hw.trace_forward(frame, source="raw/orders", where="order_id = 3")
    plan = found.rows._jdf.queryExecution().executedPlan().toString()
    assert "EqualTo(order_id,3)" in plan


@pytest.mark.parametrize(
    ("source", "where", "said"),
    [
        ("raw/ordrs", None, "'raw/ordrs' is not a source here. Sources: .*raw/orders, .*raw/customers"),
        ("raw/orders", "order = 1", "'order = 1' does not fit raw/orders: .*Columns: order_id, cust, amount"),
        ("raw/orders", "order_id == ", "'order_id == ' does not fit raw/orders: .*Columns: order_id, cust, amount"),
        ("raw/orders", "order_id", "'order_id' does not fit raw/orders: .*boolean.*Columns: order_id, cust, amount"),
        ("raw/orders", "country = 'DE'", "does not fit raw/orders: .*country.*Columns: order_id, cust, amount"),
    ],
)
def test_what_cannot_be_asked(spark: SparkSession, raw: Path, source: str, where: str | None, said: str) -> None:
    with pytest.raises(RowsError, match=said):
        hw.trace_forward(by_country(spark, raw), source=source, where=where)
