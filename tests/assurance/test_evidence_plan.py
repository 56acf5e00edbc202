"""`cdme.typeUnification`, `cdme.morphismTrace` and `cdme.grainSafety` of planted queries."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import headwater as hw
from tests.assurance.evidence_jobs import facets_of, proving
from tests.capture.watching import Watch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Json = dict[str, Any]


@pytest.fixture(scope="module")
def shop(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Two items of order 1, and two tax rates for the same country."""
    folder = tmp_path_factory.mktemp("shop")
    tables = {
        "orders": ([(1, "ch", 10.5), (2, "de", 20.0), (3, "xx", 5.0)], "id int, country string, total double"),
        "items": ([(1, "a", 2), (1, "b", 3), (2, "c", 4)], "order_id int, sku string, qty int"),
        "countries": ([("ch", 8), ("de", 19), ("de", 20)], "code string, tax int"),
        "events": ([("2026-11-15 10:00:00", "7")], "at string, number string"),
    }
    for name, (rows, schema) in tables.items():
        spark.createDataFrame(rows, schema).write.parquet(f"{folder}/{name}")
        spark.read.parquet(f"{folder}/{name}").createOrReplaceTempView(name)
    yield folder
    for name in tables:
        spark.catalog.dropTempView(name)


@pytest.fixture(scope="module")
def watch(spark: SparkSession, shop: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watch]:
    with proving(spark, tmp_path_factory.mktemp("watch")) as found:
        yield found


def evidence(spark: SparkSession, watch: Watch, folder: Path, query: str, *, ledger: bool = False) -> Json:
    with hw.run("planted", ledger=ledger):
        spark.sql(query).write.parquet(f"{folder}/out")
    (run,) = watch.new_runs()
    return facets_of(run)


def casts(facets: Json) -> set[tuple[str | None, str, str, str, bool | None]]:
    reports = facets["cdme.typeUnification"]["morphismReports"]
    return {(each.get("column"), each["from"], each["to"], each["cast"], each["lossy"]) for each in reports}


# -- types -------------------------------------------------------------------------------------------------------------


def test_explicit_and_inserted_casts(spark: SparkSession, watch: Watch, tmp_path: Path) -> None:
    query = """SELECT CAST(total AS int) AS whole, qty + total AS both, CAST(qty AS bigint) AS more
               FROM orders JOIN items ON id = order_id"""
    assert casts(evidence(spark, watch, tmp_path, query)) == {
        ("whole", "double", "int", "explicit", True),
        ("both", "int", "double", "implicit", False),
        ("more", "int", "bigint", "explicit", False),
    }


def test_casts_of_a_data_frame(spark: SparkSession, watch: Watch, tmp_path: Path) -> None:
    from pyspark.sql import functions as F

    frame = spark.table("events").select(F.col("at").cast("timestamp").cast("date").alias("day"), F.col("number") + 1)
    with hw.run("planted"):
        frame.toDF("day", "next").write.parquet(f"{tmp_path}/out")
    (run,) = watch.new_runs()
    found = casts(facets_of(run))
    assert ("day", "string", "timestamp", "explicit", True) in found
    assert ("day", "timestamp", "date", "explicit", True) in found
    assert [(each[1], each[3], each[4]) for each in found if each[0] != "day"] == [("string", "implicit", True)]


def test_a_cast_in_a_condition_belongs_to_no_column(spark: SparkSession, watch: Watch, tmp_path: Path) -> None:
    facets = evidence(spark, watch, tmp_path, "SELECT total FROM orders JOIN events ON id = number")
    reports = facets["cdme.typeUnification"]["morphismReports"]
    assert all("column" not in each and each["node"].endswith("Join") for each in reports)
    found = {(each["from"], each["cast"]): each["lossy"] for each in reports}
    assert found.pop(("string", "implicit")) is True
    assert set(found.values()) <= {False}  # the number's own, to the type of both


