"""Authentication: keys, sessions, other sites, other hosts, rate limits. What each key may see and do is in the
matrix."""

from __future__ import annotations

import http.client
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from headwater.errors import BindRefused
from headwater.model.audit import Actor, AuditEntry
from headwater.server.access.bind_address import check_bind, is_loopback
from headwater.server.access.credentials import CSRF_HEADER
from headwater.server.access.rate_limits import RateLimiter
from headwater.server.access.refusals import RefusalLog
from headwater.server.app.app import create_app
from headwater.server.app.settings import ServerSettings
from headwater.store.store import Store
from tests.conftest import ROOT
from tests.server.api import LOCAL
from tests.server.running import ServerProcess
from tests.server.two_sided_store import OPEN, VAULT, build, run_id
from tests.support.events import run_event

SESSION = "/api/v1/session"
DATASETS = "/api/v1/datasets"
EVENTS = "/api/v1/lineage"
Serve = Callable[..., Any]


@pytest.fixture
def serve(served_url: str, tmp_path: Path) -> Serve:
    """A client of a server with some settings."""

    @contextmanager
    def serving(base_url: str = LOCAL, **settings: Any) -> Iterator[TestClient]:
        app = create_app(served_url, ServerSettings(workspace=str(tmp_path), **settings))
        with TestClient(app, base_url=base_url) as client:
            yield client

    return serving


def store_of(client: TestClient) -> Store:
    assert isinstance(client.app, FastAPI)
    store: Store = client.app.state.service.store
    return store


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


