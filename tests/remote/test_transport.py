"""Failures between client and server: no server, another kind of server, a busy one, keys, URLs."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import headwater
from headwater.errors import (
    AnswerUnreadable,
    NotAuthenticated,
    NotOffered,
    NotPermitted,
    QueryError,
    RequestRefused,
    StoreUnavailable,
    StoreUrlInvalid,
)
from headwater.model.audit import Actor
from headwater.remote import client as transport
from headwater.remote.store import RemoteStore
from headwater.store.store import Store
from tests.remote.conftest import served
from tests.server.running import free_port
from tests.support.events import run_event

Answer = tuple[int, dict[str, str], Any]
EMPTY: dict[str, Any] = {"items": [], "next": None}


class FakeServer:
    """Responds with the given responses in order, repeating the last; records its requests."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, str, dict[str, str]]] = []
        self.url = ""

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        length = int(request.headers.get("Content-Length") or 0)
        request.rfile.read(length)
        self.asked.append((request.command, request.path, dict(request.headers)))
        is_version = request.path.endswith("/openapi.json") and self.answers[0][2] != "no version"
        status, headers, body = self.answers[0]
        if is_version:
            status, headers, body = 200, {}, {"info": {"version": "9.9.9"}}
        elif len(self.answers) > 1:
            self.answers.pop(0)
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        request.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(sent))}.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(sent)


@contextmanager
def fake_server(*answers: Answer) -> Iterator[FakeServer]:
    told = FakeServer(*answers)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            told.answer(self)

        def do_POST(self) -> None:
            told.answer(self)

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    told.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield told
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def connected(url: str, **options: Any) -> Any:
    return headwater.connect(url, **options)


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "_FIRST_WAIT", 0.01)


# -- addresses and options --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://user:secret@host:1", "Pass the key as api_key"),
        ("http://", "is not the address of a server"),
        ("http://host:1/?x=1", "is not the address of a server"),
        ("https://host#part", "is not the address of a server"),
    ],
)
def test_an_invalid_url_is_refused(url: str, reason: str) -> None:
    with pytest.raises(StoreUrlInvalid, match=reason) as refused:
        headwater.connect(url)
    assert "secret" not in str(refused.value)


def test_a_key_requires_a_server(sqlite_url: str) -> None:
    with pytest.raises(StoreUrlInvalid, match="api_key is for a server"):
        headwater.connect(sqlite_url, api_key="hw_x")
    assert not Path(sqlite_url.removeprefix("sqlite:///")).exists()


def test_options_of_a_database_are_refused() -> None:
    with pytest.raises(NotOffered, match="max_direct_edges"):
        headwater.connect("http://127.0.0.1:1", max_direct_edges=7)
    with pytest.raises(NotOffered, match="actor"):
        headwater.connect("http://127.0.0.1:1", actor=Actor("ada"))
    assert isinstance(connected("HTTP://127.0.0.1:1/", create=False, max_direct_edges=None), RemoteStore)


@pytest.mark.parametrize("path", ["", "/", "/api/v1", "/api/v1/", "/lineage", "/lineage/api/v1"])
def test_the_url_may_have_a_path_before_the_api(path: str) -> None:
    with fake_server((200, {}, EMPTY)) as told, connected(told.url + path) as lin:
        assert lin.datasets() == []
        before = "/lineage" if "lineage" in path else ""
        assert told.asked[0][1] == f"{before}/api/v1/datasets?limit=100"


# -- keys -------------------------------------------------------------------------------------------------------------


