"""Ingest over HTTP: single events, batches, and OpenLineage's own client."""

from __future__ import annotations

import gzip
import json
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi.testclient import TestClient
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.transport.async_http import AsyncHttpConfig, AsyncHttpTransport
from openlineage.client.transport.http import (
    HttpCompression,
    HttpConfig,
    HttpTransport,
    create_token_provider,
)
from requests import HTTPError

from headwater.server.app.app import create_app
from headwater.server.app.request_bodies import BodyReader
from headwater.server.app.settings import ServerSettings
from headwater.store.store import Store
from tests.server.api import API
from tests.server.running import ServerProcess, in_this_process
from tests.support.events import run_event, run_id, used


def test_one_event_and_a_duplicate(client: TestClient, served_url: str) -> None:
    event = run_event(inputs=["a"], outputs=["x"])
    first, again = (client.post(f"{API}/lineage", json=event) for _ in range(2))
    assert (first.status_code, first.json()["duplicate"]) == (201, False)
    assert (again.status_code, again.json()["duplicate"]) == (201, True)
    with Store(served_url) as store:
        assert [node.endpoint.name for node in store.upstream("x").nodes] == ["a"]
        [entry, *_] = store.audit(event_type="event.ingested") or store.audit()
        assert entry.correlation_id == first.headers["x-request-id"]
        assert (entry.client_ip, entry.user_agent) == ("testclient", "testclient")


def test_a_refused_event_has_its_path(client: TestClient) -> None:
    answer = client.post(f"{API}/lineage", json={"eventTime": "now", "producer": "p", "run": {}, "job": {}})
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert (problem["code"], problem["path"]) == ("event_refused", "$.eventTime")


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_a_batch(client: TestClient, served_url: str, encoding: str) -> None:
    def send(events: Any) -> Any:
        body = json.dumps(events).encode()
        body = gzip.compress(body) if encoding == "gzip" else body
        return client.post(f"{API}/lineage/batch", content=body, headers={"Content-Encoding": encoding})

    good = [run_event(run=str(number)) for number in range(3)]
    answer = send(good)
    assert (answer.status_code, answer.content) == (204, b"")
    assert send([]).status_code == 204
    mixed = [good[0], 7, {}, run_event(run="new"), {"eventTime": "x"}]
    told = send(mixed)
    assert told.status_code == 200
    assert told.json()["status"] == "partial_success"
    assert told.json()["summary"] == {
        "received": 5, "successful": 2, "failed": 3, "retriable": 0, "non_retriable": 3,
    }  # fmt: skip
    assert [(one["index"], one["retriable"]) for one in told.json()["failed_events"]] == [
        (1, False), (2, False), (4, False),
    ]  # fmt: skip
    with Store(served_url) as store:
        assert {run.run_id for run in store.runs()} == {run_id(name) for name in ("0", "1", "2", "new")}
    for broken in (b"", b"[", b"[1,]", b"[{}", b"{}", b"[] []", b"[1 2]", b"\xff", b"nul", b"[" * 100_000):
        answer = client.post(f"{API}/lineage/batch", content=broken)
        assert (answer.status_code, answer.json()["code"]) == (400, "event_refused"), broken[:10]


def test_a_batch_is_stored_as_it_was_sent(client: TestClient) -> None:
    pieces = [b'{"eventTime":"2026-01-01T00:00:00Z" , "producer":"p\\u00e9","job":{"namespace":"n","name":"%d"}}' % n
              for n in range(2)]  # fmt: skip
    assert (
        client.post(f"{API}/lineage/batch", content=b"\xef\xbb\xbf [ " + b" ,\n".join(pieces) + b"] ").status_code
        == 204
    )
    listed = client.get(f"{API}/events").json()["items"]
    kept = {client.get(f"{API}/events/by-digest/{event['digest']}").content for event in listed}
    assert kept == set(pieces)


def client_event(number: int) -> RunEvent:
    return RunEvent(
        eventType=RunState.COMPLETE,
        eventTime="2026-11-15T06:00:00Z",
        run=Run(run_id(f"client {number}")),
        job=Job("clients", "job"),
        producer="https://example.com/client",
        inputs=[InputDataset("clients", "in")],
        outputs=[OutputDataset("clients", f"out {number}")],
    )


