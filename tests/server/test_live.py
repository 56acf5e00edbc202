"""Server-sent events."""

from __future__ import annotations

import asyncio
import http.client
import json
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from email.message import Message
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from headwater.model.access import Scope
from headwater.server.access.principal import Principal
from headwater.server.app.app import create_app
from headwater.server.app.service import Service
from headwater.server.app.settings import ServerSettings
from headwater.server.routes import live
from headwater.server.tasks.tasks import Tasks
from headwater.store.access.visibility import EVERYTHING
from headwater.store.store import Store
from tests.server.running import ServerProcess, in_this_process
from tests.support.events import run_event, run_id


class EventStream:
    """The events of a stream, once ``with`` is entered."""

    def __init__(self, port: int, after: str | None = None, headers: dict[str, str] | None = None) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=15)
        sent = {**(headers or {}), **({} if after is None else {"Last-Event-ID": after})}
        self._connection.request("GET", "/api/v1/stream", headers=sent)
        self._answer = self._connection.getresponse()
        assert self._answer.status == 200
        assert self._answer.getheader("content-type", "").startswith("text/event-stream")
        assert self._answer.readline() == b"retry: 2000\n"

    def __enter__(self) -> Iterator[tuple[str, str | None, Any]]:
        return self._told()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._answer.close()
        self._connection.close()

    def _told(self) -> Iterator[tuple[str, str | None, Any]]:
        said: dict[str, str] = {}
        for line in self._answer:
            text = line.decode().rstrip("\n")
            if text and not text.startswith(":"):
                name, _, value = text.partition(": ")
                said[name] = value
            elif "data" in said:
                yield said["event"], said.get("id"), json.loads(said["data"])
                said = {}


def test_events_of_runs_of_all_writers(server: ServerProcess, served_url: str) -> None:
    server.post("/api/v1/lineage", run_event(run="before"))
    with EventStream(server.port) as heard, Store(served_url) as elsewhere:
        time.sleep(1.2)  # the stream begins with what comes after it
        elsewhere.ingest(run_event("START", run="1"))
        server.post("/api/v1/lineage", run_event(run="1", minute=1))
        first, second = next(heard), next(heard)
    assert (first[0], first[2]["run_id"], first[2]["event_type"]) == ("run", run_id("1"), "START")
    assert (second[2]["run_id"], second[2]["event_type"]) == (run_id("1"), "COMPLETE")
    with EventStream(server.port, first[1]) as again:
        assert next(again) == second
    with EventStream(server.port, "0") as from_the_start:
        assert next(from_the_start)[2]["run_id"] == run_id("before")


