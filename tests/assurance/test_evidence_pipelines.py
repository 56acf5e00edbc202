"""The evidence of a declared pipeline: its hashes, and a ledger that must balance."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import headwater as hw
from headwater.errors import MismatchRefused
from headwater.model.certificates import Certificate
from tests.assurance.evidence_jobs import differing, facets_of, manifest, proving
from tests.capture.telling import Run
from tests.capture.watching import APPLICATION, Watch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

FULL = hw.LineageOptions(mode="full")
ORDERS = [(1, "ch", 10), (2, "de", 20), (3, "xx", 30), (4, "de", -1), (5, "ch", 7), (6, "ch", 8)]


def priced(row: Row) -> Any:
    if row.id == 5:
        raise ValueError("no price")
    return {"id": row.id, "country": row.country, "amount": row.amount}


def priced_otherwise(row: Row) -> Any:
    if row.id in (5,):
        raise ValueError("no price")
    return {"id": row.id, "country": row.country, "amount": row.amount}


priced_otherwise.__qualname__ = priced.__qualname__  # the same design, and other code


def same(orders: DataFrame) -> DataFrame:
    return orders


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`orders` and `taxes`, to be copied."""
    folder = tmp_path_factory.mktemp("tables")
    spark.createDataFrame(ORDERS, "id int, country string, amount int").repartition(2).write.parquet(f"{folder}/orders")
    spark.createDataFrame([("ch", 8), ("de", 19), ("fr", 20)], "country string, tax int").write.parquet(
        f"{folder}/taxes"
    )
    return folder


