"""Below a path, behind proxies that remove it and proxies that do not."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from headwater.cli.app import app as cli
from headwater.server.app.app import create_app
from headwater.server.app.root_path import OWN_SEGMENTS, parse_root_path, without_root
from headwater.server.app.settings import ServerSettings
from headwater.server.routes import page
from tests.server.api import document
from tests.server.running import in_this_process
from tests.support.events import run_event
from tests.support.prefix_proxy import prefix_proxy

ROOT = "/tools/lineage"


def ask(base: str, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, dict[str, str], bytes]:
    url = urlsplit(base)
    connection = http.client.HTTPConnection(url.hostname or "", url.port, timeout=30)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, url.path + path, None if body is None else json.dumps(body), sent)
    answer = connection.getresponse()
    found = answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    connection.close()
    return found


@pytest.fixture(params=["stripping", "passing on"])
def shown(request: pytest.FixtureRequest, served_url: str, tmp_path: Path) -> Iterator[tuple[str, FastAPI]]:
    settings = ServerSettings(workspace=str(tmp_path / "work"), root_path=ROOT)
    app = create_app(served_url, settings)
    with in_this_process(app) as port, prefix_proxy(port, ROOT, strips=request.param == "stripping") as (base, outside):
        yield base, app
    assert outside == []


def test_requests_below_the_path(shown: tuple[str, FastAPI]) -> None:
    base, _ = shown
    assert ask(base, "POST", "/api/v1/lineage", run_event(outputs=["a/b"]))[0] == 201
    status, _, body = ask(base, "GET", "/api/v1/datasets?search=b")
    assert (status, [one["dataset"]["name"] for one in json.loads(body)["items"]]) == (200, ["a/b"])
    assert ask(base, "GET", "/api/v1/datasets/shop/a%2Fb")[0] in (200, 404)
    assert ask(base, "GET", "/health/ready")[0] == 200
    assert ask(base, "GET", "/nothing")[0] == 404
    assert json.loads(ask(base, "GET", "/api/v1/openapi.json")[2])["servers"] == [{"url": ROOT}]


def test_the_location_of_a_task(shown: tuple[str, FastAPI]) -> None:
    base, _ = shown
    status, headers, body = ask(base, "POST", "/api/v1/log/verify")
    assert (status, headers["location"]) == (202, f"{ROOT}/api/v1/tasks/{json.loads(body)['id']}")
    host = base.removesuffix(ROOT)
    assert ask(host, "GET", headers["location"])[0] == 200


def test_a_session_is_limited_to_the_path(shown: tuple[str, FastAPI]) -> None:
    base, app = shown
    key = app.state.service.store.access.add("page", scopes=["read", "admin"])
    status, headers, body = ask(base, "POST", "/api/v1/session", {"key": key.secret})
    cookie, _, attributes = headers["set-cookie"].partition(";")
    assert (status, f"Path={ROOT};" in f"{attributes};") == (200, True)
    assert cookie.startswith("headwater_session.tools.lineage=")
    assert ask(base, "GET", "/api/v1/datasets", Cookie=cookie)[0] == 200
    token = json.loads(body)["csrf_token"]
    status, headers, _ = ask(base, "DELETE", "/api/v1/session", Cookie=cookie, X_CSRF_Token=token)
    assert (status, f"Path={ROOT};" in f"{headers['set-cookie']};") == (204, True)


def test_events_are_streamed(shown: tuple[str, FastAPI]) -> None:
    base, _ = shown
    ask(base, "POST", "/api/v1/lineage", run_event())
    url = urlsplit(base)
    connection = http.client.HTTPConnection(url.hostname or "", url.port, timeout=60)
    connection.request("GET", f"{ROOT}/api/v1/stream", headers={"Last-Event-ID": "0"})
    answer = connection.getresponse()
    while not (line := answer.readline()).startswith(b"event:"):
        assert line, "the stream ended"
    assert line == b"event: run\n"
    connection.close()


@pytest.mark.parametrize("path", ["", "/", "/explore", "/runs"])
def test_the_page_loads_its_files_below_the_path(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shown: tuple[str, FastAPI]
) -> None:
    base, _ = shown
    if not (page.BUILT / "index.html").is_file():
        pytest.skip("not run: the page is not built: ./dev test builds it")
    text = ask(base, "GET", path)[2].decode()
    assert f'<meta name="headwater-root" content="{ROOT}/" />' in text
    assert f'src="{ROOT}/assets/index-' in text
    assert f'href="{ROOT}/mark.svg"' in text
    assert '"./' not in text
    asset = text.partition('src="')[2].partition('"')[0]
    assert ask(base.removesuffix(ROOT), "GET", asset)[0] == 200
    assert ask(base, "GET", "/mark.svg")[0] == 200


def test_without_a_path_nothing_changes(client: TestClient) -> None:
    assert "servers" not in client.get("/api/v1/openapi.json").json()
    assert client.get("/tools/lineage/api/v1/datasets").status_code == 404


def test_no_root_path_hides_a_route() -> None:
    begun = {path.split("/")[1] for path in [*document()["paths"], *page.ADDRESSES]}
    assert begun | {"assets", "mark.svg"} == OWN_SEGMENTS | {""}


@pytest.mark.parametrize(
    ("text", "path"),
    [("", ""), ("/", ""), ("/lineage", "/lineage"), ("/lineage/", "/lineage"), ("/a/b-c.d", "/a/b-c.d")],
)
def test_paths(text: str, path: str) -> None:
    assert parse_root_path(text) == path


@pytest.mark.parametrize(
    "text",
    ["lineage", "/a//b", "/a/../b", "/.", '/a"b', "/a b", "/<script>", "/a?b", "/ä", "https://x/a", "/api",
     "/runs/x",     "/assets", "/" + "a" * 300, "/a;b", "/a%2Fb", "/a\nb"],
)  # fmt: skip
def test_invalid_root_paths_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a path|starts with a path"):
        parse_root_path(text)
    answer = CliRunner().invoke(cli, ["serve", "--root-path", text])
    assert (answer.exit_code, "Traceback" in answer.output) == (2, False)


@given(st.binary(max_size=40))
def test_a_path_outside_is_unchanged(rest: bytes) -> None:
    assert without_root(b"/lineage/" + rest, b"/lineage") == b"/" + rest
    assert without_root(b"/lineageX" + rest, b"/lineage") == b"/lineageX" + rest
    assert without_root(b"/api/" + rest, b"/lineage") == b"/api/" + rest
    assert without_root(b"/" + rest, b"") == b"/" + rest