def test_an_outer_join_makes_columns_nullable(spark: SparkSession, watch: Watch, tmp_path: Path) -> None:
    query = "SELECT a.id, b.id AS other FROM range(3) a LEFT JOIN range(2) b ON a.id = b.id"
    changes = evidence(spark, watch, tmp_path, query)["cdme.typeUnification"]["nullabilityChanges"]
    assert [(each["column"], each["nullable"]) for each in changes] == [("id", True)]
    assert changes[0]["node"].endswith("Join")


def test_a_cast_before_a_checkpoint_is_recorded(spark: SparkSession, watch: Watch, tmp_path: Path) -> None:
    with hw.run("planted"):
        cut = spark.sql("SELECT id, CAST(total AS int) AS whole FROM orders").localCheckpoint()
        cut.where("whole > 5").selectExpr("whole * 2 AS twice").write.parquet(f"{tmp_path}/out")
    (run,) = watch.new_runs()
    facets = facets_of(run)
    assert ("whole", "double", "int", "explicit", True) in casts(facets)
    assert traced(facets, "twice")[0] == "orders.total"
    assert any("CAST" in each for each in traced(facets, "twice"))
    assert [facets[f"cdme.{name}"]["complete"] for name in ("typeUnification", "morphismTrace", "grainSafety")] == [
        *(True, True, True)
    ]


# -- the way of columns ------------------------------------------------------------------------------------------------


def traced(facets: Json, column: str) -> list[str]:
    steps: list[str] = facets["cdme.morphismTrace"]["targetAttributes"][column]
    return [step.rpartition("/")[2] if step.startswith("file") else step.partition(": ")[2] for step in steps]


def test_from_a_column_back_to_its_sources(spark: SparkSession, watch: Watch, tmp_path: Path) -> None:
    query = """WITH taxed AS (
                 SELECT country, total * (1 + tax / 100) AS due FROM orders JOIN countries ON country = code
               )
               SELECT country AS land, sum(due) AS due FROM taxed GROUP BY country
               UNION ALL SELECT sku, qty FROM items"""
    facets = evidence(spark, watch, tmp_path, query)
    assert traced(facets, "land")[:2] == ["items.sku", "orders.country"]
    due = traced(facets, "due")
    assert due[:3] == ["countries.tax", "items.qty", "orders.total"]
    made, added, united = (
        next(place for place, step in enumerate(due) if word in step) for word in ("100", "sum(", "UNION")
    )
    assert 2 < made < added < united


# -- grain -------------------------------------------------------------------------------------------------------------

DOUBLE = "SELECT country, sum(total) AS total, sum(qty) AS qty FROM orders JOIN items ON id = order_id GROUP BY country"


def checks(facets: Json, where: str) -> dict[tuple[str, str | None], Any]:
    found = facets["cdme.grainSafety"][where]
    return {(each["check"], each.get("column")): each.get("holds") for each in found}


def test_the_plan_alone_does_not_decide(spark: SparkSession, watch: Watch, tmp_path: Path) -> None:
    facets = evidence(spark, watch, tmp_path, DOUBLE)
    assert checks(facets, "validations") == {}
    assert set(checks(facets, "undecided")) >= {("fan-out", None), ("double counting", "total")}


def test_double_counting_is_measured(spark: SparkSession, watch: Watch, tmp_path: Path) -> None:
    facets = evidence(spark, watch, tmp_path, DOUBLE, ledger=True)
    found = checks(facets, "validations")
    assert found["double counting", "total"] is False
    assert found["double counting", "qty"] is True
    (wrong,) = [each for each in facets["cdme.grainSafety"]["validations"] if each.get("column") == "total"]
    assert wrong["detail"].startswith("2 rows were added up as 3, multiplied by ")
    assert [key.rpartition(" row ")[2] for key in wrong["keys"]] == ["0, 2 times"]
    assert wrong["keys"][0].split(" row ")[0].rpartition("/")[0].endswith("orders")


