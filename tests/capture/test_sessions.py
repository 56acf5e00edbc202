"""Switching the capture on and off."""

from __future__ import annotations

import gc
import logging
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

import headwater as hw
from headwater.capture.listener import session
from tests.capture.watching import watched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def write(spark: SparkSession, path: Path) -> None:
    spark.range(3).write.mode("overwrite").parquet(str(path))


def our_threads() -> set[str]:
    return {thread.name for thread in threading.enumerate() if thread.name.startswith("headwater")}


def test_nothing_is_heard_after_disable(spark: SparkSession, tmp_path: Path) -> None:
    with watched(spark, tmp_path) as watch:
        write(spark, tmp_path / "x")
        assert len(watch.new_runs()) == 1
    write(spark, tmp_path / "y")
    assert session.active() == []
    assert f"{tmp_path}/y" not in (tmp_path / "events.jsonl").read_text()
    assert our_threads() == set()


def test_enabling_again_goes_to_the_new_sink_alone(spark: SparkSession, tmp_path: Path) -> None:
    for name in ("one", "two"):
        hw.enable(spark, sink=(tmp_path / f"{name}.jsonl").as_uri(), spool=tmp_path / "spool")
        write(spark, tmp_path / name)
    hw.disable(spark)
    one, two = ((tmp_path / f"{name}.jsonl").read_text() for name in ("one", "two"))
    assert f"{tmp_path}/one" in one
    assert f"{tmp_path}/two" not in one
    assert f"{tmp_path}/two" in two
    assert one.count('"COMPLETE"') == two.count('"COMPLETE"') == 2  # the write and the application


def test_a_store_of_ones_own_stays_open(spark: SparkSession, tmp_path: Path) -> None:
    with hw.connect("memory://") as lin:
        hw.enable(spark, store=lin, job="app", spool=tmp_path / "spool")
        write(spark, tmp_path / "x")
        hw.disable(spark)
        assert [run.state for run in lin.runs()] == ["COMPLETE", "COMPLETE"]
        assert lin.dataset(f"{tmp_path}/x").schema


def test_several_sinks_at_once(spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hw.enable(
        spark,
        store=f"sqlite:///{tmp_path}/lineage.db",
        sink=[(tmp_path / "events.jsonl").as_uri(), "console"],
        spool=tmp_path / "spool",
    )
    write(spark, tmp_path / "x")
    assert hw.flush()
    hw.disable(spark)
    with hw.connect(f"sqlite:///{tmp_path}/lineage.db") as lin:
        assert len(lin.runs()) == 2
    assert (tmp_path / "events.jsonl").read_text().count("\n") == 4
    assert capsys.readouterr().err.count('"eventType"') == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sink": "ftp://there"}, "No events can be sent to 'ftp://there'"),
        ({"store": "mysql://there/x"}, "No store can live at a 'mysql' address"),
        ({"sink": ["console", "console"]}, "would be sent twice to console"),
    ],
)
def test_a_mistake_in_the_settings_is_said_at_once(
    spark: SparkSession, tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(hw.HeadwaterError, match=message):
        hw.enable(spark, spool=tmp_path / "spool", **options)
    assert session.active() == []
    assert our_threads() == set()


def test_spark_connect_is_refused_in_one_line() -> None:
    client = type("SparkSession", (SimpleNamespace,), {"__module__": "pyspark.sql.connect.session"})()
    with pytest.raises(hw.HeadwaterError, match="Spark Connect client does not see the plans") as refusal:
        hw.enable(client)
    assert "\n" not in str(refusal.value)


def test_a_named_run_without_a_capture_just_runs(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "headwater"), hw.run("alone") as run_id:
        assert run_id is None
    assert "call hw.enable(spark) first" in caplog.text


@pytest.mark.long
def test_two_hundred_writes_leave_nothing_behind(spark: SparkSession, tmp_path: Path) -> None:
    """Neither threads nor objects, here or in the JVM, nor files in the spool."""
    with watched(spark, tmp_path) as watch:
        source = spark.range(5).selectExpr("id", "id * 2 AS twice")
        for _ in range(20):
            source.write.mode("overwrite").parquet(f"{tmp_path}/x")
        assert hw.flush(60)
        before = footprint()
        for _ in range(200):
            source.write.mode("overwrite").parquet(f"{tmp_path}/x")
        assert hw.flush(60)
        after = footprint()
        assert len(watch.new_runs()) == 220
        for name, count in before.items():
            assert after[name] <= count * 1.1 + 300, (name, before, after)
    assert our_threads() == set()
    assert not [file for file in (tmp_path / "spool").rglob("*") if file.is_file()]


def footprint() -> dict[str, int]:
    gc.collect()
    return {
        "threads": threading.active_count(),
        "python objects": len(gc.get_objects()),
        "java objects": len(held_java_objects()),
    }


def held_java_objects() -> list[Any]:
    """What Python still refers to in the JVM, and so keeps alive there."""
    from py4j.java_gateway import JavaObject  # type: ignore[import-untyped]

    return [thing for thing in gc.get_objects() if type(thing) is JavaObject]
