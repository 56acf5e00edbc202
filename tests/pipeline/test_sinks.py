"""Sinks, alone and together."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import headwater as hw
from headwater.model.items import ItemRecord
from headwater.model.runs import RunState
from headwater.pipeline.run.report import NodeReport, PipelineReport
from headwater.pipeline.sinks import (
    FrameSink,
    ItemSink,
    JsonFileSink,
    JsonlFolderSink,
    JsonlSink,
    LoggingSink,
    OpenLineageSink,
    ParquetSink,
    PipelineSink,
    RunInfo,
    SinkGroup,
    StoreSink,
)
from tests.pipeline.test_collector import record
from tests.pipeline.test_declared import daily

AT = datetime(2026, 11, 15, 8, tzinfo=UTC)
RUN = RunInfo("run-1", "daily_revenue", "ab", "prod", AT)


def report(**changes: Any) -> PipelineReport:
    nodes = daily().check()
    values: dict[str, Any] = {
        "nodes": tuple(NodeReport.of(node, {"in": 3, "out": 2}, 0.5) for node in nodes),
        "ended": datetime(2026, 11, 15, 8, 1, tzinfo=UTC),
        "partition": "2026-11-15",
    }
    told = values | changes
    run_id = told.pop("run_id", "run-1")
    return PipelineReport(
        "daily_revenue", "prod", "ab", run_id, RunState.COMPLETE, edges=daily().edges, started=AT, **told
    )


class RecordingSink:
    """A sink of every kind that records its calls, and fails where configured."""

    def __init__(self, failing: str = "") -> None:
        self.failing = failing
        self.said: list[str] = []
        self.records: list[ItemRecord] = []

    def _note(self, what: str) -> None:
        self.said.append(what)
        if what == self.failing:
            raise OSError(f"cannot {what}")

    def open(self, run: RunInfo) -> None:
        self._note("open")

    def write(self, records: Sequence[ItemRecord]) -> None:
        self._note("write")
        self.records += records

    def record(self, report: PipelineReport) -> None:
        self._note("record")

    def close(self) -> None:
        self._note("close")


def test_kinds_of_sinks() -> None:
    def kinds(sink: object) -> tuple[bool, bool, bool]:
        return isinstance(sink, ItemSink), isinstance(sink, FrameSink), isinstance(sink, PipelineSink)

    assert kinds(LoggingSink()) == (True, False, True)
    assert kinds(JsonFileSink("x")) == (False, False, True)
    assert kinds(JsonlSink("x")) == (True, False, False)
    assert kinds(ParquetSink("x")) == kinds(JsonlFolderSink("x")) == (False, True, False)


def test_the_report_can_be_serialized_and_parsed() -> None:
    for each in (report(), report(ended=None, error="x", partition=None)):
        assert PipelineReport.from_dict(json.loads(json.dumps(each.to_dict()))) == each
    assert report().seconds == 60
    assert report(ended=None).seconds is None
    assert report().node("priced").type == "map"
    assert {"from": "priced", "to": "named"} in report().to_dict()["edges"]


def test_a_report_file_is_replaced_atomically(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "report.json"
    for run in ("first", "second"):
        JsonFileSink(file).record(report(error=run))
    assert PipelineReport.from_dict(json.loads(file.read_text())) == report(error="second")
    assert list(file.parent.iterdir()) == [file]


def test_records_as_lines_are_appended(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "items.jsonl"
    for numbers in ([1, 2], [3]):
        with SinkGroup([JsonlSink(file)], RUN) as sink_group:
            sink_group.write([record(number) for number in numbers])
            assert file.read_bytes().endswith(b"\n"), "written as it comes"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [ItemRecord.from_dict(line) for line in lines] == [record(number) for number in (1, 2, 3)]
    assert {line["run_id"] for line in lines} == {"run-1"}


def test_any_text_is_written(tmp_path: Path) -> None:
    file = tmp_path / "items.jsonl"
    odd = ItemRecord.from_dict(record(1).to_dict() | {"key": '"half \ud800\n ü"'})
    with SinkGroup([JsonlSink(file)], RUN) as sink_group:
        sink_group.write([odd])
    (line,) = file.read_text().splitlines()
    assert ItemRecord.from_dict(json.loads(line)) == odd


def test_the_log_has_records_and_the_report(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "headwater.pipeline"), SinkGroup([LoggingSink()], RUN) as sink_group:
        sink_group.write([record(1)])
        sink_group.record(report())
    assert [message.split(" {")[0] for message in caplog.messages] == ["run run-1 item", "run run-1 report"]
    assert ItemRecord.from_dict(json.loads(caplog.messages[0].removeprefix("run run-1 item "))) == record(1)


@pytest.mark.parametrize("failing", ["open", "write", "record", "close"])
def test_a_failing_sink_is_skipped_and_the_others_are_not(failing: str, caplog: pytest.LogCaptureFixture) -> None:
    bad, good = RecordingSink(failing), RecordingSink()
    with caplog.at_level(logging.WARNING, "headwater"), SinkGroup([bad, good], RUN) as sink_group:
        for number in (1, 2):
            sink_group.write([record(number)])
        sink_group.record(report())
    assert good.said == ["open", "write", "write", "record", "close"]
    assert good.records == [record(1), record(2)]
    assert bad.said[-1] == "close", "also one that failed may hold a file"
    asked = good.said[: good.said.index(failing) + 1]
    assert bad.said == (asked if failing == "close" else [*asked, "close"]), "nothing more is asked of it"
    assert list(sink_group.failures.values()) == [f"OSError: cannot {failing}"]
    assert len(caplog.messages) == 1
    assert sink_group.missed_count == {"open": 2, "write": 2}.get(failing, 0)


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_all_are_closed_however_the_run_ends(error: type[BaseException]) -> None:
    sinks = [RecordingSink(), RecordingSink("close"), RecordingSink()]
    with pytest.raises(error), SinkGroup(sinks, RUN):
        raise error
    assert [sink.said for sink in sinks] == [["open", "close"]] * 3


def test_an_interrupt_while_opening_closes_what_was_opened() -> None:
    class Interrupted(RecordingSink):
        def open(self, run: RunInfo) -> None:
            raise KeyboardInterrupt

    first = RecordingSink()
    with pytest.raises(KeyboardInterrupt), SinkGroup([first, Interrupted()], RUN):
        pass
    assert first.said == ["open", "close"]


class Frames:
    def __init__(self) -> None:
        self.seen: list[Any] = []

    def open(self, run: RunInfo) -> None:
        pass

    def write(self, records: Sequence[ItemRecord]) -> None:
        raise AssertionError("it takes frames")

    def write_frame(self, records: Any) -> None:
        self.seen.append(records)

    def close(self) -> None:
        pass


def test_a_sink_that_takes_frames_gets_no_records() -> None:
    frames, kept = Frames(), RecordingSink()
    with SinkGroup([frames, kept], RUN) as sink_group:
        assert (sink_group.wants_records, sink_group.wants_frames) == (True, True)
        sink_group.write([record(1)])
        sink_group.write_frame("frame")  # type: ignore[arg-type]
    assert frames.seen == ["frame"]
    assert kept.records == [record(1)]
    assert sink_group.failures == {}
    with SinkGroup([JsonFileSink("x")], RUN) as sink_group:
        assert (sink_group.wants_records, sink_group.wants_frames) == (False, False)


def test_the_report_as_an_event(tmp_path: Path) -> None:
    """For a store, and for any consumer of OpenLineage."""
    told = report(run_id="01a1e31e-2755-7911-ba64-98d94b3eb678")
    with hw.connect(f"sqlite:///{tmp_path}/lineage.db") as store:
        with SinkGroup([StoreSink(store), OpenLineageSink(f"file://{tmp_path}/events.jsonl")], RUN) as sink_group:
            sink_group.record(told)
        found = store.run(told.run_id)
        assert (found.run.state, found.run.job.namespace, found.run.job.name) == ("COMPLETE", "prod", "daily_revenue")
        assert PipelineReport.from_dict(found.run_facets["headwater_pipeline"]) == told
    (line,) = (tmp_path / "events.jsonl").read_text().splitlines()
    assert json.loads(line)["run"]["facets"]["headwater_pipeline"]["pipeline"] == "daily_revenue"
