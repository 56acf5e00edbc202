"""`headwater run RUN --items` and `headwater replay` after examples/daily_revenue.py."""

from __future__ import annotations

import json
import re
import shutil
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import headwater as hw
from headwater.errors import PipelineError
from headwater.model.items import Reason
from headwater.pipeline.items.item_log import MANIFEST
from headwater.pipeline.items.stored_records import StoredItems
from tests.cli.running import Run
from tests.support.daily_revenue import DailyRevenue as Estate
from tests.support.daily_revenue import python
from tests.support.dead_letters import SHOP

pytestmark = pytest.mark.xdist_group("daily_revenue")  # with all who look at it: the example runs once

RUN_ID = "01a1e327-d127-74d2-af66-dc10f279f775"
SIXTH = "06ef0cad-9ee6-0a43-696c-1c6e32c86970"


@pytest.fixture
def finished_run(daily_revenue: Estate) -> Estate:
    return daily_revenue


def test_the_run_shows_its_nodes(finished_run: Estate, run: Run) -> None:
    told = run("run", finished_run.run_id, *finished_run.store).out
    pipeline = told[told.index("\nPipeline\n") :]
    assert re.search(r"^  priced +map +6 +5 +0 +1 +1 +\S+ m?s$", pipeline, re.MULTILINE)
    assert "  items  1 DeadLettered, 3 FilteredOut, 6 Emitted\n" in pipeline


def test_items_are_filtered(finished_run: Estate, run: Run) -> None:
    dead = run("run", finished_run.run_id, "--reason", "deadlettered", "--json", *finished_run.store).json
    assert dead["counts"] == {"DeadLettered": 1}
    assert [item["correlation_id"] for item in dead["items"]] == [SIXTH]
    assert dead["items"][0]["error"] == "KeyError: 'GBP'"
    named = run("run", finished_run.run_id, "--node", "named", "--source", "orders", "--json", *finished_run.store).json
    assert [json.loads(item["key"]) for item in named["items"]] == [{"order_id": 7}]
    few = run("run", finished_run.run_id, "--items", "-n", "2", *finished_run.store).out
    assert few.count("customer_id=") == 2
    assert few.endswith("Stopped at 2 rows; --limit gives more.\n")
    assert run("run", finished_run.run_id, "--node", "nowhere", *finished_run.store).out == "No matching items.\n"


def test_one_item_with_its_hops(finished_run: Estate, run: Run) -> None:
    told = run("run", finished_run.run_id, "--item", SIXTH, *finished_run.store).out
    lines = [line for line in told.splitlines() if not re.search(r"(in|out)  \{", line)]
    assert lines == [
        f"{SIXTH}  orders order_id=6  DeadLettered  at priced",
        "├── orders  Emitted  1 row, exact",
        "├── valid  Emitted  1 row, exact",
        "├── priced  Error | DeadLettered  0 rows, 2 retries, exact",
        "└── error  KeyError: 'GBP'",
    ]
    record = run("run", finished_run.run_id, "--item", SIXTH, "--json", *finished_run.store).json
    assert [hop["node"] for hop in record["hops"]] == ["orders", "valid", "priced"]


def test_unknown_names_are_reported(finished_run: Estate, run: Run) -> None:
    stranger = run("run", finished_run.run_id, "--item", "00000000-0000-0000-0000-000000000000", *finished_run.store)
    assert (stranger.code, stranger.err.count("\n")) == (1, 1)
    assert "has no record of item 00000000" in stranger.err
    wrong = run("run", finished_run.run_id, "--reason", "Lost", *finished_run.store)
    assert "'Lost' is not a reason. Reasons: DeadLettered, Error," in wrong.err


def test_records_are_read_without_spark(finished_run: Estate) -> None:
    with StoredItems(finished_run.items) as items:
        assert items.counts() == {Reason.DEAD_LETTERED: 1, Reason.FILTERED_OUT: 3, Reason.EMITTED: 6}
        assert items.counts(source="orders") == {Reason.DEAD_LETTERED: 1, Reason.FILTERED_OUT: 2, Reason.EMITTED: 4}
        assert items.unresolved() == ()
        assert items.terminal_reason(SIXTH) is Reason.DEAD_LETTERED
        hops = items.history(SIXTH)
        assert [(hop.node, hop.retries) for hop in hops] == [("orders", 0), ("valid", 0), ("priced", 2)]
        assert hops[0].at is not None
        assert timedelta(0) < datetime.now(UTC) - hops[0].at < timedelta(hours=1)
        assert items.record("nobody") is None
        assert items.history("nobody") == ()
        assert len(items.records()) == 10
    module = "headwater.pipeline.items.stored_records"
    query = f"from {module} import StoredItems; StoredItems({str(finished_run.items)!r}).records()"
    code = f"import sys; {query}; print(*sys.modules)"
    assert "pyspark" not in python(finished_run.folder, "-c", code).split()