# -- where it listens -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        *((host, True) for host in ("127.0.0.1", "127.9.9.9", "localhost", "LOCALHOST", "::1", "[::1]", "a.localhost")),
        *((host, False) for host in ("0.0.0.0", "::", "", "10.0.0.1", "localhost.evil.example", "127.0.0.1.nip.io")),
        *((host, False) for host in ("evil-localhost", "0x7f.1", "127.1", "::ffff:10.0.0.1", "fe80::1")),
    ],
)
def test_which_addresses_are_local(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


def test_it_does_not_listen_on_other_addresses_without_a_valid_key(served_url: str) -> None:
    with Store(served_url) as store:
        check_bind(store, ServerSettings(host="127.0.0.1"))
        with pytest.raises(BindRefused, match=r"'0\.0\.0\.0' can be reached from other machines"):
            check_bind(store, ServerSettings(host="0.0.0.0"))
        store.access.add("page")
        check_bind(store, ServerSettings(host="0.0.0.0"))
        store.access.revoke("page")
        with pytest.raises(BindRefused):
            check_bind(store, ServerSettings(host="0.0.0.0"))


def test_the_command_does_not_listen_without_a_valid_key(served_url: str) -> None:
    answer = subprocess.run(
        [sys.executable, "-m", "headwater", "serve", "--store", served_url, "--host", "0.0.0.0", "--port", "0"],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert answer.returncode == 1
    assert "'0.0.0.0' can be reached from other machines, and the store has no valid access key" in answer.stderr


# -- keys -------------------------------------------------------------------------------------------------------------


def test_on_loopback_it_is_open_until_the_first_key(serve: Serve) -> None:
    with serve() as client:
        assert client.get(DATASETS).status_code == 200
        told = client.get(SESSION).json()
        assert (told["name"], told["namespaces"], told["key_required"]) == ("local", ["*"], False)
        for shown in ({"Authorization": "Bearer theirs"}, {"Cookie": "headwater_session=theirs"}):
            assert client.get(DATASETS, headers=shown).status_code == 200
        made = store_of(client).access.add("page")
        time.sleep(1.1)
        assert client.get(DATASETS).status_code == 401
        assert client.get(DATASETS, headers=bearer(made.secret)).status_code == 200
        store_of(client).access.revoke("page")
        time.sleep(1.1)
        assert client.get(DATASETS, headers=bearer(made.secret)).status_code == 401
        assert client.get(DATASETS).status_code == 401  # it does not open again when the last key is gone


def test_on_other_addresses_it_is_never_open(serve: Serve) -> None:
    with serve("http://lineage.example", host="0.0.0.0") as client:
        assert client.get(DATASETS).status_code == 401
        assert client.get("/health/live").status_code == 200
        assert client.get("/metrics").status_code == 401


@pytest.mark.parametrize("scheme", ["Bearer {}", "bearer {}", "BEARER   {}"])
def test_a_key_is_sent_as_a_bearer_token(serve: Serve, scheme: str) -> None:
    with serve() as client:
        made = store_of(client).access.add("page")
        assert client.get(DATASETS, headers={"Authorization": scheme.format(made.secret)}).status_code == 200


@pytest.mark.parametrize("header", ["{}", "Basic {}", "Bearer", "Bearer {}x", "Bearer x {}", "Token {}", ","])
def test_a_key_is_accepted_in_no_other_form(serve: Serve, header: str) -> None:
    with serve() as client:
        made = store_of(client).access.add("page")
        for asked in (header.format(made.secret), header):
            assert client.get(DATASETS, headers={"Authorization": asked}).status_code == 401
        assert client.get(DATASETS, params={"key": made.secret, "api_key": made.secret}).status_code == 401


def test_the_last_use_of_a_key_is_recorded(serve: Serve) -> None:
    with serve() as client:
        made = store_of(client).access.add("page")
        client.get(DATASETS, headers=bearer(made.secret))
        until = time.monotonic() + 10
        while store_of(client).access.keys()[0].last_used is None:
            assert time.monotonic() < until
            time.sleep(0.01)


def test_neither_responses_nor_logs_contain_a_key(served_url: str, tmp_path: Path) -> None:
    with Store(served_url) as store:
        secret = store.access.add("page").secret
    with ServerProcess(served_url, log=tmp_path / "server.log") as server:
        for header in (f"Bearer {secret}", f"Bearer {secret}x", f"Basic {secret}"):
            _, told = server.get(DATASETS, Authorization=header)
            assert secret not in str(told)
    assert secret.rpartition("_")[2] not in (tmp_path / "server.log").read_text()


# -- sessions ---------------------------------------------------------------------------------------------------------


def log_in(client: TestClient, **headers: str) -> str:
    """Returns the token for requests that change something."""
    made = store_of(client).access.add("page", scopes=["read", "write"])
    answer = client.post(SESSION, json={"key": made.secret}, headers=headers)
    assert answer.status_code == 200, answer.text
    assert answer.json()["name"] == f"page ({made.key.key_id})"
    return str(answer.json()["csrf_token"])


def test_the_life_of_a_session(serve: Serve) -> None:
    with serve() as client:
        token = log_in(client)
        assert client.get(DATASETS).status_code == 200
        told = client.get(SESSION).json()
        assert (told["scopes"], told["csrf_token"], told["key_required"]) == (["read", "write"], token, True)
        assert client.post(EVENTS, json=run_event(), headers={CSRF_HEADER: token}).status_code == 201
        cookie = client.cookies["headwater_session"]
        assert client.delete(SESSION, headers={CSRF_HEADER: token}).status_code == 204
        assert "headwater_session" not in client.cookies
        assert client.get(DATASETS, headers={"Cookie": f"headwater_session={cookie}"}).status_code == 401
        entries = [
            entry for entry in store_of(client).audit(limit=100) if entry.event_type.startswith("access.session")
        ]
        assert [(entry.event_type, entry.client_ip) for entry in entries] == [
            ("access.session_closed", "testclient"),
            ("access.session_opened", "testclient"),
        ]


def test_the_attributes_of_the_cookie(serve: Serve) -> None:
    with serve() as client:
        log_in(client)
        (cookie,) = client.cookies.jar
        assert not cookie.secure  # loopback has no TLS
        made = store_of(client).access.add("x")
        set_cookie = client.post(SESSION, json={"key": made.secret}).headers["set-cookie"]
        assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(set_cookie.split("; "))
        behind_tls = {"Origin": "https://127.0.0.1", "Sec-Fetch-Site": "same-origin"}
        assert "Secure" in client.post(SESSION, json={"key": made.secret}, headers=behind_tls).headers["set-cookie"]
    with serve("https://lineage.example", host="0.0.0.0") as client:
        log_in(client)
        (cookie,) = client.cookies.jar
        assert (cookie.name, cookie.secure, cookie.domain_specified) == ("__Host-headwater_session", True, False)
        assert client.get(DATASETS).status_code == 200


def test_a_session_ends_with_its_key(serve: Serve) -> None:
    with serve() as client:
        log_in(client)
        store_of(client).access.revoke("page")
        time.sleep(1.1)
        assert client.get(DATASETS).status_code == 401


def test_changes_need_the_token(serve: Serve) -> None:
    with serve() as client:
        token = log_in(client)
        for headers in ({}, {CSRF_HEADER: ""}, {CSRF_HEADER: token[:-1]}, {CSRF_HEADER: token.upper()}):
            written = client.post(EVENTS, json=run_event(), headers=headers)
            for refused in (written, client.delete(SESSION, headers=headers)):
                assert (refused.status_code, refused.json()["code"]) == (403, "origin_refused")
        assert client.post(EVENTS, json=run_event(), headers={CSRF_HEADER: token}).status_code == 201


OTHER_PAGES = [
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:9999"},
    {"Origin": "http://127.0.0.1.evil.example"},
    {"Origin": ""},
    {"Sec-Fetch-Site": "same-origin", "Origin": "http://evil.example"},
]
OWN_PAGES = [{}, {"Sec-Fetch-Site": "same-origin", "Origin": LOCAL}, {"Sec-Fetch-Site": "none"}, {"Origin": LOCAL}]


@pytest.mark.parametrize("headers", OTHER_PAGES, ids=str)
def test_a_page_of_another_site_has_no_session(serve: Serve, headers: dict[str, str]) -> None:
    with serve() as client:
        token = log_in(client)
        made = store_of(client).access.add("x")
        assert client.get(DATASETS, headers=headers).json()["code"] == "origin_refused"
        assert client.post(EVENTS, json=run_event(), headers={**headers, CSRF_HEADER: token}).status_code == 403
        assert client.post(SESSION, json={"key": made.secret}, headers=headers).status_code == 403
        # Whoever has a key needs no page: a browser never sends that by itself.
        assert client.get(DATASETS, headers={**headers, **bearer(made.secret)}).status_code == 200


@pytest.mark.parametrize("headers", OWN_PAGES, ids=str)
def test_its_own_page_has_a_session(serve: Serve, headers: dict[str, str]) -> None:
    with serve() as client:
        token = log_in(client, **headers)
        assert client.get(DATASETS, headers=headers).status_code == 200
        assert client.post(EVENTS, json=run_event(), headers={**headers, CSRF_HEADER: token}).status_code == 201


@pytest.mark.parametrize("headers", OTHER_PAGES, ids=str)
def test_a_page_of_another_site_cannot_use_an_open_server(serve: Serve, headers: dict[str, str]) -> None:
    """Any page can make a browser send requests to 127.0.0.1."""
    with serve() as client:
        assert client.post(EVENTS, json=run_event(), headers=headers).status_code == 403
        assert client.get(DATASETS, headers=headers).status_code == 403
        assert store_of(client).audit() == []


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8321", "127.0.0.1.evil.example", "10.0.0.1", "0.0.0.0"])
def test_dns_rebinding_is_refused(serve: Serve, host: str) -> None:
    """The page controls its own DNS; for the browser it is then the same origin."""
    with serve() as client:
        assert client.get(DATASETS, headers={"Host": host, "Sec-Fetch-Site": "same-origin"}).status_code == 403
        for own in ("localhost", "localhost:8321", "127.0.0.1:1", "[::1]:8321"):
            assert client.get(DATASETS, headers={"Host": own}).status_code == 200


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 422), (b"{", 422), (b"[]", 422), (b"null", 422), (b'{"key": 1}', 422), (b"\xff", 422), (b"[" * 1900, 422),
        (b'{"key": ""}', 401), (b'{"key": "hw_x_y"}', 401), (b'{"key": "\\u0000"}', 401), (b'{"key": "\\ud800"}', 401),
        (b" " * 3000, 413),
    ],
)  # fmt: skip
def test_an_invalid_key_opens_no_session(serve: Serve, body: bytes, status: int) -> None:
    with serve() as client:
        store_of(client).access.add("page")
        assert client.post(SESSION, content=body).status_code == status
        assert not client.cookies


