"""Replay of dead letters: into the sinks, with the same ids, and never twice."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F

import headwater as hw
from headwater.errors import PipelineError, PipelineInvalid
from tests.pipeline.shop import PRICED, Shop, pricing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The default store is in the current folder."""
    monkeypatch.chdir(tmp_path)


def test_dead_letters_reach_the_sinks_once(spark: SparkSession, tmp_path: Path) -> None:
    shop = Shop(tmp_path).open(spark)
    store = f"sqlite:///{tmp_path}/lineage.db"
    first = shop.pipeline({5, 6, 7}, retries=1).run(spark, options=shop.options, store=store)
    ids = {row.key: row.correlation_id for row in first.items.collect() if row.source == "orders"}
    assert shop.written(spark) == [1, 3]

    (replayed,) = shop.pipeline({6}, retries=1).replay(spark, options=shop.options, store=store)
    assert (replayed.node, replayed.runs) == ("priced", (first.run_id,))
    assert (replayed.succeeded, replayed.failed, replayed.superseded) == (2, 1, 0)
    assert shop.written(spark) == [1, 3, 5]  # nobody knows the customer of order 7
    ends = {row.correlation_id: (row.source, row.reason, row.node) for row in replayed.result.items.collect()}
    assert ends == {
        ids['{"order_id":5}']: ("orders", "Emitted", "report"),
        ids['{"order_id":6}']: ("orders", "DeadLettered", "priced"),
        ids['{"order_id":7}']: ("orders", "FilteredOut", "named"),
    }
    way = [(hop.node, hop.contributors) for hop in replayed.result.history(ids['{"order_id":5}'])]
    assert way == [("orders", 1), ("priced", 1), ("named", 2), ("report", 2)]

    p = shop.pipeline(set(), retries=1)
    letters = {row.run_id: row for row in shop.letters(spark, p).collect() if row.row.order_id == 6}
    assert letters.keys() == {first.run_id, replayed.run_id}
    again = letters[replayed.run_id]
    assert again.replays == letters[first.run_id].letter_id
    assert again.attempts == 2
    marks = spark.read.parquet(f"{shop.location}/replayed/{p.id}/priced").collect()
    assert sorted(mark.outcome for mark in marks) == ["DeadLettered", "Replayed", "Replayed"]
    assert {mark.replayed_by for mark in marks} == {replayed.run_id}

    # The first run has nothing left; the letter that failed again is the new run's.
    assert p.replay(spark, run_id=first.run_id, options=shop.options, store=store) == []
    (last,) = p.replay(spark, options=shop.options, store=store)
    assert (last.runs, last.succeeded, last.failed) == ((replayed.run_id,), 1, 0)
    assert p.replay(spark, options=shop.options, store=store) == []
    assert shop.written(spark) == [1, 3, 5, 6]

    with hw.connect(store) as lineage:
        told = lineage.run(replayed.run_id)
        assert str(told.run.job) == "test/shop.replay"
        assert told.run_facets["headwater_pipeline"]["replays"] == {
            "node": "priced",
            "runs": [first.run_id],
            "letters": {"Replayed": 2, "DeadLettered": 1},
        }
        assert any("dead_letters" in str(use.dataset) for use in told.inputs)