def test_a_fan_out_is_measured(spark: SparkSession, watch: Watch, tmp_path: Path) -> None:
    """One tax rate too many for a country, and no aggregate."""
    query = "SELECT id, tax FROM orders JOIN countries ON country = code"
    facets = evidence(spark, watch, tmp_path, query, ledger=True)
    (wrong,) = facets["cdme.grainSafety"]["validations"]
    assert (wrong["check"], wrong["holds"], wrong["by"]) == ("fan-out", False, "rows")
    assert [key.rpartition(", ")[2] for key in wrong["keys"]] == ["2 times"], "the one order of that country"
    assert wrong["keys"][0].split(" row ")[0].rpartition("/")[0].endswith("orders")
    assert facets["cdme.grainSafety"]["undecided"] == []


def test_a_join_that_multiplies_no_rows(spark: SparkSession, watch: Watch, tmp_path: Path) -> None:
    query = "SELECT sku, total FROM items JOIN orders ON id = order_id"
    facets = evidence(spark, watch, tmp_path, query, ledger=True)
    assert checks(facets, "validations") == {("fan-out", None): True}
    assert checks(facets, "undecided") == {}


def test_rows_counted_more_than_once(spark: SparkSession, watch: Watch, tmp_path: Path) -> None:
    query = """SELECT country, count(*) AS n FROM orders JOIN items ON id = order_id
               JOIN countries ON country = code GROUP BY country"""
    assert ("double counting", "n") in checks(evidence(spark, watch, tmp_path, query), "undecided")
    measured = evidence(spark, watch, tmp_path / "again", query, ledger=True)
    assert checks(measured, "validations")["double counting", "n"] is False


def test_measures_of_two_grains(spark: SparkSession, watch: Watch, tmp_path: Path) -> None:
    query = """SELECT sum(total) AS total, sum(tax) AS tax FROM orders
               JOIN (SELECT code, max(tax) AS tax FROM countries GROUP BY code) ON country = code"""
    facets = evidence(spark, watch, tmp_path, query)
    assert checks(facets, "validations") == {("fan-out", None): True}
    assert set(checks(facets, "undecided")) == {("double counting", "tax"), ("mixed grain", "tax, total")}
    grains = {each["node"].partition(" ")[2]: each.get("grain") for each in facets["cdme.grainSafety"]["nodes"]}
    assert grains["Join"] is None, "of the orders no key is known"


@pytest.mark.parametrize(
    "query",
    [
        "SELECT country, max(total) AS total FROM orders JOIN items ON id = order_id GROUP BY country",
        "SELECT country, sum(DISTINCT total) AS total FROM orders JOIN items ON id = order_id GROUP BY country",
        "SELECT sum(total) AS total FROM orders LEFT SEMI JOIN items ON id = order_id",
        """SELECT sum(total) AS total FROM orders
           JOIN (SELECT order_id, sum(qty) AS qty FROM items GROUP BY order_id) ON id = order_id""",
        """SELECT sum(total * qty) AS total FROM items
           JOIN (SELECT id, max(total) AS total FROM orders GROUP BY id) ON id = order_id""",
    ],
)
def test_what_cannot_count_twice(spark: SparkSession, watch: Watch, tmp_path: Path, query: str) -> None:
    facets = evidence(spark, watch, tmp_path, query)
    assert not [each for each in checks(facets, "undecided") if each[0] == "double counting"]


def test_one_row_for_each_group(spark: SparkSession, watch: Watch, tmp_path: Path) -> None:
    query = """SELECT c.country AS land, o.total FROM (SELECT country, count(*) AS n FROM orders GROUP BY country) c
               JOIN (SELECT country, sum(total) AS total FROM orders GROUP BY country) o ON c.country = o.country"""
    facets = evidence(spark, watch, tmp_path, query)
    (join,) = facets["cdme.grainSafety"]["validations"]
    assert (join["check"], join["holds"], join["cardinality"]) == ("fan-out", True, "one to one")
    assert facets["cdme.grainSafety"]["nodes"][0]["grain"] in (["land"], ["country"])
