"""`cdme.accountingLedger` of captured writes, against counts by hand in Python."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import pytest

import headwater as hw
from headwater.evidence import files, run_evidence
from headwater.evidence.ledger import count_ledger
from tests.assurance.evidence_jobs import facets_of, proving
from tests.capture.watching import Watch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Row = tuple[Any, ...]
_chance = random.Random(7)
ORDERS: list[Row] = [(id, _chance.randrange(20), _chance.randrange(-5, 50)) for id in range(300)]
SHOPS: list[Row] = [(id, f"shop {id % 7}") for id in range(4, 30)]


@pytest.fixture(scope="module")
def shop(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("shop")
    for name, rows, schema in (
        ("orders", ORDERS, "id int, shop int, amount int"),
        ("shops", SHOPS, "shop int, name string"),
    ):
        spark.createDataFrame(rows, schema).repartition(3).write.parquet(f"{folder}/{name}")
        spark.read.parquet(f"{folder}/{name}").createOrReplaceTempView(name)
    yield
    for name in ("orders", "shops"):
        spark.catalog.dropTempView(name)


@pytest.fixture(scope="module")
def watch(spark: SparkSession, shop: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watch]:
    with proving(spark, tmp_path_factory.mktemp("watch")) as found:
        yield found


def ledger(spark: SparkSession, watch: Watch, folder: Path, query: str) -> dict[str, Any]:
    with hw.run("accounted", ledger=True):
        spark.sql(query).write.parquet(f"{folder}/out")
    (run,) = watch.new_runs()
    told: dict[str, Any] = facets_of(run)["cdme.accountingLedger"]
    return told


def reached(told: dict[str, Any]) -> dict[str, int]:
    for each in told["sources"]:
        whole = {"orders": len(ORDERS), "shops": len(SHOPS)}[each["dataset"].rpartition("/")[2]]
        assert each["inputRecordCount"] == whole == each["processedCount"] + each["filteredCount"]
        assert (each["erroredCount"], each["balanced"], each["exact"]) == (0, True, True)
    assert told["balanced"] is told["exact"] is True
    return {each["dataset"].rpartition("/")[2]: each["processedCount"] for each in told["sources"]}


def positive(order: Row) -> bool:
    return bool(order[2] > 0)


def most_orders(shops: int) -> list[tuple[int, int]]:
    counted = Counter(order[1] for order in ORDERS if positive(order))
    return sorted(counted.items(), key=lambda each: (-each[1], each[0]))[:shops]


def average() -> float:
    return fmean(order[2] for order in ORDERS if order[1] < 3)


KNOWN = {shop for shop, _ in SHOPS}
Case = tuple[str, Callable[[], dict[str, int]]]
BY_HAND: list[Case] = [
    (
        "SELECT o.id, s.name FROM orders o JOIN shops s ON o.shop = s.shop WHERE o.amount > 0",
        lambda: {
            "orders": sum(positive(order) and order[1] in KNOWN for order in ORDERS),
            "shops": len({order[1] for order in ORDERS if positive(order)} & KNOWN),
        },
    ),
    (
        "SELECT shop, sum(amount) AS amount FROM orders GROUP BY shop HAVING count(*) > 15",
        lambda: {
            "orders": sum(count for shop in range(20) if (count := sum(order[1] == shop for order in ORDERS)) > 15)
        },
    ),
    (
        "SELECT a.id FROM orders a JOIN orders b ON a.id = b.id + 100",
        lambda: {"orders": len({id for id, _, _ in ORDERS if id >= 100} | {id for id, _, _ in ORDERS if id < 200})},
    ),
    (
        "SELECT id FROM orders WHERE amount > (SELECT avg(amount) FROM orders WHERE shop < 3)",
        lambda: {"orders": len({order[0] for order in ORDERS if order[1] < 3 or order[2] > average()})},
    ),
    (
        "SELECT shop FROM orders WHERE amount > 40 UNION ALL SELECT shop FROM shops WHERE name = 'shop 3'",
        lambda: {
            "orders": sum(order[2] > 40 for order in ORDERS),
            "shops": sum(name == "shop 3" for _, name in SHOPS),
        },
    ),
]
MORE_BY_HAND: list[Case] = [
    ("SELECT * FROM orders WHERE amount > 0", lambda: {"orders": sum(map(positive, ORDERS))}),
    (
        "SELECT o.id, s.name FROM orders o LEFT JOIN shops s ON o.shop = s.shop",
        lambda: {"orders": len(ORDERS), "shops": len({order[1] for order in ORDERS} & KNOWN)},
    ),
    (
        "SELECT shop, count(*) AS n FROM orders WHERE amount > 0 GROUP BY shop ORDER BY n DESC, shop LIMIT 3",
        lambda: {"orders": sum(count for _, count in most_orders(3))},
    ),
    (
        "SELECT id FROM orders o WHERE EXISTS (SELECT 1 FROM shops s WHERE s.shop = o.shop)",
        lambda: {
            "orders": sum(order[1] in KNOWN for order in ORDERS),
            "shops": len({order[1] for order in ORDERS} & KNOWN),
        },
    ),
]


@pytest.mark.parametrize(
    ("query", "by_hand"), [*BY_HAND, *(pytest.param(*case, marks=pytest.mark.long) for case in MORE_BY_HAND)]
)
def test_exact_ledgers(
    spark: SparkSession, watch: Watch, tmp_path: Path, query: str, by_hand: Callable[[], dict[str, int]]
) -> None:
    assert reached(ledger(spark, watch, tmp_path, query)) == by_hand()


def test_a_source_that_cannot_be_followed_is_named(spark: SparkSession, watch: Watch, tmp_path: Path) -> None:
    told = ledger(spark, watch, tmp_path, "SELECT id, rand() AS chance FROM orders WHERE rand() < 0.5")
    assert told["sources"] == []
    assert told["exact"] is False
    assert "balanced" not in told
    (refused,) = told["notFollowed"]
    assert refused["dataset"].endswith("orders")
    assert "rand" in refused["reason"]


def test_rows_without_a_position(spark: SparkSession, watch: Watch, tmp_path: Path) -> None:
    """Of the two sources of one query one can be traced: its counts are correct, and the other is named."""
    spark.createDataFrame([(4, 1), (5, 1), (5, 1)], "shop int, n int").createOrReplaceTempView("made")
    query = "SELECT s.name FROM shops s JOIN made m ON s.shop = m.shop"
    try:
        told = ledger(spark, watch, tmp_path, query)
    finally:
        spark.catalog.dropTempView("made")
    assert [(each["dataset"].rpartition("/")[2], each["processedCount"]) for each in told["sources"]] == [("shops", 2)]
    assert [each["balanced"] for each in told["sources"]] == [True]
    assert "balanced" not in told, "of all rows nothing is known"
    assert told["exact"] is False
    assert ["have no position" in each["reason"] for each in told["notFollowed"]] == [True]


@pytest.mark.parametrize(
    ("query", "processed", "exact"),
    [
        pytest.param("SELECT n FROM lines WHERE shop > 4", 3, False, marks=pytest.mark.long),
        ("SELECT s.name FROM lines l JOIN shops s ON l.shop = s.shop", 4, False),
        pytest.param(
            "SELECT shop, sum(n) AS n FROM lines GROUP BY shop HAVING sum(n) > 1", 3, False, marks=pytest.mark.long
        ),
        ("SELECT s.name FROM once l JOIN shops s ON l.shop = s.shop", 3, True),
    ],
)
def test_rows_identified_by_their_content(
    spark: SparkSession, watch: Watch, tmp_path: Path, query: str, processed: int, exact: bool
) -> None:
    """Rows of a CSV file have no positions. Equal rows are counted each, and the ledger says that they are equal."""
    for name, text in (("lines", "4,1\n5,1\n5,1\n3,1\n5,2\n"), ("once", "4,1\n5,1\n3,1\n5,2\n")):
        Path(tmp_path, f"{name}.csv").write_text(text)
        spark.read.csv(f"{tmp_path}/{name}.csv", "shop int, n int").createOrReplaceTempView(name)
    try:
        told = ledger(spark, watch, tmp_path, query)
    finally:
        for name in ("lines", "once"):
            spark.catalog.dropTempView(name)
    (found,) = [each for each in told["sources"] if each["dataset"].endswith(".csv")]
    whole = 4 if exact else 5
    counts = ("inputRecordCount", "processedCount", "filteredCount")
    assert tuple(found[name] for name in counts) == (whole, processed, whole - processed)
    assert (found["balanced"], found["exact"], "note" in found) == (True, exact, not exact)
    assert (told["balanced"], told["exact"]) == (True, exact)


def test_only_on_request(spark: SparkSession, watch: Watch, tmp_path: Path) -> None:
    with hw.run("plain"):
        spark.table("orders").write.parquet(f"{tmp_path}/out")
    (run,) = watch.new_runs()
    assert "cdme.accountingLedger" not in facets_of(run)


PLANTED = "SELECT o.id, s.name FROM orders o JOIN shops s ON o.shop = s.shop"


@pytest.mark.parametrize(
    ("query", "damage", "words"),
    [
        (PLANTED, "file, rows, places - 90 as places", "and its last is"),
        ("SELECT * FROM orders", "file, rows - 90 as rows, null as places", r"\d+ rows of -?\d+$"),
        (PLANTED, "file + 1 as file, rows, places", "and none were counted in it"),
    ],
)
def test_a_position_outside_the_file_is_detected(
    spark: SparkSession,
    watch: Watch,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    query: str,
    damage: str,
    words: str,
) -> None:
    """As if row lineage had led to other files, or to more rows, than were read: the separate count of the files' rows
    differs by as much."""
    counted = files.file_row_counts

    def damaged(provenance: Any, source: Any) -> Any:
        return counted(provenance, source).selectExpr(*damage.split(", "))

    monkeypatch.setattr(files, "file_row_counts", damaged)
    told = ledger(spark, watch, tmp_path, query)
    assert told["balanced"] is False
    orders = next(each for each in told["sources"] if each["dataset"].endswith("orders"))
    assert orders["balanced"] is False
    assert all(re.search(words, each) for each in orders["beyond"])
    assert len(orders["beyond"]) == 3, "each of its files"


def test_a_replaced_file(spark: SparkSession, watch: Watch, tmp_path: Path) -> None:
    """Replaced between the write and its ledger: the counted rows are not those that were read, so nothing is
    claimed."""
    spark.range(10).selectExpr("id", "id % 3 as kind").coalesce(1).write.parquet(f"{tmp_path}/in")
    (file,) = Path(tmp_path, "in").glob("*.parquet")
    spark.range(4).selectExpr("id", "id % 3 as kind").coalesce(1).write.parquet(f"{tmp_path}/other")
    (other,) = Path(tmp_path, "other").glob("*.parquet")

    def late(*arguments: Any) -> Any:
        file.write_bytes(other.read_bytes())
        file.with_name(f".{file.name}.crc").unlink()
        return count_ledger(*arguments)

    with pytest.MonkeyPatch.context() as patched, hw.run("accounted", ledger=True):
        patched.setattr(run_evidence, "count_ledger", late)
        spark.read.parquet(f"{tmp_path}/in").where("id > 1").write.parquet(f"{tmp_path}/out")
        assert hw.flush(60)
    run = watch.new_runs()[-1]
    told = facets_of(run)["cdme.accountingLedger"]
    assert "balanced" not in told
    assert told["partly"].startswith("an input was changed before its rows were looked up")