def test_an_impossible_replay_is_refused_before_anything_runs(spark: SparkSession, tmp_path: Path) -> None:
    shop = Shop(tmp_path).open(spark)
    off = hw.LineageOptions.off().with_(location=shop.location)
    result = shop.pipeline({5, 6}).run(spark, options=off)
    p = shop.pipeline(set())
    with pytest.raises(PipelineInvalid, match=r"node 'valid': it is not a row function.*Row functions: priced"):
        p.replay(spark, node="valid", options=off)
    with pytest.raises(PipelineError, match=f"Run nobody did not complete, or left no dead letters.*{result.run_id}"):
        p.replay(spark, run_id="nobody", options=off)
    with pytest.raises(PipelineError, match="mode 'sideways' is not one of"):
        p.replay(spark, mode="sideways", options=off)
    gone = hw.Pipeline("shop", namespace="test")
    renamed = gone.map("renamed", gone.source("orders", shop.read("orders")), pricing(set()), schema=PRICED)
    gone.sink("report", renamed, path=shop.report)
    with pytest.raises(PipelineError, match="dead letters of 'priced', which is no longer a row function"):
        gone.replay(spark, options=off)
    summed = hw.Pipeline("shop", namespace="test")
    priced = summed.map("priced", summed.source("orders", shop.read("orders")), pricing(set()), schema=PRICED)
    daily = summed.aggregate("daily", priced, by="day", eur=F.sum("eur"))
    summed.sink("sums", daily, format="parquet", path=str(tmp_path / "sums"))
    with pytest.raises(PipelineInvalid, match="node 'daily'"):
        summed.replay(spark, options=off)
    # Letters of a run that followed nothing are items of no source; and whoever says how may write sums.
    (replayed,) = summed.replay(spark, mode="overwrite", options=shop.options)
    sums = spark.read.parquet(str(tmp_path / "sums")).collect()
    assert {row.day: row.eur for row in sums} == {"2026-11-15": 28.0, "2026-11-16": 26.0}
    assert {(row.source, row.reason) for row in replayed.result.items.collect()} == {("dead letters", "Emitted")}
    assert replayed.succeeded == 2


def test_dead_letters_of_a_failed_run_are_not_replayed(spark: SparkSession, tmp_path: Path) -> None:
    shop = Shop(tmp_path).open(spark)
    p = shop.pipeline({5})
    off = hw.LineageOptions.off().with_(location=shop.location)
    spark.range(1).write.json(f"{tmp_path}/taken")
    p.sink("second", "valid", format="json", path=f"{tmp_path}/taken")
    with pytest.raises(Exception, match="already exists"):
        p.run(spark, options=off)
    assert shop.letters(spark, p).count() == 1
    assert p.replay(spark, options=off) == []


@pytest.mark.long
def test_the_newest_dead_letter_of_an_item_counts(spark: SparkSession, tmp_path: Path) -> None:
    shop = Shop(tmp_path).open(spark)
    first = shop.pipeline({5, 6}).run(spark, options=shop.options)
    second = shop.pipeline({5}).run(spark, options=shop.options)
    (replayed,) = shop.pipeline(set()).replay(spark, options=shop.options.with_(mode="off"))
    assert replayed.runs == tuple(sorted((first.run_id, second.run_id)))
    assert (replayed.succeeded, replayed.failed, replayed.superseded) == (2, 0, 1)
    assert shop.written(spark) == [1, 3, 5, 6, 6]  # the second run has priced order 6 itself, and wrote over the first
    assert shop.pipeline(set()).replay(spark, options=shop.options) == []


@pytest.mark.long
def test_dead_letters_of_many_items_and_of_a_source_that_is_read_again(spark: SparkSession, tmp_path: Path) -> None:
    shop = Shop(tmp_path).open(spark)

    def pipeline(bad: str | None) -> hw.Pipeline:
        def rate(row: object) -> dict[str, object]:
            if row.day == bad:  # type: ignore[attr-defined]
                raise ValueError(bad)
            return {"day": row.day, "rate": row.n / 10}  # type: ignore[attr-defined]

        p = hw.Pipeline("rates", namespace="test")
        orders = p.source("orders", shop.read("orders"), key="order_id")
        daily = p.aggregate("daily", orders, by="day", n=F.count("*"))
        rated = p.map("rated", daily, rate, schema="day string, rate double", on_error="dead_letter")
        p.sink("report", p.join("back", rated, orders, on="day"), format="parquet", path=shop.report)
        return p

    first = pipeline("2026-11-15").run(spark, options=shop.options)
    dead = {row.correlation_id for row in first.items.where("reason = 'DeadLettered'").collect()}
    assert len(dead) == 4
    (replayed,) = pipeline(None).replay(spark, options=shop.options)
    assert shop.written(spark) == [1, 2, 3, 4, 5, 6, 7]
    ends = {row.correlation_id: (row.source, row.reason) for row in replayed.result.items.collect()}
    assert ends == dict.fromkeys(dead, ("orders", "Emitted"))
