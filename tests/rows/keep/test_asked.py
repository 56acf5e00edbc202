"""What is kept is up to whoever asks; a fault in it costs the event nothing else."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

import headwater as hw
from headwater.capture.listener import session
from headwater.errors import HeadwaterError
from headwater.rows.kept_queries.capture import QueryCapture
from headwater.store.store import Store
from tests.capture.telling import Json
from tests.capture.watching import Watch
from tests.rows.keep.keeping import Keeping


def facets(events: list[Json]) -> list[Json]:
    outputs = [output for event in events for output in event.get("outputs", ())]
    found = [output.get("outputFacets", {}).get("headwater_rows") for output in outputs]
    return [facet for facet in found if facet is not None]


def test_a_run_may_ask_for_something_else(watch: Watch, tmp_path: Path) -> None:
    watch.new_events()
    modes = {}
    for mode in (None, "off", "full", "sampled", "key"):
        with hw.run("kept", rows=mode, rows_location=str(tmp_path / "rows")):
            watch.spark.table("groups").write.parquet(f"{tmp_path}/{mode}")
        modes[mode] = [facet["mode"] for facet in facets(watch.new_events())]
    assert modes == {None: ["key"], "off": [], "full": ["full"], "sampled": ["sampled"], "key": ["key"]}


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"rows": "all"}, r"rows='all' is not known\. There are: key, full, sampled, off\."),
        ({"rows": "sampled", "rows_sample": 0}, "rows_sample=0 is not a share"),
        ({"rows": "sampled", "rows_sample": 1.5}, "rows_sample=1.5 is not a share"),
    ],
)
def test_what_cannot_be_asked(watch: Watch, asked: dict[str, Any], message: str) -> None:
    with pytest.raises(HeadwaterError, match=message), hw.run("kept", **asked):
        pass
    with pytest.raises(HeadwaterError, match=message):
        hw.enable(watch.spark, store="memory://", **asked)
    assert len(session.active()) == 1, "the capture that was there goes on"


def test_views_and_queries_have_no_rows_to_keep(watch: Watch) -> None:
    watch.new_events()
    watch.spark.sql("CREATE VIEW kept_view AS SELECT 1 AS one")
    watch.spark.sql("SELECT * FROM kept_view").collect()
    watch.spark.sql("DROP VIEW kept_view")
    assert facets(watch.new_events()) == []


def test_a_fault_costs_the_facet_alone(
    watch: Watch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_given: object) -> None:
        raise ZeroDivisionError("kept nothing")

    watch.new_events()
    (capture,) = session.active()
    with monkeypatch.context() as patched, caplog.at_level(logging.WARNING, "headwater"):
        patched.setattr(QueryCapture, "keep", broken)
        watch.spark.table("groups").write.parquet(f"{tmp_path}/out")
        assert hw.flush(60)
    assert capture.status()["faults"] == 2, "of the rows, and of the evidence, which wants the inputs pinned as well"
    assert [record.message for record in caplog.records if "kept nothing" in record.message]
    capture._observer.cost.faults = 0
    events = watch.new_events()
    assert [event["eventType"] for event in events] == ["START", "COMPLETE"]
    assert facets(events) == []
    assert "columnLineage" in events[-1]["outputs"][0]["facets"]


def test_the_store_takes_it_and_gives_it_back(keeping: Keeping, watch: Watch, tmp_path: Path) -> None:
    """Also a large one: the list of files alone may take megabytes."""
    facet = keeping.frame(keeping.spark.table("items"))
    event = next(event for event in reversed(watch.all_events) if facets([event]))
    event["outputs"][0]["outputFacets"]["headwater_rows"]["plan"]["text"] = "x" * 8_000_000
    with Store(f"sqlite:///{tmp_path}/store.db") as store:
        store.ingest(json.dumps(event).encode())
        (output,) = store.run(event["run"]["runId"]).outputs
    kept = output.io_facets["headwater_rows"]
    assert kept["plan"]["digest"] == facet["plan"]["digest"]
    assert keeping.again(kept).columns == ("id", "k", "s", "v")