@pytest.mark.parametrize("compression", [None, HttpCompression.GZIP])
def test_openlineage_s_client(server: ServerProcess, served_url: str, compression: HttpCompression | None) -> None:
    sync = OpenLineageClient(transport=HttpTransport(HttpConfig(url=server.url, compression=compression)))
    sync.emit(client_event(1))
    sync.close()
    behind = AsyncHttpTransport(AsyncHttpConfig(url=server.url, compression=compression))
    unhurried = OpenLineageClient(transport=behind)
    for number in range(2, 6):
        unhurried.emit(client_event(number))
    assert behind.wait_for_completion(timeout=20)
    unhurried.close()
    with Store(served_url) as store:
        assert {run.run_id for run in store.runs()} == {run_id(f"client {number}") for number in range(1, 6)}
        assert {node.endpoint.name for node in store.downstream("in").nodes} == {f"out {n}" for n in range(1, 6)}


def test_too_many_waiting_requests_are_asked_to_retry(server: ServerProcess) -> None:
    """256 bodies that never end are open; the next request gets a Retry-After, and the server continues."""
    head = b"POST /api/v1/lineage HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{"
    with ExitStack() as held:
        for _ in range(ServerSettings().requests_in_flight):
            held.enter_context(socket.create_connection(("127.0.0.1", server.port))).sendall(head)
        for _ in range(100):  # until all of them have arrived
            status, problem = server.post("/api/v1/lineage", run_event())
            if status == 429:
                break
        assert (status, problem["code"]) == (429, "busy")
        assert server.get("/api/v1/datasets")[0] == 200
    for _ in range(200):
        status, problem = server.post("/api/v1/lineage", run_event())
        if status == 201:
            break
        time.sleep(0.02)
    assert status == 201


def of_size(size: int) -> bytes:
    """An event of exactly this many bytes."""
    made = run_event(outputs=[used("x", facets={"documentation": {"description": "·"}})])
    rest = size - len(json.dumps(made, ensure_ascii=False).encode()) + len("·".encode())
    return json.dumps(made, ensure_ascii=False).replace("·", "d" * rest).encode()


@pytest.mark.parametrize(("options", "limit"), [((), 20_000_000), (("--limit-bytes", "5KB"), 5000)])
def test_an_event_of_the_maximum_size_and_one_byte_more(
    served_url: str, tmp_path: Path, options: tuple[str, ...], limit: int
) -> None:
    with ServerProcess(served_url, *options, log=tmp_path / "log") as server:
        longest = of_size(limit)
        assert len(longest) == limit
        status, told = server.post(f"{API}/lineage", longest)
        assert status == 201
        assert server.get(f"{API}/events/by-digest/{told['digest']}")[1] == json.loads(longest)
        zipped = gzip.compress(of_size(limit + 1))
        for body, headers in ((of_size(limit + 1), {}), (zipped, {"Content_Encoding": "gzip"})):
            status, problem = server.post(f"{API}/lineage", body, **headers)
            assert (status, problem["code"]) == (413, "body_too_large")


def test_too_many_waiting_bytes_are_asked_to_retry(served_url: str, tmp_path: Path) -> None:
    app = create_app(served_url, ServerSettings(workspace=str(tmp_path), bytes_in_flight=1_000_000))
    gate: BodyReader = app.state.service.body_reader
    head = b"POST /api/v1/lineage HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 400001\r\n\r\n"
    with in_this_process(app) as port, httpx2.Client(base_url=f"http://127.0.0.1:{port}") as client:
        with ExitStack() as held:
            for _ in range(2):
                held.enter_context(socket.create_connection(("127.0.0.1", port))).sendall(head + b" " * 400_000)
            soon(lambda: gate.bytes == 800_000)
            refused = client.post(f"{API}/lineage", content=of_size(300_000))
            assert (refused.status_code, refused.json()["code"]) == (429, "busy")
            assert refused.headers["retry-after"] == "1"
            assert client.post(f"{API}/lineage", content=of_size(100_000)).status_code == 201
        soon(lambda: gate.bytes == gate.requests == 0)
        assert client.post(f"{API}/lineage", content=of_size(300_000)).status_code == 201


def soon(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_openlineage_s_client_with_a_key(server: ServerProcess, served_url: str) -> None:
    with Store(served_url) as store:
        made = store.access.add("airflow", scopes=["write"], namespaces=["clients"])
        time.sleep(1.1)  # until the server has noticed that it is no longer open
        for key, taken in ((made.secret, True), (f"{made.secret}x", False)):
            auth = create_token_provider({"type": "api_key", "apiKey": key})
            sending = OpenLineageClient(transport=HttpTransport(HttpConfig(url=server.url, auth=auth)))
            if taken:
                sending.emit(client_event(1))
            else:
                with pytest.raises(HTTPError, match="401"):
                    sending.emit(client_event(2))
            sending.close()
        assert [run.run_id for run in store.runs()] == [run_id("client 1")]
        (entry,) = store.audit(event_type="event.ingested")
        assert entry.actor_id == f"airflow ({made.key.key_id})"
        assert entry.user_agent is not None
        assert "python" in entry.user_agent.lower()
