"""Cancelled runs, and failing sinks."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import headwater as hw
from headwater.errors import PipelineCancelled, PipelineError
from tests.pipeline.comparison import FULL
from tests.pipeline.test_flags import RecordingSink

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def slow(folder: Path) -> hw.Pipeline:
    marker = str(folder / "called")

    def call(row: Any) -> dict[str, Any]:
        open(marker, "a").close()
        time.sleep(600)
        return {"id": row.id}

    p = hw.Pipeline("slow", namespace="tests")
    p.source("rows", lambda spark: spark.range(4), key="id")
    p.transform("some", "rows", lambda df: df.where("id > 0"))
    p.map("slow", "some", call, schema="id long")
    p.sink("out", "slow", format="parquet", path=str(folder / "out"))
    return p


class Reports(RecordingSink):
    def __init__(self) -> None:
        super().__init__()
        self.states: list[str] = []

    def record(self, report: Any) -> None:
        self.states.append(str(report.state))


def test_cancelled_from_another_thread(spark: SparkSession, tmp_path: Path) -> None:
    sink = Reports()
    started = slow(tmp_path).start(spark, options=FULL.with_(location=str(tmp_path / "items")), sinks=[sink])
    deadline = time.monotonic() + 180
    while not (tmp_path / "called").exists():
        assert time.monotonic() < deadline
        assert not started.done
        time.sleep(0.1)
    started.cancel()
    with pytest.raises(PipelineCancelled, match="'slow' was cancelled at node 'slow'"):
        started.wait(180)  # it did not wait for the function
    assert (sink.closed, sink.states) == (1, ["ABORT"])
    assert sorted((each.node, each.reason) for each in sink.records) == [("some", "Emitted")] * 3 + [
        ("some", "FilteredOut")
    ]
    assert not (tmp_path / "out").exists()


class Broken(RecordingSink):
    def write(self, records: Any) -> None:
        raise OSError("full")


def test_a_failing_record_sink_does_not_fail_the_run(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    p = hw.Pipeline("quick", namespace="tests")
    p.source("rows", lambda spark: spark.range(4), key="id")
    p.sink("out", "rows", format="parquet", path=str(tmp_path / "out"))
    broken, well = Broken(), RecordingSink()
    options = FULL.with_(location=str(tmp_path / "items"))
    result = p.start(spark, options=options, sinks=[broken, well]).wait()
    assert result.report.state == "COMPLETE"
    assert (len(well.records), broken.closed, well.closed) == (4, 1, 1)
    assert "Broken 1 failed and gets nothing more of this run: OSError: full" in caplog.text
    assert spark.read.parquet(str(tmp_path / "out")).count() == 4


def test_a_failing_sink_of_the_pipeline(spark: SparkSession, tmp_path: Path) -> None:
    """Spark cannot write there: the run fails, and its items still have records."""
    (tmp_path / "out").mkdir()
    p = hw.Pipeline("there already", namespace="tests")
    p.source("rows", lambda spark: spark.range(4), key="id")
    p.sink("out", "rows", format="parquet", path=str(tmp_path / "out"))
    sink = Reports()
    with pytest.raises(Exception, match="already exists"):
        p.start(spark, options=FULL.with_(location=str(tmp_path / "items")), sinks=[sink]).wait()
    assert (sink.closed, sink.states) == (1, ["FAIL"])
    assert {each.node for each in sink.records} == {"rows"}


def test_a_fault_of_headwater_does_not_fail_the_run(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The sinks are written before items are recorded. What the run then claims: test_evidence_pipelines.py."""

    def broken(*_: object) -> None:
        raise RuntimeError("no account today")

    monkeypatch.setattr("headwater.pipeline.items.accounts.ItemAccount.source_stages", broken)
    p = hw.Pipeline("sound", namespace="tests")
    p.source("rows", lambda spark: spark.range(4), key="id")
    p.sink("out", "rows", format="parquet", path=str(tmp_path / "out"))
    result = p.start(spark, options=FULL.with_(location=str(tmp_path / "items"))).wait(180)
    assert spark.read.parquet(str(tmp_path / "out")).count() == 4
    assert str(result.report.state) == "COMPLETE"
    assert "could not be accounted for" in caplog.text
    with pytest.raises(PipelineError, match="RuntimeError: no account today"):
        _ = result.items