def test_a_key_is_sent_and_missing_rights_are_refused(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(sqlite_url) as store:
        secret = store.access.add("reader", scopes=["read"], namespaces=["*"]).secret
    with served(sqlite_url, tmp_path) as (nobody, _):
        with pytest.raises(NotAuthenticated, match="Send a valid access key"):
            nobody.datasets()
        url = nobody._client.url
        with connected(url, api_key="hw_wrong") as wrong, pytest.raises(NotAuthenticated):
            wrong.datasets()
        with connected(url, api_key=secret) as reader:
            assert reader.datasets() == []
            with pytest.raises(NotPermitted, match="'write'") as refused:
                reader.ingest(run_event())
            assert refused.value.scope == "write"
            with pytest.raises(NotOffered, match="an actor other than the holder"):
                reader.ingest(run_event(), actor=Actor("ada"))
        monkeypatch.setenv("HEADWATER_API_KEY", secret)
        with connected(url) as reader:
            assert reader.datasets() == []


# -- servers that are away, busy or strange ---------------------------------------------------------------------------


def test_no_server() -> None:
    url = f"http://127.0.0.1:{free_port()}"
    with connected(url) as lin:
        for ask in (lin.datasets, lambda: lin.ingest(run_event())):
            with pytest.raises(StoreUnavailable, match=f"No answer from {url}: Connection refused"):
                ask()


def test_a_server_that_never_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with connected(url, timeout=0.1) as lin, pytest.raises(StoreUnavailable, match=r"nothing within 0\.1 s"):
            lin.datasets()


def test_reads_are_repeated_while_the_server_is_unavailable() -> None:
    away: Answer = (503, {"Retry-After": "0"}, {"code": "draining", "detail": "The server has been asked to stop."})
    with fake_server(away, away, (200, {}, EMPTY)) as told, connected(told.url) as lin:
        assert lin.datasets() == []
        assert len(told.asked) == 3
    with fake_server(away) as told, connected(told.url) as lin:
        with pytest.raises(RequestRefused, match=r"503, draining\): The server has been asked to stop") as refused:
            lin.datasets()
        assert (refused.value.status, refused.value.code) == (503, "draining")
        assert len(told.asked) == transport._ATTEMPTS
    with fake_server(away) as told, connected(told.url) as lin:
        with pytest.raises(RequestRefused):
            lin.ingest(run_event())
        assert len(told.asked) == 1, "whether it was stored is not known"


def test_events_are_repeated_while_the_server_is_busy() -> None:
    busy: Answer = (429, {}, {"code": "busy", "detail": "Too much waits to be stored."})
    receipt = {"digest": "ab", "duplicate": False, "problems": []}
    with fake_server(busy, (201, {}, receipt)) as told, connected(told.url) as lin:
        assert lin.ingest(run_event()).digest == "ab"
        assert [method for method, _, _ in told.asked] == ["POST", "POST"]
    with fake_server((429, {"Retry-After": "3600"}, busy[2])) as told, connected(told.url) as lin:
        with pytest.raises(RequestRefused, match="busy"):
            lin.ingest(run_event())
        assert len(told.asked) == 1, "an hour is not waited for"


def test_a_redirect_is_not_followed() -> None:
    with fake_server((302, {"Location": "http://elsewhere.example/"}, b"")) as told, connected(told.url) as lin:
        with pytest.raises(RequestRefused, match=r"302.*elsewhere\.example.* a Headwater server\?"):
            lin.datasets()
        assert len(told.asked) == 1


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ((200, {}, b"<html>"), "it is not JSON"),
        ((200, {}, []), "where an object is expected"),
        ((200, {}, {"items": [{"dataset": {}}], "next": None}), "it is missing"),
        ((200, {}, {"items": [], "next": None, "total": 7}), "this version of Headwater does not know it"),
    ],
)
def test_an_answer_of_another_shape_names_the_field_and_the_version(answer: Answer, reason: str) -> None:
    with fake_server(answer) as told, connected(told.url) as lin:
        with pytest.raises(AnswerUnreadable, match=reason) as refused:
            lin.datasets()
        assert refused.value.version == "9.9.9"
        assert refused.value.field in str(refused.value)


def test_an_unknown_problem_is_reported_unchanged() -> None:
    teapot: Answer = (418, {}, {"code": "teapot", "detail": "Short and stout."})
    for answer, words in (
        (teapot, r"418, teapot\): Short and stout"),
        ((404, {}, b"<html>"), r"404\): Not Found\. Is http"),
    ):
        with fake_server(answer) as told, connected(told.url) as lin, pytest.raises(RequestRefused, match=words):
            lin.datasets()


def test_a_lone_surrogate_cannot_be_queried() -> None:
    with connected("http://127.0.0.1:1") as lin:
        for ask in (lin.dataset, lin.run, lin.upstream, lin.bundle):
            with pytest.raises(QueryError, match="half a surrogate pair"):
                ask("a\ud800")


def test_threads_share_a_store(sqlite_url: str, tmp_path: Path) -> None:
    with served(sqlite_url, tmp_path) as (remote, _), ThreadPoolExecutor(8) as pool:
        events = [run_event(run=str(number), inputs=["a"], outputs=[f"x{number}"]) for number in range(40)]
        assert not any(receipt.duplicate for receipt in pool.map(remote.ingest, events))
        answers = list(pool.map(lambda _: remote.downstream("a"), range(40)))
        assert {len(answer.nodes) for answer in answers} == {40}


def test_a_store_names_its_server() -> None:
    assert repr(headwater.connect("http://127.0.0.1:1/")) == "<RemoteStore http://127.0.0.1:1>"