@pytest.fixture
def folder(tables: Path, tmp_path: Path) -> Path:
    shutil.copytree(tables, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture
def watch(spark: SparkSession, folder: Path) -> Iterator[Watch]:
    with proving(spark, folder / "watch", checksums="rows") as found:
        yield found


def pipeline(
    folder: Path, *, price: Any = priced, retries: int = 0, on_the_way: Any = same, on_error: str = "dead_letter"
) -> hw.Pipeline:
    p = hw.Pipeline("taxed", namespace="tests")
    p.source("orders", lambda spark: spark.read.parquet(f"{folder}/orders"), key="id")
    p.source("taxes", lambda spark: spark.read.parquet(f"{folder}/taxes"), key="country")
    p.transform("same", "orders", on_the_way)
    p.transform("paid", "same", lambda orders: orders.where("amount > 0"))
    schema = "id int, country string, amount int"
    p.map("priced", "paid", price, schema=schema, retries=retries, on_error=on_error)
    p.join("both", "priced", "taxes", on="country")
    p.sink("out", "both", format="parquet", path=f"{folder}/out", mode="overwrite")
    return p


def evidence_of(watch: Watch) -> Run:
    (run,) = [run for run in watch.new_runs() if run.job != APPLICATION]
    return run


def run(spark: SparkSession, watch: Watch, folder: Path, options: hw.LineageOptions = FULL, **changes: Any) -> Run:
    partition = changes.pop("partition", None)
    options = options.with_(location=f"{folder}/items")
    pipeline(folder, **changes).run(spark, options=options, partition=partition, progress=False)
    return evidence_of(watch)


def certified(watch: Watch, ended: Run) -> Certificate:
    with hw.connect("memory://") as lin:
        lin.ingest_many(watch.all_events)
        (certificate,) = lin.certificates(run_id=ended.run_id)
        lin.verify()
    return certificate


def test_every_row_is_accounted_for(spark: SparkSession, watch: Watch, folder: Path) -> None:
    ended = run(spark, watch, folder)
    assert ended.states[-1] == "COMPLETE"
    ledger = facets_of(ended)["cdme.accountingLedger"]
    names = ("dataset", "inputRecordCount", "processedCount", "filteredCount", "erroredCount", "balanced", "exact")
    assert [tuple(source[name] for name in names) for source in ledger["sources"]] == [
        ("orders", 6, 3, 2, 1, True, True),  # 3 has no tax, 4 is not paid, 5 has no price
        ("taxes", 3, 2, 1, 0, True, True),
    ]
    assert (ledger["balanced"], ledger["exact"], ledger["inputRecordCount"]) == (True, True, 9)
    certificate = certified(watch, ended)
    assert {("balance", True), ("manifest", True)} <= {(each.name, each.holds) for each in certificate.invariants}
    assert "priced" in facets_of(ended)["cdme.runManifest"]["design"]


def test_steps_before_a_row_function_are_recorded(spark: SparkSession, watch: Watch, folder: Path) -> None:
    """The results of a row function are stored and read again; the steps before it are not lost."""
    p = hw.Pipeline("whole", namespace="tests")
    p.source("orders", lambda spark: spark.read.parquet(f"{folder}/orders"), key="id")
    p.transform("small", "orders", lambda orders: orders.selectExpr("id", "country", "cast(amount as tinyint) amount"))
    p.map("same", "small", lambda row: row.asDict(), schema="id int, country string, amount int")
    p.source("taxes", lambda spark: spark.read.parquet(f"{folder}/taxes"), key="country")
    p.join("both", "same", "taxes", on="country")
    p.sink("out", "both", format="parquet", path=f"{folder}/out", mode="overwrite")
    p.run(spark, options=FULL.with_(location=f"{folder}/items"), progress=False)
    facets = facets_of(evidence_of(watch))
    types = facets["cdme.typeUnification"]
    lossy = [(each["from"], each["to"]) for each in types["morphismReports"] if each["lossy"]]
    assert ("int", "tinyint") in lossy
    way = facets["cdme.morphismTrace"]["targetAttributes"]["amount"]
    assert any(step.endswith("orders.amount") for step in way)
    assert any("TINYINT" in step.upper() for step in way)
    assert types["complete"] is facets["cdme.morphismTrace"]["complete"] is True
    grain = facets["cdme.grainSafety"]
    assert [(each["check"], each["holds"], each["cardinality"]) for each in grain["validations"]] == [
        ("fan-out", True, "many to one")  # by the key that was declared of taxes
    ]
    assert grain["undecided"] == []


def test_a_fan_out_of_a_pipeline_is_reported_with_its_rows(spark: SparkSession, watch: Watch, folder: Path) -> None:
    spark.createDataFrame([("ch", 8), ("de", 19), ("de", 20)], "land string, tax int").write.parquet(f"{folder}/double")
    watch.new_runs()
    p = hw.Pipeline("taxed twice", namespace="tests")
    p.source("orders", lambda spark: spark.read.parquet(f"{folder}/orders"), key="id")
    p.source("taxes", lambda spark: spark.read.parquet(f"{folder}/double"))
    p.transform("both", ["orders", "taxes"], lambda orders, taxes: orders.join(taxes, orders.country == taxes.land))
    p.sink("out", "both", format="parquet", path=f"{folder}/out", mode="overwrite")
    p.run(spark, options=FULL.with_(location=f"{folder}/items"), progress=False)
    ended = evidence_of(watch)
    (wrong,) = [each for each in facets_of(ended)["cdme.grainSafety"]["validations"] if not each["holds"]]
    assert (wrong["check"], wrong["by"]) == ("fan-out", "rows")
    assert all("orders" in key and key.endswith("2 times") for key in wrong["keys"])
    assert len(wrong["keys"]) == 2, "the orders of the country that has two rates"
    assert ("grain", False) in {(each.name, each.holds) for each in certified(watch, ended).invariants}
    assert facets_of(ended)["cdme.accountingLedger"]["balanced"] is True


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (hw.LineageOptions(mode="sampled", sample_every=2), "one item in 2 was followed, as its options say"),
        (
            FULL.with_(ensure_terminal=False),
            "the rows of the sources were not counted beforehand, as its options say",
        ),
    ],
)
def test_a_sample_of_the_rows(
    spark: SparkSession, watch: Watch, folder: Path, options: hw.LineageOptions, why: str
) -> None:
    ended = run(spark, watch, folder, options)
    ledger = facets_of(ended)["cdme.accountingLedger"]
    assert (ledger["exact"], ledger["partly"], "balanced" in ledger) == (False, why, False)
    certificate = certified(watch, ended)
    assert {each.name: each.detail for each in certificate.undecided}["balance"] == f"not of all rows: {why}"
    assert "balance" not in {each.name for each in certificate.invariants}


