"""Python functions of groups: a row leads to its group, and to no other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import headwater as hw

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture
def orders(spark: SparkSession, shop: Path) -> DataFrame:
    return spark.read.parquet(str(shop / "orders"))


def traced(frame: DataFrame, where: str, source: str = "orders", column: str = "id") -> list[Any]:
    found = hw.trace(frame, where)
    assert set(found.grain.values()) == {"group"}
    return sorted(row[column] for row in found.sources[source].collect())


def total(rows: Any) -> Any:
    import pandas as pd

    return pd.DataFrame({"n": [len(rows)], "total": [float(rows["amount"].sum())]})


def test_a_function_that_tells_nothing_of_its_group(orders: DataFrame) -> None:
    totals = orders.groupBy("customer").applyInPandas(total, "n long, total double")
    assert traced(totals, "total = 30") == [1, 2]
    assert traced(totals, "total = 5") == [3, 4]
    assert traced(totals, "total = 3") == [6], "a key of null is a key"


def test_what_is_above_and_below_it(orders: DataFrame) -> None:
    below = orders.where("amount > 10 or customer = 'b'").groupBy("customer", (orders.id % 2).alias("odd"))
    totals = below.applyInPandas(total, "n long, total double").where("n = 1").groupBy("n").count()
    assert traced(totals, "true") == [2, 3, 4]


def test_a_function_that_wants_the_key_and_one_that_gives_back_what_it_got(orders: DataFrame) -> None:
    def named(key: Any, rows: Any) -> Any:
        import pandas as pd

        return pd.DataFrame({"who": [key[0]]})

    assert traced(orders.groupBy("customer").applyInPandas(named, "who string"), "who = 'a'") == [1, 2]
    same = orders.groupBy("customer").applyInPandas(lambda rows: rows, orders.schema)
    assert traced(same, "id = 1") == [1, 2]


def test_columns_by_their_places_and_groups_that_give_nothing(orders: DataFrame) -> None:
    def some(rows: Any) -> Any:
        import pandas as pd

        return pd.DataFrame() if len(rows) == 1 else pd.DataFrame([[len(rows), "x"]])

    pairs = orders.groupBy("customer").applyInPandas(some, "n long, word string")
    assert pairs.count() == 2
    assert traced(pairs, "n = 2") == [1, 2, 3, 4], "two groups gave equal rows"


def test_two_groups_side_by_side(spark: SparkSession, shop: Path, orders: DataFrame) -> None:
    customers = spark.read.parquet(str(shop / "customers"))

    def sizes(left: Any, right: Any) -> Any:
        import pandas as pd

        who = left["customer"] if len(left) else right["customer"]
        return pd.DataFrame({"who": [who.iloc[0]], "n": [len(left)], "m": [len(right)]})

    both = orders.groupBy("customer").cogroup(customers.groupBy("customer"))
    frame = both.applyInPandas(sizes, "who string, n long, m long")
    assert traced(frame, "who = 'b'") == [3, 4]
    assert traced(frame, "who = 'b'", "customers", "name") == ["Bob"]
    assert traced(frame, "who = 'c'") == []
    assert traced(frame, "who = 'c'", "customers", "name") == ["Cid"]


def test_functions_of_arrow(orders: DataFrame) -> None:
    import pyarrow as pa

    grouped: Any = orders.groupBy("customer")
    if not hasattr(grouped, "applyInArrow"):
        pytest.skip("not run: this Spark has no applyInArrow")

    def size(key: Any, rows: Any) -> Any:
        return pa.table({"who": pa.array([key[0].as_py()], pa.string()), "n": [rows.num_rows]})

    assert traced(grouped.applyInArrow(size, "who string, n long"), "who = 'b'") == [3, 4]


def test_what_cannot_say_its_group_is_labelled(orders: DataFrame) -> None:
    """A function too large for its command is sent by a broadcast, and stays as it is."""
    ballast = bytes(range(256)) * 8_000

    def heavy(rows: Any) -> Any:
        import pandas as pd

        return pd.DataFrame({"n": [len(rows) + 0 * len(ballast)]})

    found = hw.trace(orders.groupBy("customer").applyInPandas(heavy, "n long"), "n = 1")
    assert set(found.grain.values()) == {"all"}
    assert sorted(row["id"] for row in found.sources["orders"].collect()) == [1, 2, 3, 4, 5, 6]


def test_batches_are_not_groups(orders: DataFrame) -> None:
    def same(batches: Iterator[Any]) -> Iterator[Any]:
        return batches

    assert set(hw.trace(orders.mapInPandas(same, orders.schema), "id = 1").grain.values()) == {"all"}