def test_a_client_far_behind_gets_events_in_batches(
    client: TestClient, served_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each batch is sent before the next is read: a million events are never in memory at once."""
    monkeypatch.setattr(live, "_MAX_EVENTS", 2)
    with Store(served_url) as store:
        store.ingest_many([run_event(run=str(number)) for number in range(5)])
    assert isinstance(client.app, FastAPI)
    serving: Service = client.app.state.service

    async def pieces() -> list[bytes]:
        told = live._messages(serving, Principal("me", frozenset(Scope), EVERYTHING, None), 0)
        found = [await anext(told) for _ in range(4)]
        serving.drain()
        assert [piece async for piece in told] == [], "it goes on when the server has ended"
        return found

    assert [piece.count(b"event: run") for piece in asyncio.run(pieces())] == [0, 2, 2, 1]


def test_progress_of_tasks(served_url: str, tmp_path: Path) -> None:
    app = create_app(served_url, ServerSettings(workspace=str(tmp_path)))
    tasks: Tasks = app.state.service.tasks
    with in_this_process(app) as port, EventStream(port) as heard:
        started = tasks.start("test", "tests.server.slow_task", {"seconds": 2, "answer": "kept back"}, "local")
        told = []
        for kind, _, task in heard:
            assert (kind, task["id"], task["result"]) == ("task", started.id, None)
            told.append((task["state"], (task["progress"] or {}).get("done")))
            if task["state"] != "running":
                break
    assert len(told) == len(set(told)) > 2, "what has not changed is not told again"
    assert told[-1] == ("succeeded", 4)


def test_the_number_of_streams_is_limited(served_url: str, tmp_path: Path) -> None:
    app = create_app(served_url, ServerSettings(workspace=str(tmp_path), streams=30, streams_per_key=30))
    with in_this_process(app) as port:
        with ExitStack() as held:
            for _ in range(30):
                held.enter_context(EventStream(port))
            status, head = asked_to_listen(port)
            assert (status, head["retry-after"], head["content-type"]) == (429, "10", "application/problem+json")
        wait_for_a_free_stream(port)


def test_one_key_is_limited_to_its_share_of_streams(served_url: str, tmp_path: Path) -> None:
    app = create_app(served_url, ServerSettings(workspace=str(tmp_path), streams_per_key=5))
    store: Store = app.state.service.store
    greedy, other = ({"Authorization": f"Bearer {store.access.add(name).secret}"} for name in ("greedy", "other"))
    with in_this_process(app) as port:
        login = http.client.HTTPConnection("127.0.0.1", port, timeout=15)
        secret = greedy["Authorization"].removeprefix("Bearer ")
        login.request("POST", "/api/v1/session", json.dumps({"key": secret}))
        cookie = (login.getresponse().getheader("set-cookie") or "").partition(";")[0]
        login.close()
        with ExitStack() as held:
            for number in range(5):
                headers = greedy if number % 2 else {"Cookie": cookie}
                held.enter_context(EventStream(port, headers=headers))
            for headers in (greedy, {"Cookie": cookie}):
                status, head = asked_to_listen(port, headers)
                assert (status, head["retry-after"]) == (429, "10")
            held.enter_context(EventStream(port, headers=other))
        wait_for_a_free_stream(port, greedy)
    assert app.state.service.feed.listeners_of("key none") == 0
    assert app.state.service.feed.listeners == 0


def test_simultaneous_streams_are_counted(client: TestClient) -> None:
    """All of them have passed the route before the first is counted."""
    assert isinstance(client.app, FastAPI)
    feed = client.app.state.service.feed

    async def three() -> list[int | None]:
        streams = [feed.updates("key a", 2) for _ in range(3)]
        told = [await anext(stream, None) for stream in streams]
        for stream in streams:
            await stream.aclose()
        return told

    first, second, third = asyncio.run(three())
    assert (first is not None, second is not None, third) == (True, True, None)
    assert (feed.listeners, feed.listeners_of("key a")) == (0, 0)


def wait_for_a_free_stream(port: int, headers: dict[str, str] | None = None) -> None:
    until = time.monotonic() + 60
    while asked_to_listen(port, headers)[0] != 200:
        assert time.monotonic() < until, "those who have gone still count"
        time.sleep(0.1)


def asked_to_listen(port: int, headers: dict[str, str] | None = None) -> tuple[int, Message]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=15)
    connection.request("GET", "/api/v1/stream", headers=headers or {})
    answer = connection.getresponse()
    connection.close()
    return answer.status, answer.headers


def test_a_drain_ends_streams(server: ServerProcess) -> None:
    with EventStream(server.port, "0") as heard:
        server.post("/api/v1/lineage", run_event())
        next(heard)
        began = time.monotonic()
        assert server.drain() == 0
        assert time.monotonic() - began < 10
        assert list(heard) == []


def test_a_drain_answers_requests_that_it_has_begun_to_read(server: ServerProcess, served_url: str) -> None:
    body = json.dumps(run_event(outputs=["x"])).encode()
    assert server.process is not None
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as slow:
        slow.sendall(b"POST /api/v1/lineage HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n" % len(body))
        slow.sendall(body[:10])
        time.sleep(0.3)  # until it is being read
        server.process.send_signal(signal.SIGTERM)
        refused_soon(server)
        slow.sendall(body[10:])
        answer = b"".join(iter(lambda: slow.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 201"), answer
    assert server.process.wait(timeout=20) == 0
    with Store(served_url) as store:
        assert [one.dataset.name for one in store.datasets()] == ["x"]


def refused_soon(server: ServerProcess) -> None:
    """New requests are refused once the server drains."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", server.port), timeout=5).close()
        except ConnectionRefusedError:
            return
        time.sleep(0.05)
    raise AssertionError("it still listens")
