"""The effect of each option in a run on Spark."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import headwater as hw
from headwater.errors import MismatchRefused
from headwater.model.items import ItemRecord, Reason
from headwater.pipeline.declare.options import Mismatch
from headwater.pipeline.items.stored_records import StoredItems
from headwater.pipeline.run.result import Result
from tests.pipeline.test_flags import RecordingSink

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COMPLETE = hw.LineageOptions.complete()


def shop(folder: Path) -> hw.Pipeline:
    from pyspark.sql import functions as F

    def half(row: Any) -> dict[str, Any]:
        if row.amount == 13:
            raise ValueError(f"unlucky {row.amount}")
        return {"id": row.id, "day": row.day, "amount": row.amount // 2}

    p = hw.Pipeline("options", namespace="tests")
    rows = [(number, number % 2, 10 + number) for number in range(6)]
    p.source("orders", lambda spark: spark.createDataFrame(rows, "id long, day long, amount long"), key="id")
    p.map("half", "orders", half, schema="id long, day long, amount long", on_error="skip")
    p.transform("some", "half", lambda df: df.where("id > 0"))
    p.aggregate("daily", "some", by="day", total=F.sum("amount"))
    p.sink("out", "daily", format="parquet", path=str(folder / "out"), mode="overwrite")
    return p


def run(spark: SparkSession, folder: Path, options: hw.LineageOptions, sinks: list[Any] | None = None) -> Result:
    located = options if options.location else options.with_(location=str(folder / "items"))
    return shop(folder).start(spark, options=located, sinks=sinks or []).wait()


def records(result: Result) -> dict[int, ItemRecord]:
    found = [ItemRecord.from_dict(row.asDict(recursive=True)) for row in result.items.collect()]
    return {json.loads(each.key)["id"]: each for each in found}


@dataclass(frozen=True)
class SharedRun:
    """A run that several tests read: each tests another option of it."""

    folder: Path
    result: Result
    sink: RecordingSink
    by_id: dict[int, ItemRecord]


def shared_run(spark: SparkSession, folder: Path, options: hw.LineageOptions) -> SharedRun:
    sink = RecordingSink()
    result = run(spark, folder, options, [sink])
    return SharedRun(folder, result, sink, records(result))


@pytest.fixture(scope="module")
def complete(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> SharedRun:
    folder = tmp_path_factory.mktemp("complete")
    return shared_run(spark, folder, COMPLETE.with_(location=str(folder / "elsewhere")))


@pytest.fixture(scope="module")
def materialized(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> SharedRun:
    """More records than the cap, all of them in memory, without snapshots."""
    options = COMPLETE.with_(snapshots=False, intermediate_records=False, materialization_cap=2, overflow="materialize")
    return shared_run(spark, tmp_path_factory.mktemp("materialized"), options)


@pytest.fixture(scope="module")
def degraded(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> SharedRun:
    """More records than the cap, the rest only in files, with few hops."""
    options = COMPLETE.with_(max_hops=3, materialization_cap=2, overflow="degrade")
    return shared_run(spark, tmp_path_factory.mktemp("degraded"), options)


def test_complete(complete: SharedRun) -> None:
    """snapshots, ancestry, contributors, times, decisions, cardinality and data, all at once."""
    one = complete.by_id[5]
    assert [hop.node for hop in one.hops] == ["orders", "half", "some", "daily", "out"]
    assert [hop.ancestry for hop in one.hops] == [(), (0,), (0,), (0,), (0,)]
    assert [hop.input and json.loads(hop.input) for hop in one.hops][:3] == [
        None,
        {"id": 5, "day": 1, "amount": 15},
        {"id": 5, "day": 1, "amount": 7},
    ]
    assert one.hops[3].output == one.data == '{"day":1,"total":12}'
    assert all(hop.at is not None and hop.cardinality == 2 and hop.outcome for hop in one.hops)
    assert len(one.contributors) == 1
    assert one.hops[3].contributors == 2
    assert complete.by_id[3].error == "ValueError: unlucky 13"


def test_everything_switched_off(spark: SparkSession, tmp_path: Path) -> None:
    """One run with everything off that `complete` has on: any of it would be visible."""
    bare = COMPLETE.with_(
        redact=True,
        ancestry=False,
        contributor_ids=False,
        hop_timestamps=False,
        decisions=False,
        cardinality=False,
    )
    found = [ItemRecord.from_dict(row.asDict(recursive=True)) for row in run(spark, tmp_path, bare).items.collect()]
    assert {(each.data, each.key) for each in found} == {(None, '{"id":"[redacted]"}')}
    (failed,) = [each for each in found if each.error is not None]
    assert failed.error == "ValueError"
    assert {each.contributors for each in found} == {()}
    hops = [hop for each in found for hop in each.hops]
    assert {(hop.input, hop.output, hop.ancestry, hop.at) for hop in hops} == {(None, None, None, None)}
    assert {(int(hop.outcome), int(hop.cardinality)) for hop in hops} == {(0, 0)}
    assert failed.outcome.words == "FilteredOut"  # of the record itself it is always told


def test_without_snapshots_the_data_is_the_input(materialized: SharedRun) -> None:
    found = materialized.by_id
    assert json.loads(found[5].data or "") == {"id": 5, "day": 1, "amount": 15}
    assert {(hop.input, hop.output) for each in found.values() for hop in each.hops} == {(None, None)}
    assert [[hop.node for hop in found[id].hops] for id in (0, 3, 5)] == [["some"], ["half"], ["out"]]
    assert len(found[5].path) == 5


def test_max_hops(degraded: SharedRun) -> None:
    found = degraded.by_id
    assert [hop.node for hop in found[5].hops] == ["orders", "half", "out"]
    assert [hop.truncated for hop in found[5].hops] == [False, False, True]
    assert (found[5].truncated, found[3].truncated) == (True, False)


def test_a_record_names_some_of_many_contributors(spark: SparkSession, tmp_path: Path) -> None:
    p = hw.Pipeline("many", namespace="tests")
    p.source("orders", lambda spark: spark.range(400).selectExpr("id", "1 as k"), key="id")
    p.source("names", lambda spark: spark.createDataFrame([(1, "one")], "k long, name string"), key="k")
    p.join("named", "orders", "names", on="k")
    p.sink("out", "named", format="parquet", path=str(tmp_path / "out"))
    found = p.start(spark, options=COMPLETE.with_(location=str(tmp_path / "items"))).wait().items
    (name,) = found.where("source = 'names'").collect()
    orders = {row["correlation_id"]: row for row in found.where("source = 'orders'").collect()}
    assert 30 < len(name["contributors"]) <= 100
    assert set(name["contributors"]) < set(orders)
    assert name["truncated"]
    assert name["hops"][1]["emissions"] == 400
    told = {(tuple(row["contributors"]), row["truncated"]) for row in orders.values()}
    assert told == {((name["correlation_id"],), False)}


def at_hand(result: Result) -> int:
    return len(result._collector.records)


def test_overflow_materialize_and_degrade(materialized: SharedRun, degraded: SharedRun) -> None:
    both = (materialized, degraded)
    assert [at_hand(shared.result) for shared in both] == [6, 2]
    assert [len({each.correlation_id for each in shared.sink.records}) for shared in both] == [6, 6]
    assert [shared.result.items.count() for shared in both] == [6, 6]
    assert degraded.result.counts == materialized.result.counts
    last = degraded.sink.records[-1]
    assert degraded.result.history(last.correlation_id) == last.hops  # from where it was written


@pytest.mark.parametrize("told", [True, False])
def test_overflow_drop(spark: SparkSession, tmp_path: Path, told: bool) -> None:
    sink = RecordingSink()
    options = COMPLETE.with_(materialization_cap=2, overflow="drop", drop_records=told)
    result = run(spark, tmp_path, options, [sink])
    found = records(result)
    whole = [each for each in found.values() if each.hops]
    assert len(whole) == at_hand(result) == 2
    assert len(found) == len(sink.records) == (6 if told else 2)
    assert sum(result.counts.values()) == 6
    assert len(result.unresolved()) == 6 - len(found), "whose record is nowhere is found by the source"
    assert Reason.DROPPED_BY_BACKPRESSURE in result.counts
    for each in found.values():
        if not each.hops:
            assert (each.truncated, each.data, each.path) == (True, None, ())
            assert each.reason in (Reason.DROPPED_BY_BACKPRESSURE, Reason.FILTERED_OUT)


def repeated(folder: Path) -> hw.Pipeline:
    p = hw.Pipeline("repeated", namespace="tests")
    p.source("rows", lambda spark: spark.createDataFrame([(1, 1), (1, 2), (2, 3)], "id long, v long"), key="id")
    p.sink("out", "rows", format="parquet", path=str(folder / "out"), mode="overwrite")
    return p


def test_a_duplicate_key(spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    options = COMPLETE.with_(location=str(tmp_path / "items"))
    told: list[Mismatch] = []
    with caplog.at_level(logging.WARNING, logger="headwater"):
        repeated(tmp_path).start(spark, options=options.with_(on_mismatch=told.append)).wait()
        assert "node 'rows' received 3 items and returned 2" in caplog.text
        caplog.clear()
        repeated(tmp_path).start(spark, options=options.with_(warn_on_mismatch=False)).wait()
        assert caplog.text == ""
    assert [(each.node, each.inputs, each.outputs, each.aggregated) for each in told] == [("rows", 3, 2, True)]
    with pytest.raises(MismatchRefused, match="node 'rows' received 3 items"):
        repeated(tmp_path).start(spark, options=options.with_(strict=True)).wait()


@pytest.mark.parametrize("ensured", [True, False])
def test_a_lost_row(spark: SparkSession, tmp_path: Path, ensured: bool) -> None:
    """A file of the source is removed during the run, and Spark was configured to ignore missing files."""
    spark.range(20).repartition(2).write.parquet(str(tmp_path / "in"))

    def careless(df: DataFrame) -> DataFrame:
        next((tmp_path / "in").glob("*.parquet")).unlink()
        return df

    p = hw.Pipeline("lost", namespace="tests")
    p.source("rows", lambda spark: spark.read.parquet(str(tmp_path / "in")), key="id")
    p.transform("careless", "rows", careless)
    p.sink("out", "careless", format="parquet", path=str(tmp_path / "out"))
    options = COMPLETE.with_(location=str(tmp_path / "items"), strict=True, ensure_terminal=ensured)
    spark.conf.set("spark.sql.files.ignoreMissingFiles", "true")
    try:
        if ensured:
            with pytest.raises(MismatchRefused, match="node 'rows' received 20 items and returned"):
                p.start(spark, options=options).wait()
        else:
            assert sum(p.start(spark, options=options).wait().counts.values()) < 20
    finally:
        spark.conf.unset("spark.sql.files.ignoreMissingFiles")


def test_location(complete: SharedRun) -> None:
    with StoredItems(complete.folder / "elsewhere" / complete.result.run_id / "items") as items:
        assert len(items.records()) == 6
