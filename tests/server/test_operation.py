"""Operation of the server: health, metrics, logs, headers, problems."""

from __future__ import annotations

import json
import subprocess
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from headwater import errors
from headwater.server.app import problems, readiness
from headwater.server.app.app import create_app
from headwater.server.app.settings import ServerSettings
from headwater.store.engine.database import Database
from headwater.store.engine.write_probe import probe_writes
from headwater.store.store import Store
from tests.server.api import API
from tests.server.running import ServerProcess
from tests.support.events import run_event


def test_the_names_of_metrics(client: TestClient) -> None:
    client.post(f"{API}/lineage", json=run_event(inputs=["a"], outputs=["x"]))
    client.post(f"{API}/lineage", content=b"no")
    client.get(f"{API}/datasets/{'n' * 50}/x")
    text = client.get("/metrics").text
    assert 'lineage_events_total{outcome="taken"}' in text
    assert 'lineage_events_total{outcome="refused"}' in text
    assert "lineage_event_processing_duration_seconds_bucket" in text
    assert "lineage_graph_nodes_total 3.0" in text
    assert "lineage_graph_edges_total 1.0" in text
    assert "lineage_api_request_duration_seconds_count" in text
    assert "nnnnn" not in text, "a name has become part of a metric"


def test_headers_of_every_response(client: TestClient) -> None:
    for path in ("/health/live", f"{API}/datasets", "/nothing", f"{API}/runs/none", "/"):
        answer = client.get(path, headers={"X-Request-ID": "abc-1"})
        assert answer.headers["x-request-id"] == "abc-1"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "script-src 'self'" in answer.headers["content-security-policy"]
        assert "unsafe-inline" not in answer.headers["content-security-policy"]
    odd = client.get("/health/live", headers={"X-Request-ID": "a b\x7f"})
    assert odd.headers["x-request-id"] != "a b\x7f"
    assert len(odd.headers["x-request-id"]) == 36


def test_the_log_is_json_with_the_request_s_id(server: ServerProcess) -> None:
    server.get("/api/v1/datasets", X_Request_ID="find-me")
    log, until = server.log, time.monotonic() + 20
    assert log is not None
    while "find-me" not in log.read_text() and time.monotonic() < until:
        time.sleep(0.05)  # the line is written when the answer has been sent
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    [line] = [line for line in lines if line.get("request_id") == "find-me"]
    assert (line["method"], line["path"], line["status"]) == ("GET", "/api/v1/datasets", 200)
    assert line["milliseconds"] > 0


def test_a_missing_store_is_unavailable_and_its_url_not_shown(client: TestClient, served_url: str) -> None:
    file = Path(served_url.removeprefix("sqlite:///"))
    file.rename(file.with_suffix(".away"))
    answer = client.post(f"{API}/lineage", json=run_event())
    assert (answer.status_code, answer.json()["code"]) == (503, "store_unavailable")
    assert str(file.parent) not in answer.text
    assert answer.headers["retry-after"] == "5"
    unready = client.get("/health/ready")
    assert (unready.status_code, unready.json()["code"]) == (503, "store_unavailable")
    assert str(file.parent) not in unready.text
    assert client.get("/health/live").status_code == 200