# -- streams ----------------------------------------------------------------------------------------------------------


def test_a_stream_has_visible_events_only_and_ends_with_its_key(served_url: str, tmp_path: Path) -> None:
    build(served_url, tmp_path)
    with Store(served_url) as store, ServerProcess(served_url, log=tmp_path / "server.log") as server:
        made = store.access.add("listening", namespaces=[OPEN])
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
        connection.request("GET", "/api/v1/stream", headers={**bearer(made.secret), "Last-Event-ID": "0"})
        answer = connection.getresponse()
        assert answer.status == 200
        told = b"".join(answer.readline() for _ in range(14))
        assert run_id(OPEN, "mixed").encode() in told
        store.access.revoke("listening")
        told += answer.read()  # to its end
        connection.close()
    assert VAULT.encode() not in told
    assert run_id(VAULT).encode() not in told


# -- how often --------------------------------------------------------------------------------------------------------


def test_the_token_bucket() -> None:
    now = [0.0]
    rates = RateLimiter(2.0, 3.0, lambda: now[0])
    assert [rates.wait("a") for _ in range(4)] == [0, 0, 0, 0.5]
    assert rates.wait("b") == 0
    now[0] = 0.5
    assert [rates.wait("a"), rates.wait("a")] == [0, 0.5]
    now[0] = 100
    assert [rates.wait("a") for _ in range(4)] == [0, 0, 0, 0.5]
    for number in range(20_000):
        rates.wait(str(number))
    assert len(rates._buckets) <= 10_000