def test_a_ledger_that_could_not_be_computed(
    spark: SparkSession, watch: Watch, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault of ours does not fail the run, and the run claims only what was counted."""

    def broken(*_: object) -> None:
        raise RuntimeError("no account today")

    monkeypatch.setattr("headwater.pipeline.items.accounts.ItemAccount.source_stages", broken)
    ended = run(spark, watch, folder)
    assert ended.states[-1] == "COMPLETE"
    ledger = facets_of(ended)["cdme.accountingLedger"]
    why = "the account could not be made: RuntimeError (its text is left out: it may quote values)"
    assert (ledger["exact"], ledger["partly"], ledger["sources"]) == (False, why, [])
    assert "balanced" not in ledger
    certificate = certified(watch, ended)
    assert {each.name: each.detail for each in certificate.undecided}["balance"] == f"not of all rows: {why}"
    assert "balance" not in {each.name for each in certificate.invariants}


def test_a_run_without_items_has_no_ledger(spark: SparkSession, watch: Watch, folder: Path) -> None:
    facets = facets_of(run(spark, watch, folder, hw.LineageOptions(mode="key")))
    assert "cdme.accountingLedger" not in facets
    assert "cdme.runManifest" in facets


def careless(folder: Path) -> Callable[[DataFrame], DataFrame]:
    def lose(orders: DataFrame) -> DataFrame:
        sorted(Path(folder, "orders").glob("*.parquet"))[0].unlink()
        return orders

    return lose


@pytest.mark.long
def test_rows_lost_before_a_join(spark: SparkSession, watch: Watch, folder: Path) -> None:
    """A file of the source is removed during the run, and Spark was configured to ignore missing files."""
    spark.conf.set("spark.sql.files.ignoreMissingFiles", "true")
    try:
        with pytest.raises(MismatchRefused, match=r"source 'orders' had 6 rows, but \d are accounted for") as refused:
            run(spark, watch, folder, FULL.with_(warn_on_mismatch=False), on_the_way=careless(folder))
    finally:
        spark.conf.unset("spark.sql.files.ignoreMissingFiles")
    assert "all records are in file:" in str(refused.value)
    ended = evidence_of(watch)
    assert ended.states[-1] == "FAIL"
    assert "are accounted for" in ended.last["run"]["facets"]["errorMessage"]["message"]
    ledger = facets_of(ended)["cdme.accountingLedger"]
    assert ledger["balanced"] is False
    assert [source["balanced"] for source in ledger["sources"]] == [False, True]
    certificate = certified(watch, ended)
    assert ("balance", False) in {(each.name, each.holds) for each in certificate.invariants}


def test_missing_and_surplus_rows_are_named(spark: SparkSession, watch: Watch, folder: Path) -> None:
    """During the run one of the source's two files is away. When the missing rows are computed, that file is back and
    the other is gone: some rows are named in each direction, and the location of all records."""
    first, second = sorted(Path(folder, "orders").glob("*.parquet"))
    aside = folder / "aside"
    rows = {file: spark.read.parquet(str(file)).count() for file in (first, second)}

    def lose(orders: DataFrame) -> DataFrame:
        if not aside.exists():
            first.rename(aside)
        return orders

    def swap(_mismatch: Any) -> None:
        if aside.exists():
            aside.rename(first)
            second.unlink()

    options = FULL.with_(on_mismatch=swap, warn_on_mismatch=False)
    spark.conf.set("spark.sql.files.ignoreMissingFiles", "true")
    try:
        with pytest.raises(MismatchRefused) as refused:
            run(spark, watch, folder, options, on_the_way=lose)
    finally:
        spark.conf.unset("spark.sql.files.ignoreMissingFiles")
    ledger = facets_of(evidence_of(watch))["cdme.accountingLedger"]
    assert len(set(ledger["missing"])) == rows[first] > 0
    assert len(set(ledger["surplus"])) == rows[second] > 0
    assert set(ledger["missing"]).isdisjoint(ledger["surplus"])
    for id in [*ledger["missing"], *ledger["surplus"], ledger["records"]]:
        assert id in str(refused.value)
    assert Path(ledger["records"].removeprefix("file:")).is_dir()


def test_a_failed_run_reports_its_progress(spark: SparkSession, watch: Watch, folder: Path) -> None:
    def broken(orders: DataFrame) -> DataFrame:
        raise ZeroDivisionError("no reason")

    with pytest.raises(ZeroDivisionError):
        run(spark, watch, folder, on_the_way=broken)
    facets = facets_of(evidence_of(watch))
    assert facets["cdme.accountingLedger"]["partly"] == "the run ended before all its nodes had run"
    assert "configHash" in facets["cdme.runManifest"]


def test_each_change_affects_its_own_hash(spark: SparkSession, watch: Watch, folder: Path) -> None:
    how = {"on_error": "skip"}  # dead letters name their run, and so are others each time
    first = manifest(facets_of(run(spark, watch, folder, hw.LineageOptions(mode="key"), **how)))
    assert {name.partition(".")[0] for name in first} >= {"designHash", "configHash", "codeHash", "inputChecksums"}
    key = hw.LineageOptions(mode="key")
    changes: list[tuple[hw.LineageOptions, dict[str, Any], set[str]]] = [
        (key, {}, set()),
        (key, {"price": priced_otherwise}, {"codeHash"}),
        (key, {"retries": 1}, {"designHash"}),
        (key.with_(max_hops=7), {"partition": "today"}, {"configHash"}),
    ]
    for options, change, own in changes:
        again = manifest(facets_of(run(spark, watch, folder, options, **how, **change)))
        assert differing(first, again) == own, change