@pytest.fixture
def small_disk(tmp_path: Path) -> Path:
    """A path where a server in its own mount namespace has a disk of 6 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    tried = subprocess.run(
        ["unshare", "-rm", "mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(folder)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if tried.returncode != 0:
        pytest.skip(f"not run: no mount namespaces here: {tried.stderr.strip()}")
    return folder


def test_a_full_disk_is_not_ready_until_there_is_space(small_disk: Path, tmp_path: Path) -> None:
    server = ServerProcess(f"sqlite:///{small_disk}/lineage.db", log=tmp_path / "log", TMPDIR=str(tmp_path))
    mount = f'mount -t tmpfs -o size=6m tmpfs "{small_disk}" && exec "$@"'
    server.command[:0] = ["unshare", "-rm", "sh", "-c", mount, "sh"]
    with server:
        assert server.process is not None
        within = Path(f"/proc/{server.process.pid}/root{small_disk}")
        # Many events first: SQLite has space in files it has already, where one more small commit would fit.
        assert server.post(f"{API}/lineage/batch", [run_event(run=str(number)) for number in range(20)])[0] == 204
        fill(within / "filler")
        status, problem = wait_for(server, 503)
        assert (status, problem["code"]) == (503, "store_full")
        assert "full" in problem["detail"]
        assert str(small_disk) not in json.dumps(problem)
        assert server.get("/health/live")[0] == 200
        large = [run_event(run=f"large-{number}", outputs=[f"{number}-{'x' * 900}"]) for number in range(2000)]
        assert server.post(f"{API}/lineage/batch", large)[0] == 503
        (within / "filler").unlink()
        assert wait_for(server, 200) == (200, {"status": "ready"})
        assert sorted(file.name for file in within.iterdir()) == ["lineage.db", "lineage.db-shm", "lineage.db-wal"]
        assert server.post(f"{API}/lineage", run_event(run="after"))[0] == 201


def fill(file: Path) -> None:
    """Fills the disk."""

    def write_on() -> None:
        with file.open("wb", buffering=0) as filler:
            while True:
                filler.write(bytes(4096))

    with pytest.raises(OSError, match="No space left"):
        write_on()


def wait_for(server: ServerProcess, status: int) -> tuple[int, Any]:
    until = time.monotonic() + 30
    while (answer := server.get("/health/ready"))[0] != status and time.monotonic() < until:
        time.sleep(0.1)
    return answer


def test_a_database_that_is_read_only_is_not_ready(postgres_url: str, tmp_path: Path) -> None:
    with Store(postgres_url):
        pass
    mark = "&" if "?" in postgres_url else "?"
    url = f"{postgres_url}{mark}options=-c%20default_transaction_read_only%3Don"
    with TestClient(create_app(url, ServerSettings(workspace=str(tmp_path))), base_url="http://127.0.0.1") as client:
        answer = client.get("/health/ready")
        assert (answer.status_code, answer.json()["code"]) == (503, "store_read_only")
        assert answer.headers["content-type"] == "application/problem+json"
        assert client.get(f"{API}/datasets").status_code == 200


def test_readiness_does_not_write_on_every_request(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(client.app, FastAPI)
    times = []

    def counted(database: Database) -> None:
        times.append(time.monotonic())
        probe_writes(database)

    monkeypatch.setattr(readiness, "probe_writes", counted)
    assert {client.get("/health/ready").status_code for _ in range(50)} == {200}
    assert times, "it is not written at all"
    assert all(later - earlier >= 5 for earlier, later in pairwise(times))


def test_a_draining_server_is_not_ready(client: TestClient) -> None:
    assert isinstance(client.app, FastAPI)
    assert client.get("/health/ready").status_code == 200
    client.app.state.service.drain()
    answer = client.get("/health/ready")
    assert (answer.status_code, answer.json()["code"]) == (503, "draining")
    assert client.get("/health/live").status_code == 200


def test_internal_errors_are_not_shown(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Database) -> None:
        raise RuntimeError("the secret of the house")

    monkeypatch.setattr(Database, "read", broken)
    answer = client.get(f"{API}/datasets")
    assert (answer.status_code, answer.json()["code"]) == (500, "failed")
    assert "secret" not in answer.text


def test_every_headwater_error_has_a_code_and_a_status() -> None:
    def every(kind: type[errors.HeadwaterError]) -> set[type[errors.HeadwaterError]]:
        return {kind}.union(*(every(below) for below in kind.__subclasses__()))

    codes = {kind: problems.code_of(kind) for kind in every(errors.HeadwaterError)}
    assert len(set(codes.values())) == len(codes)
    assert codes[errors.UnknownDataset] == "unknown_dataset"
    assert codes[errors.EventRefused] == "event_refused"
    for kind in problems.STATUS:
        assert kind in codes


def test_workers_are_one_server(postgres_url: str, tmp_path: Path) -> None:
    """Whichever worker answers: the same store, the sum of all metrics; and all of them exit cleanly."""
    with ServerProcess(postgres_url, "--workers", "2", log=tmp_path / "log", TMPDIR=str(tmp_path)) as server:
        for number in range(12):  # each by a connection of its own
            assert server.post(f"{API}/lineage", run_event(run=str(number)))[0] == 201
        assert len(server.get(f"{API}/runs")[1]["items"]) == 12
        text = server.get("/metrics")[1].decode()
        assert 'lineage_events_total{outcome="taken"} 12.0' in text
        assert [file.name for file in tmp_path.glob("headwater-serve-*")] != []
        assert server.drain() == 0
    assert list(tmp_path.glob("headwater-serve-*")) == []


def test_several_workers_need_postgresql(served_url: str, tmp_path: Path) -> None:
    import sys

    answer = subprocess.run(
        [sys.executable, "-m", "headwater", "serve", "--store", served_url, "--workers", "2"],
        capture_output=True, text=True, check=False, timeout=30,
    )  # fmt: skip
    assert answer.returncode == 1
    assert "Several workers need PostgreSQL" in answer.stderr
    assert "Traceback" not in answer.stderr