def test_each_key_has_its_own_rate(serve: Serve) -> None:
    with serve(requests_per_second=0.5, requests_at_once=3) as client:
        one, other = (store_of(client).access.add(name) for name in ("one", "other"))
        answers = [client.get(DATASETS, headers=bearer(one.secret)) for _ in range(5)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
        assert answers[-1].headers["retry-after"] == "2"
        assert answers[-1].json()["code"] == "rate_exceeded"
        assert client.get(DATASETS, headers=bearer(other.secret)).status_code == 200
        assert client.get("/health/live").status_code == 200


def test_only_the_client_with_invalid_keys_is_slowed_down(serve: Serve) -> None:
    with serve() as client:
        assert isinstance(client.app, FastAPI)
        guesses: RateLimiter = client.app.state.authenticator._failures
        guesses._clock = lambda: 0.0  # however slow the machine is, all of this happens in one moment
        made = store_of(client).access.add("page")
        codes = [client.get(DATASETS, headers=bearer(f"{made.secret[:-1]}{n % 10}x")).status_code for n in range(30)]
        assert codes[:20] == [401] * 20
        assert codes[-1] == 429
        assert client.post(SESSION, json={"key": "hw_x_y"}).status_code == 429
        assert client.get(DATASETS, headers=bearer(made.secret)).status_code == 200
        assert client.post(SESSION, json={"key": made.secret}).status_code == 200


def test_recording_the_use_of_a_key_waits_for_no_writer(serve: Serve) -> None:
    with serve() as client:
        made = store_of(client).access.add("page")
        with store_of(client)._database.write():
            began = time.monotonic()
            assert client.get(DATASETS, headers=bearer(made.secret)).status_code == 200
            assert time.monotonic() < began + 30


# -- what is refused, and what is read, is written down ---------------------------------------------------------------


def audit_entries(store: Store, event_type: str, least: int) -> list[AuditEntry]:
    """Oldest first. Another thread writes the refusals."""
    until = time.monotonic() + 10
    while len(found := store.audit(event_type=event_type)) < least and time.monotonic() < until:
        time.sleep(0.01)
    return found[::-1]


def test_refusals_are_audited_and_a_flood_is_counted(serve: Serve, served_url: str) -> None:
    with serve() as client:
        made = store_of(client).access.add("page")
        assert client.get(DATASETS).status_code == 401  # shows nothing, so guesses nothing
        for number in range(25):  # the last of them are too many in any case
            client.get(DATASETS, headers={**bearer(f"{made.secret}{number}"), "User-Agent": "guess"})
        client.post(SESSION, json={"key": "hw_x_y"})
        (first,) = audit_entries(store_of(client), "access.refused", 1)
        assert (first.actor_id, first.actor_type, first.client_ip) == ("unknown", "anonymous", "testclient")
        assert (first.user_agent, first.details) == ("guess", {"count": 1})
        assert first.correlation_id is not None
    with Store(served_url) as store:
        first, rest = audit_entries(store, "access.refused", 2)
        assert rest.details == {"count": 25}
        assert made.secret not in str([first, rest])


def test_refusals_a_minute_are_bounded() -> None:
    now = [0.0]
    refusals = RefusalLog(lambda: now[0])

    def heard(address: str) -> list[tuple[str | None, str]]:
        told = refusals.add(Actor("unknown", "anonymous", client_ip=address))
        return [(who.client_ip, str(deed.details)) for who, deed in told]

    assert heard("a") == [("a", '{"count":1}')]
    assert [heard("a") for _ in range(1000)] == [[]] * 1000
    assert heard("b") == [("b", '{"count":1}')]
    now[0] = 61.0
    assert heard("a") == [("a", '{"count":1000}')], "and this one counts for the next minute"
    now[0] = 122.0
    assert heard("c") == [("a", '{"count":1}'), ("c", '{"count":1}')]
    many = [entry for number in range(5000) for entry in heard(f"10.0.{number}")]
    assert len(many) == 99
    assert many[-1] == (None, '{"count":1}'), "the rest share one"
    assert len(refusals.flush()) == 1


def test_exports_of_all_events_are_audited(serve: Serve) -> None:
    with serve() as client:
        made = store_of(client).access.add("backup")
        assert client.get("/api/v1/export", headers={**bearer(made.secret), "User-Agent": "curl"}).status_code == 200
        (entry,) = store_of(client).audit(event_type="export.read")
        assert (entry.actor_id, entry.actor_type) == (f"backup ({made.key.key_id})", "key")
        assert (entry.client_ip, entry.user_agent, entry.details) == ("testclient", "curl", {"format": "openlineage"})


# -- proxies ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "header", ["Forwarded", "X-Forwarded-For", "x-forwarded-proto", "X-Forwarded-Host", "X-Forwarded-By", "X-Real-IP"]
)
def test_without_keys_requests_through_a_proxy_are_refused(serve: Serve, header: str) -> None:
    """Every client of the proxy would seem local."""
    with serve() as client:
        answer = client.get(DATASETS, headers={header: "10.1.2.3"})
        assert (answer.status_code, answer.json()["code"]) == (403, "proxy_refused")
        assert header.lower() in answer.json()["detail"]
        assert "headwater access add" in answer.json()["detail"]
        assert client.get("/health/live", headers={header: "10.1.2.3"}).status_code == 200
        made = store_of(client).access.add("page")
        time.sleep(1.1)
        assert client.get(DATASETS, headers={header: "10.1.2.3", **bearer(made.secret)}).status_code == 200


# -- headers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [DATASETS, SESSION, "/", "/health/live", "/metrics", "/nowhere", "/api/v1/nowhere"])
def test_every_answer_has_the_security_headers(serve: Serve, path: str) -> None:
    with serve() as client:
        store_of(client).access.add("page")
        answer = client.get(path)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in answer.headers
        if path.startswith("/api/"):
            assert answer.headers["cache-control"] == "no-store"
