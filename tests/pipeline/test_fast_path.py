"""The fast path for items that stay one row: it needs no grouping and gives the same records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import headwater as hw
from headwater.model.items import ItemRecord
from headwater.pipeline.items.accounts import ItemAccount, SourceStages
from headwater.pipeline.items.finalize import ItemFinalizer
from headwater.pipeline.items.stored_records import StoredItems
from headwater.pipeline.run.result import Result

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark
FULL = hw.LineageOptions(mode="full", redact=False, ancestry=True, hop_timestamps=False)
ORDERS = [(n, n % 4, n % 3, None if n == 7 else 10.0 * n) for n in range(12)]
SHOPS = [(0, "Aix"), (1, "Bonn"), (2, "Cork")]


def priced(row: Any) -> Any:
    if row.id == 5:
        raise ValueError("no price for five")
    return None if row.id == 6 else (row.id, row.shop, row.day, row.amount)


def pipeline(folder: Path, shops: list[tuple[int, str]] = SHOPS, how: str = "inner") -> hw.Pipeline:
    """Rows are dropped by a filter, by a function, by a failure, by a join and by a filter before groups."""
    from pyspark.sql import functions as F

    p = up_to_the_join(folder, shops, how)
    p.transform("large", "named", lambda df: df.where("amount > 15").withColumn("twice", F.col("amount") * 2))
    p.aggregate("daily", "large", by=["day"], total=F.sum("twice"))
    p.transform("rounded", "daily", lambda df: df.withColumn("total", F.round("total")))
    p.sink("out", "rounded", format="parquet", path=str(folder / "out"), mode="overwrite")
    return p


def up_to_the_join(folder: Path, shops: list[tuple[int, str]], how: str = "inner") -> hw.Pipeline:
    p = hw.Pipeline("fast_paths", namespace="tests")
    p.source("orders", _parquet(folder, "orders", ORDERS, "id long, shop long, day long, amount double"), key="id")
    p.source("shops", _parquet(folder, "shops", shops, "shop long, town string"), key="shop")
    p.transform("valid", "orders", lambda df: df.where("amount > 0").select("id", "shop", "day", "amount"))
    p.map("priced", "valid", priced, schema="id long, shop long, day long, amount double", on_error="skip")
    p.join("named", "priced", "shops", on="shop", how=how)
    return p


def _parquet(folder: Path, name: str, rows: list[Any], schema: str) -> Callable[[SparkSession], DataFrame]:
    def read(spark: SparkSession) -> DataFrame:
        path = folder / f"{name}{len(rows)}"
        if not path.exists():
            spark.createDataFrame(rows, schema).repartition(2).write.parquet(str(path))
        return spark.read.parquet(str(path))

    return read


@contextmanager
def watched_fast_paths() -> Iterator[list[str]]:
    """The sources whose items took the fast path."""
    found: list[str] = []
    in_lane = ItemFinalizer._write_fast_path

    def watched(self: ItemFinalizer, item_records: ItemAccount, way: SourceStages, path: str) -> Any:
        rows = in_lane(self, item_records, way, path)
        found.extend([way.source.name] if rows is not None else [])
        return rows

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ItemFinalizer, "_write_fast_path", watched)
        yield found


@pytest.fixture
def fast_paths() -> Iterator[list[str]]:
    with watched_fast_paths() as found:
        yield found


def run(spark: SparkSession, p: hw.Pipeline, folder: Path, options: hw.LineageOptions = FULL) -> Result:
    return p.start(spark, options=options.with_(location=str(folder / "items"))).wait()


def records(result: Result) -> dict[str, ItemRecord]:
    found = [ItemRecord.from_dict(row.asDict(recursive=True)) for row in result.items.collect()]
    return {f"{each.source} {each.key}": each for each in found}


@dataclass(frozen=True)
class FastPathRun:
    """A run whose items could take the fast path, and those that did."""

    folder: Path
    result: Result
    fast_paths: list[str]


@pytest.fixture(scope="module")
def fast_path_run(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str, hw.LineageOptions], FastPathRun]:
    """One run for all tests that read it."""

    @cache
    def once(how: str, options: hw.LineageOptions) -> FastPathRun:
        folder = tmp_path_factory.mktemp("fast_paths")
        with watched_fast_paths() as fast_paths:
            result = run(spark, pipeline(folder, how=how), folder, options)
        return FastPathRun(folder, result, fast_paths)

    return once


@pytest.mark.parametrize("how", ["inner", pytest.param("left", marks=pytest.mark.long)])
def test_the_fast_path_gives_the_records_of_the_general_path(
    spark: SparkSession,
    fast_path_run: Callable[[str, hw.LineageOptions], FastPathRun],
    fast_paths: list[str],
    monkeypatch: pytest.MonkeyPatch,
    how: str,
) -> None:
    first = fast_path_run(how, FULL)
    in_lanes = records(first.result)
    assert first.fast_paths == ["orders"]
    fast_paths.clear()  # the run may have been made just now
    monkeypatch.setattr(ItemAccount, "fast_path_rows", lambda self, way: None)
    together = records(run(spark, pipeline(first.folder, how=how), first.folder))
    assert fast_paths == []
    assert in_lanes == together
    ended = {key: record.node for key, record in in_lanes.items() if record.source == "orders"}
    assert len(ended) == len(ORDERS)
    assert ended['orders {"id":7}'] == ended['orders {"id":0}'] == "valid"
    assert ended['orders {"id":5}'] == ended['orders {"id":6}'] == "priced"
    assert ended['orders {"id":3}'] == ("named" if how == "inner" else "out")
    assert ended['orders {"id":1}'] == "large"
    assert ended['orders {"id":4}'] == "out"


@pytest.mark.long
def test_sampled(spark: SparkSession, tmp_path: Path, fast_paths: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    some = FULL.with_(mode="sampled", sample_every=3)
    in_lanes = records(run(spark, pipeline(tmp_path), tmp_path, some))
    assert fast_paths == ["orders"]
    monkeypatch.setattr(ItemAccount, "fast_path_rows", lambda self, way: None)
    assert in_lanes == records(run(spark, pipeline(tmp_path), tmp_path, some))
    assert 0 < len(in_lanes) < len(ORDERS)


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.long)])
def test_a_join_that_matches_two_rows_is_detected_by_counting(
    spark: SparkSession, tmp_path: Path, fast_paths: list[str], whole: bool
) -> None:
    """The key of the shops is declared, and wrong: two of them share it."""
    shops = [*SHOPS, (1, "Bern")]
    p = pipeline(tmp_path, shops) if whole else up_to_the_join(tmp_path, shops)
    if not whole:
        p.sink("out", "named", format="parquet", path=str(tmp_path / "out"))
    result = run(spark, p, tmp_path, FULL.with_(warn_on_mismatch=False))
    assert fast_paths == []
    found = records(result)
    assert {hop.node: hop.emissions for hop in found['orders {"id":9}'].hops}["named"] == 2
    assert len([record for record in found.values() if record.source == "orders"]) == len(ORDERS)


@pytest.mark.parametrize(
    "options",
    [
        FULL,
        pytest.param(FULL.with_(snapshots=True), marks=pytest.mark.long),
        pytest.param(FULL.with_(max_hops=3, redact=True), marks=pytest.mark.long),
    ],
)
def test_records_are_the_same_however_they_are_read(
    fast_path_run: Callable[[str, hw.LineageOptions], FastPathRun], options: hw.LineageOptions
) -> None:
    """By Spark's columns, in Python, and from the files without Spark."""
    shared = fast_path_run("inner", options)
    result = shared.result
    by_spark = records(result)
    at_hand = {f"{each.source} {each.key}": each for each in result._collector.records}
    with StoredItems(shared.folder / "items" / result.run_id / "items") as items:
        from_files = {f"{each.source} {each.key}": each for each in items.records()}
        assert items.counts() == result.counts
        assert items.unresolved() == ()
        one = next(iter(from_files.values()))
        assert items.record(one.correlation_id) == one == result.record(one.correlation_id)
        only = items.records(reason="FilteredOut", node="valid")
        assert {each.node for each in only} == {"valid"}
    assert by_spark == at_hand == from_files
