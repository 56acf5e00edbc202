"""Whatever goes wrong on our side, the job does not notice: one warning, a count, and the next write is told again."""

from __future__ import annotations

import json
import logging
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import headwater as hw
from headwater.capture.events import writes
from headwater.capture.events.writes import WriteReader
from headwater.capture.listener import application, observer, session
from headwater.capture.listener.application import CaptureStatus
from headwater.capture.listener.jvm import Bridge
from headwater.errors import PlanUnreadable
from headwater.jvm import JavaClasses
from tests.capture.telling import runs_of
from tests.capture.watching import APPLICATION, Watch, watched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def write(spark: SparkSession, path: Path) -> None:
    spark.range(3).selectExpr("id", "id + 1 AS next").write.mode("overwrite").parquet(str(path))


def rows(spark: SparkSession, path: Path) -> int:
    return spark.read.parquet(str(path)).count()


def broken(*_arguments: object, **_options: object) -> Any:
    raise RuntimeError("a fault of ours")


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def status() -> CaptureStatus:
    (capture,) = session.active()
    return capture.status()


def test_a_plan_that_cannot_be_read_is_told_with_its_inputs_and_a_gap(
    spark: SparkSession, watch: Watch, shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreadable(_text: str) -> Any:
        raise PlanUnreadable("no JSON")

    monkeypatch.setattr(writes, "read_plan", unreadable)
    spark.read.parquet(f"{shop}/orders").write.parquet(f"{tmp_path}/x")
    (run,) = watch.new_runs()
    assert run.states == ["START", "COMPLETE"]
    assert [item["name"] for item in run.inputs] == [f"{shop}/orders"]
    coverage = run.output["facets"]["headwater_coverage"]
    assert not coverage["complete"]
    assert "no JSON" in coverage["gaps"][0]["reason"]


@pytest.mark.parametrize(
    ("where", "name"),
    [
        (WriteReader, "read"),
        (Bridge, "plan_facts"),
        (observer, "telemetry"),
        (observer, "read_amounts"),
        (WriteReader, "settle"),
    ],
)
def test_an_exception_of_ours(
    spark: SparkSession,
    watch: Watch,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    where: Any,
    name: str,
) -> None:
    before = status()["faults"]
    with monkeypatch.context() as patch:
        patch.setattr(where, name, broken)
        for _ in range(3):
            write(spark, tmp_path / "x")
        assert hw.flush()
    assert rows(spark, tmp_path / "x") == 3
    assert status()["faults"] == before + 3
    assert len([text for text in warnings(caplog) if "the job is not affected" in text]) <= 1
    write(spark, tmp_path / "x")
    assert hw.flush()
    last = [json.loads(line) for line in watch._file.read_text().splitlines()][-1]
    assert last["eventType"] == "COMPLETE"


# -- with a capture of their own -------------------------------------------------------------------------------------


def test_what_was_begun_is_ended(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault between START and COMPLETE: the write is told without what could not be measured."""
    file = tmp_path / "events.jsonl"
    hw.enable(spark, sink=file.as_uri(), job=APPLICATION, spool=tmp_path / "spool")
    with monkeypatch.context() as patch:
        patch.setattr(WriteReader, "settle", broken)
        write(spark, tmp_path / "x")
        hw.flush()
    hw.disable(spark)
    (run,) = runs_of((json.loads(line) for line in file.read_text().splitlines()), APPLICATION)
    assert run.states == ["START", "COMPLETE"]
    assert run.output["facets"]["schema"]


def test_a_capture_that_cannot_begin(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(JavaClasses, "new", broken)
    hw.enable(spark, sink="console", spool=tmp_path / "spool")
    assert session.active() == []
    (warning,) = warnings(caplog)
    assert "Lineage is not captured in this session; the job is not affected." in warning
    write(spark, tmp_path / "x")
    assert rows(spark, tmp_path / "x") == 3


@pytest.mark.parametrize("part", ["running_code", "parent_of_application"])
def test_a_part_that_fails(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, part: str
) -> None:
    """Such as where the code lies: the rest is captured, and the warning says what is missing."""
    monkeypatch.setattr(application, part, broken)
    with watched(spark, tmp_path) as watch:
        write(spark, tmp_path / "x")
        (run,) = watch.new_runs()
    assert run.states == ["START", "COMPLETE"]
    assert len([text for text in warnings(caplog) if "is captured without" in text]) == 1


def test_the_queue_is_full(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Spark never waits for us; what did not fit is counted and said."""
    monkeypatch.setattr("headwater.capture.listener.jvm._CAPACITY", 1)
    hw.enable(spark, sink=(tmp_path / "events.jsonl").as_uri(), job=APPLICATION, spool=tmp_path / "spool")
    (capture,) = session.active()
    with monkeypatch.context() as patch:
        patch.setattr(WriteReader, "read", lambda *_: __import__("time").sleep(3))
        for name in "abcd":
            write(spark, tmp_path / name)
        assert rows(spark, tmp_path / "d") == 3
    hw.disable(spark)
    assert capture.status()["missed"] > 0
    assert any("its queue was full" in text for text in warnings(caplog))


def test_a_sink_that_is_down_and_comes_back(spark: SparkSession, tmp_path: Path) -> None:
    """The events wait on disk, and the next session brings them."""
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        hw.enable(spark, url=url, job=APPLICATION, spool=tmp_path / "spool")
        write(spark, tmp_path / "x")
        assert not hw.flush(1)
        hw.disable(spark)
    assert rows(spark, tmp_path / "x") == 3
    waiting = [file for file in (tmp_path / "spool").rglob("*") if file.is_file() and file.stat().st_size]
    assert waiting
