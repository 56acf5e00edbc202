"""Events whose small body makes many rows: ingested, answered correctly, without blocking others; and a server that
stops meanwhile."""

from __future__ import annotations

import json
import signal
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from headwater.model.answers import Closure
from headwater.store.store import Store
from tests.server.running import ServerProcess
from tests.support.events import run_event, run_id

WIDE = 1_414
COLUMNS = 300
TIMEOUT = 60.0


def wide(number: int, job: str) -> dict[str, Any]:
    names = {side: [f"{job}-{side}-{place}" for place in range(number)] for side in ("in", "out")}
    return run_event(run=f"run of {job}", job=job, inputs=names["in"], outputs=names["out"])


def columns(number: int) -> dict[str, Any]:
    event = run_event(run="run of columns", job="columns", inputs=["source"], outputs=["target"])
    source = {key: event["inputs"][0][key] for key in ("namespace", "name")}
    fields = {
        f"c{place}": {"inputFields": [{**source, "field": f"s{other}"} for other in range(number)]}
        for place in range(number)
    }
    event["outputs"][0].setdefault("facets", {})["columnLineage"] = {
        "_producer": "urn:test",
        "_schemaURL": "https://openlineage.io/spec/facets/1-2-0/ColumnLineageDatasetFacet.json#/$defs/ColumnLineageDatasetFacet",
        "fields": fields,
    }
    return event


class OtherClient:
    """Another client, which posts one small event after another."""

    def __init__(self, server: ServerProcess) -> None:
        self.answers: list[int] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._post, args=(server,))

    def __enter__(self) -> OtherClient:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _post(self, server: ServerProcess) -> None:
        while not self._over.is_set():
            event = run_event(run=f"small {len(self.answers)}", job="small", inputs=["a"], outputs=["b"])
            self.answers.append(server.post("/api/v1/lineage", event)[0])


def names(answer: Closure) -> set[str]:
    return {str(getattr(node.endpoint, "name", "")) for node in answer.nodes}


def test_wide_events_do_not_block_others(server: ServerProcess, served_url: str) -> None:
    with OtherClient(server) as others:
        for event in (wide(WIDE, "widest"), wide(500, "wide"), columns(COLUMNS)):
            before = len(others.answers)
            assert server.post("/api/v1/lineage", event)[0] == 201
            after = len(others.answers)
            while len(others.answers) == after:  # the next one, too, has its answer
                others._over.wait(0.01)
            assert len(others.answers) > before
    assert set(others.answers) == {201}
    with Store(served_url) as store:
        for job, number in (("widest", WIDE), ("wide", 500)):
            up, down = store.upstream(f"warehouse/{job}-out-7"), store.downstream(f"warehouse/{job}-in-{number - 1}")
            assert names(up) == {f"{job}-in-{place}" for place in range(number)}
            assert names(down) == {f"{job}-out-{place}" for place in range(number)}
            for node in (*up.nodes, *down.nodes):
                assert (node.depth, node.via.via_job, node.via.run_id) == (1, True, run_id(f"run of {job}"))
            assert len(store.impact(f"warehouse/{job}-in-0").affected) == number
        found = store.upstream("warehouse/target", "c7")
        assert {node.part for node in found.nodes} == {f"s{place}" for place in range(COLUMNS)}
    with closing(sqlite3.connect(served_url.removeprefix("sqlite:///"))) as file:
        for table in ("edge", "lineage"):
            (rows,) = file.execute(f"SELECT count(*) FROM {table}").fetchone()
            assert rows <= 2 * WIDE + 2 * 500 + 2 + len(others.answers)


@pytest.fixture
def answered(server: ServerProcess) -> Iterator[list[int]]:
    """The response to a large event that is being sent when the test begins."""
    heard: list[int] = []

    def post() -> None:
        try:
            heard.append(server.post("/api/v1/lineage", columns(COLUMNS))[0])
        except OSError:
            heard.append(0)
        except Exception:  # a connection that ends within an answer
            heard.append(0)

    thread = threading.Thread(target=post)
    thread.start()
    yield heard
    thread.join()


def assert_ends(server: ServerProcess) -> None:
    """Within a limit that is far below the minute for which a writer waits for SQLite's lock."""
    assert server.process is not None
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(timeout=30) == 0
    server.process = None


def test_a_server_whose_writer_waits_for_the_lock_ends(
    server: ServerProcess, served_url: str, answered: list[int], tmp_path: Path
) -> None:
    with closing(sqlite3.connect(served_url.removeprefix("sqlite:///"), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert server.post("/api/v1/lineage", b"{")[0] == 400  # so it answers, and only what writes has to wait
        assert_ends(server)
        other.execute("ROLLBACK")
        assert other.execute("SELECT count(*) FROM event").fetchone() == (0,)
    assert 201 not in answered
    with Store(served_url) as store:
        assert store.runs() == []
        store.verify()


def test_a_server_that_folds_a_large_event_ends(server: ServerProcess, served_url: str, answered: list[int]) -> None:
    until_locked(served_url, answered)
    assert_ends(server)
    with Store(served_url) as store:
        stored = [run.run_id for run in store.runs()]
        edges = store.upstream("warehouse/target", "c0").nodes if stored else ()
        assert len(edges) in (0, COLUMNS)
        if 201 in answered:
            assert stored == [run_id("run of columns")]
        store.verify()


def until_locked(url: str, answered: list[int]) -> None:
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None, timeout=0)) as probe:
        while not answered:
            try:
                probe.execute("BEGIN IMMEDIATE")
                probe.execute("ROLLBACK")
            except sqlite3.OperationalError:
                return


def test_the_limit_is_an_option(served_url: str, tmp_path: Path) -> None:
    with ServerProcess(served_url, "--max-direct-edges", "3", log=tmp_path / "log") as server:
        assert server.post("/api/v1/lineage", wide(2, "narrow"))[0] == 201
        status, answer = server.get("/api/v1/lineage/upstream?dataset=warehouse/narrow-out-0")
    assert status == 200, json.dumps(answer)
    assert [node["via"]["via_job"] for node in answer["nodes"]] == [True, True]