def event(run_id: str, **facet: Any) -> str:
    run = {"runId": run_id, "facets": {"headwater_pipeline": facet} if facet else {}}
    return json.dumps(
        {
            "eventType": "COMPLETE",
            "eventTime": "2026-11-16T00:00:00Z",
            "producer": "https://example.com",
            "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
            "run": run,
            "job": {"namespace": "n", "name": "j"},
        }
    )


@pytest.mark.parametrize(
    ("facet", "said"),
    [
        ({}, "is not a pipeline run, so it has no items."),
        ({"nodes": []}, "has no item records"),
        (
            {"items": {"location": "s3://far/items", "counts": {}}},
            "s3://far/items may not be read: it is not on this machine",
        ),
        (
            {"items": {"location": "file:/nowhere/items"}},
            "There are no records of items at file:/nowhere/items on this",
        ),
    ],
)
def test_runs_without_items(run: Run, tmp_path: Path, facet: dict[str, Any], said: str) -> None:
    url = f"sqlite:///{tmp_path}/lineage.db"
    with hw.connect(url) as lineage:
        lineage.ingest(event(RUN_ID, **facet))
    told = run("run", RUN_ID, "--items", "--store", url)
    assert told.code == 1
    assert said in told.err
    assert run("run", RUN_ID, "--store", url).code == 0


def test_invalid_records(tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match="no records of items"):
        StoredItems(tmp_path)
    (tmp_path / MANIFEST).write_text("{")
    with pytest.raises(PipelineError, match=r"cannot be read: _journal\.json is damaged"):
        StoredItems(tmp_path)
    manifest = {"version": 1, "sources": [{"source": "orders", "folder": "0", "stations": []}], "options": {}}
    (tmp_path / MANIFEST).write_text(json.dumps(manifest))
    (tmp_path / "0").mkdir()
    (tmp_path / "0" / "part.parquet").write_bytes(b"nothing")
    with StoredItems(tmp_path) as items, pytest.raises(PipelineError, match="cannot be read"):
        items.counts()


@pytest.mark.long
def test_dead_letters_are_replayed_after_a_fix(finished_run: Estate, tmp_path: Path) -> None:
    folder = Path(
        shutil.copytree(finished_run.folder, tmp_path / "shop")
    )  # of its own: others look at what the example left
    finished_run = replace(finished_run, folder=folder)
    (folder / "orders.json").write_text('{"order_id": 1, "currency": "EUR"}\n{"order_id": 2, "currency": "GBP"}\n')
    (folder / "shop.py").write_text(SHOP)
    first = python(folder, "shop.py").split()[-1]
    (folder / "shop.py").write_text(SHOP.replace('{"EUR": 1.0}', '{"EUR": 1.0, "GBP": 1.2}'))
    replay = ("-m", "headwater", "replay", "shop.py:pipeline", "--run", first, *finished_run.store)
    (told,) = json.loads(python(folder, *replay, "--json"))
    assert told == {
        "node": "priced",
        "run_id": told["run_id"],
        "replays": [first],
        "succeeded": 1,
        "failed": 0,
        "superseded": 0,
    }
    lines = [line for file in (folder / "report").glob("*.json") for line in file.read_text().splitlines()]
    assert sorted(json.loads(line)["order_id"] for line in lines) == [1, 2]
    assert python(folder, *replay) == "No dead letters.\n"
    shown = python(folder, "-m", "headwater", "run", told["run_id"], *finished_run.store)
    assert f"replays  dead letters of priced, of run {first}" in shown


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("shop", "'shop' does not name a pipeline."),
        ("nowhere.py:p", "There is no file nowhere.py."),
        ("nowhere:p", "There is no module 'nowhere'."),
        ("some.py:other", "some.py has no 'other'. It has: known."),
        ("some.py:number", "'number' in some.py is int, not a pipeline. It has: known."),
    ],
)
def test_a_missing_pipeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, said: str) -> None:
    from headwater.cli.failures import CliError
    from headwater.cli.replay import load_pipeline

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "some.py").write_text("import headwater as hw\nnumber = 1\nknown = hw.Pipeline('known')\n")
    with pytest.raises(CliError, match=re.escape(said)):
        load_pipeline(where)
