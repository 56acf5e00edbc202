"""Dead letters: each once, with its types, its error, its attempts and its items."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F

import headwater as hw
from tests.pipeline.shop import PRICED, Shop, pricing

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

TYPES = """
    1L as id, date'1900-02-28' as day,
    timestamp'2026-10-25 00:30:00Z' as twice, timestamp'2026-10-25 01:30:00Z' as later,
    timestamp_ntz'2026-10-25 02:30:00' as local, 12345678901234567890.123456789012345678BD as exact,
    X'00ff' as raw, double('NaN') as nan, double('-Infinity') as low, float(0.1) as short_float, -0.0D as minus,
    9Y as byte, 300S as short, true as yes, 'ü\\'"{"' as text, cast(null as string) as nothing,
    interval '1 02:03:04.5' day to second as span,
    map(1, named_struct('a', array(1, null)), 2, null) as by_number,
    named_struct('x', array(named_struct('at', timestamp'2026-10-25 00:30:00Z')), 'y', array(X'01')) as `deep er`,
    array(date'2026-01-02', null) as days
"""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The default store is in the current folder."""
    monkeypatch.chdir(tmp_path)


def fail(row: Row) -> None:
    raise LookupError(f"nothing for {row.id}")


def test_a_row_keeps_all_its_types(spark: SparkSession, tmp_path: Path) -> None:
    spark.conf.set("spark.sql.session.timeZone", "Europe/Vienna")
    try:
        spark.sql(f"SELECT {TYPES}").write.parquet(str(tmp_path / "rows"))
        p = hw.Pipeline("types", namespace="test")
        rows = p.source("rows", lambda spark: spark.read.parquet(str(tmp_path / "rows")))
        p.sink("out", p.map("m", rows, fail, schema="id long", on_error="dead_letter"), path=str(tmp_path / "out"))
        p.run(spark, options=hw.LineageOptions.off().with_(location=str(tmp_path / "l")))
        given = spark.read.parquet(str(tmp_path / "rows"))
        letters = spark.read.parquet(f"{tmp_path}/l/dead_letters/{p.id}/m")
        back = letters.select("row.*")
        assert [(f.name, f.dataType) for f in back.schema] == [(f.name, f.dataType) for f in given.schema]
        # By Spark's own text for each value: Python has one time for two moments of that night.
        texts = [F.to_json(F.struct(F.col(f"`{name}`"))).alias(f"t{place}") for place, name in enumerate(given.columns)]
        assert back.select(*texts).collect() == given.select(*texts).collect()
        assert back.where("twice < later and isnan(nan) and by_number[1].a[0] = 1").count() == 1
        (letter,) = letters.select("items", "item_count", "error", "attempts").collect()
        assert tuple(letter) == ([], 0, "LookupError: nothing for 1", 1)
    finally:
        spark.conf.unset("spark.sql.session.timeZone")


def test_each_node_has_its_dead_letters_once(spark: SparkSession, tmp_path: Path) -> None:
    shop = Shop(tmp_path).open(spark)
    p = hw.Pipeline("letters", namespace="test")
    orders = p.source("orders", shop.read("orders"), key="order_id")
    customers = p.source("customers", shop.read("customers"), key="customer_id")
    how: dict[str, Any] = {"schema": PRICED, "on_error": "dead_letter"}
    one = p.map("one", orders, pricing({1}), retries=2, **how)
    named = p.join("named", one, customers, on="customer_id")
    two = p.map("two", named, lambda row: pricing({3})(row_of(row)), **how)
    well = p.flat_map("well", two, lambda row: [row], **how)
    daily = p.aggregate("daily", well, by="day", eur=F.sum("eur"), customer_id=F.max("customer_id"))
    last = p.map("last", daily, lambda row: 1 / 0, **how)
    p.sink("out", last, path=str(tmp_path / "out"))
    result = p.run(spark, options=shop.options)

    ids = {row.key: row.correlation_id for row in result.items.collect() if row.source == "orders"}
    (of_one,) = shop.letters(spark, p, "one").collect()
    assert (of_one.row.order_id, of_one.attempts, of_one.node, of_one.pipeline) == (1, 3, "one", "letters")
    assert of_one.run_id == result.run_id
    assert [tuple(item) for item in of_one["items"]] == [("orders", ids['{"order_id":1}'])]
    (of_two,) = shop.letters(spark, p, "two").collect()
    assert sorted(item.source for item in of_two["items"]) == ["customers", "orders"]
    assert of_two.item_count == 2
    # Behind an aggregate a letter is made of many: both orders of a customer whose orders were priced.
    of_last = {row.row.day: row for row in shop.letters(spark, p, "last").collect()}
    assert of_last.keys() == {"2026-11-15", "2026-11-16"}
    named_items = {item.correlation_id for item in of_last["2026-11-15"]["items"] if item.source == "orders"}
    assert named_items == {ids['{"order_id":2}'], ids['{"order_id":6}']}
    assert of_last["2026-11-15"].item_count == 3
    assert not (tmp_path / "items" / "dead_letters" / p.id / "well").exists()
    # With order 3 its customer, and with the daily sums theirs.
    dead = result.items.where("reason = 'DeadLettered'").groupBy("node").count().collect()
    assert {row[0]: row[1] for row in dead} == {"one": 1, "two": 2, "last": 4}


def row_of(row: Row) -> Row:
    from pyspark.sql import Row

    return Row(order_id=row.order_id, customer_id=row.customer_id, day=row.day, amount=row.eur)
