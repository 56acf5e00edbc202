"""Proxies: which address counts, and that no header of a client changes it or makes a request fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from hypothesis import example, given
from hypothesis import strategies as st
from starlette.datastructures import Headers
from typer.testing import CliRunner

from headwater.cli.app import app as cli
from headwater.server.access.proxies import TrustedProxies, parse_address
from headwater.server.access.refusals import REFUSED
from headwater.server.app.app import create_app
from headwater.server.app.settings import ServerSettings, settings_from_environment
from headwater.store.store import Store

PROXIES = TrustedProxies(["10.0.0.0/8", "2001:db8:1::/48"])
PROXY, OTHER_PROXY, CLIENT = "10.0.0.1", "2001:db8:1::9", "203.0.113.7"

trusted = st.sampled_from(["10.0.0.1", "10.0.0.2", "10.255.255.255", "2001:db8:1::9", "2001:db8:1:ffff::1"])
clients = st.sampled_from(["203.0.113.7", "9.255.255.255", "11.0.0.0", "127.0.0.1", "2001:db8:2::1", "::1"])
latin = st.text(st.sampled_from([chr(number) for number in range(1, 256)]), max_size=30)
junk = st.one_of(
    latin, st.sampled_from(['for="', 'for=1.1.1.1;x="', "unknown", '\\"', ",,,", "[", "1.1.1.1%eth0", ";=,"])
)


def headers(*pairs: tuple[str, str]) -> Headers:
    return Headers(raw=[(name.encode(), value.encode("latin-1")) for name, value in pairs])


def shown(address: str, port: bool, forwarded: bool) -> str:
    """The address as a proxy writes it."""
    text = f"[{address}]" if ":" in address and (port or forwarded) else address
    text = f"{text}:4711" if port else text
    if forwarded:
        return f'for="{text}";proto=https' if not text.replace(".", "").isdigit() else f"for={text};proto=https"
    return text


@given(
    client=clients, chain=st.lists(trusted, max_size=4), peer=trusted, before=st.lists(junk, max_size=3),
    port=st.booleans(), name=st.sampled_from(["x-forwarded-for", "forwarded"]), lines=st.booleans(),
)  # fmt: skip
@example(client=CLIENT, chain=[], peer=PROXY, before=["6.6.6.6"], port=False, name="x-forwarded-for", lines=False)
def test_the_client_is_the_peer_of_the_last_trusted_proxy(
    client: str, chain: list[str], peer: str, before: list[str], port: bool, name: str, lines: bool
) -> None:
    """``before`` is what the client sent itself. In `Forwarded` an open quote swallows the rest: then the client is
    the proxy, and never what the client wrote."""
    values = [*before, *(shown(hop, port, name == "forwarded") for hop in [client, *chain])]
    pairs = [(name, value) for value in values] if lines else [(name, ", ".join(values))]
    found, scheme = PROXIES.resolve(peer, headers(*pairs))
    if name == "forwarded" and any('"' in value or "\\" in value for value in before):
        assert found in {client, peer, *chain}
    else:
        assert found == client
        assert scheme == ("https" if name == "forwarded" else None)


@given(
    peer=st.one_of(trusted, clients, latin),
    sent=st.lists(
        st.tuples(st.sampled_from(["x-forwarded-for", "forwarded", "x-forwarded-proto", "x-real-ip"]), junk | clients),
        max_size=5,
    ),
)  # fmt: skip
def test_no_header_makes_a_request_fail(peer: str, sent: list[tuple[str, str]]) -> None:
    found, scheme = PROXIES.resolve(peer, headers(*sent))
    assert found == peer or parse_address(found) is not None
    assert scheme in (None, "http", "https")


@given(peer=clients, claimed=clients)
def test_headers_of_untrusted_peers_do_not_count(peer: str, claimed: str) -> None:
    sent = headers(("x-forwarded-for", claimed), ("forwarded", f'for="{claimed}"'), ("x-forwarded-proto", "https"))
    assert PROXIES.resolve(peer, sent) == (peer, None)


@pytest.mark.parametrize(
    ("sent", "client"),
    [
        ([("x-forwarded-for", f"6.6.6.6, {CLIENT}")], CLIENT),
        ([("x-forwarded-for", f"6.6.6.6, {CLIENT}, {OTHER_PROXY}, 10.9.9.9")], CLIENT),
        ([("x-forwarded-for", f"::ffff:{CLIENT}")], CLIENT),
        ([("x-forwarded-for", f"{CLIENT}, unknown")], PROXY),
        ([("x-forwarded-for", f"{CLIENT}, , {OTHER_PROXY}")], OTHER_PROXY),
        ([("x-forwarded-for", "10.1.1.1, 10.2.2.2")], "10.1.1.1"),
        ([("x-forwarded-for", ",".join(["6.6.6.6"] + ["10.1.1.1"] * 60))], "10.1.1.1"),
        ([("forwarded", f'for=6.6.6.6, For="{CLIENT}:99";proto=https;by=10.0.0.1')], CLIENT),
        ([("forwarded", f'for=6.6.6.6;x=", for={CLIENT}')], PROXY),
        ([("forwarded", "for=_hidden")], PROXY),
        ([("forwarded", f"for={CLIENT};for=6.6.6.6")], PROXY),
        # The proxy writes one of the two headers; the other is as the client sent it.
        ([("x-forwarded-for", CLIENT), ("forwarded", "for=6.6.6.6")], PROXY),
        ([("x-forwarded-for", CLIENT), ("forwarded", f"for={CLIENT}")], CLIENT),
    ],
)
def test_chains(sent: list[tuple[str, str]], client: str) -> None:
    assert PROXIES.resolve(PROXY, headers(*sent))[0] == client


@pytest.mark.parametrize(
    ("addresses", "schemes", "scheme"),
    [
        (CLIENT, "https", "https"),
        (f"{CLIENT}, {OTHER_PROXY}", "https, http", "https"),
        (f"{CLIENT}, {OTHER_PROXY}", "https", "https"),
        (f"6.6.6.6, {CLIENT}", "https, http", "http"),
        (CLIENT, "gopher", None),
        (CLIENT, "", None),
    ],
)
def test_schemes(addresses: str, schemes: str, scheme: str | None) -> None:
    sent = headers(("x-forwarded-for", addresses), ("x-forwarded-proto", schemes))
    assert PROXIES.resolve(PROXY, sent)[1] == scheme


# -- the server -------------------------------------------------------------------------------------------------------

Serve = Callable[..., Any]


@pytest.fixture
def serve(served_url: str, tmp_path: Path) -> Serve:
    @contextmanager
    def serving(peer: str, **settings: Any) -> Iterator[TestClient]:
        app = create_app(served_url, ServerSettings(workspace=str(tmp_path), **settings))
        with TestClient(app, base_url="http://127.0.0.1", client=(peer, 5000)) as client:
            yield client

    return serving


def store_of(client: TestClient) -> Store:
    assert isinstance(client.app, FastAPI)
    store: Store = client.app.state.service.store
    return store


@pytest.mark.parametrize(("networks", "address"), [(("10.0.0.0/8",), CLIENT), ((), PROXY), (("10.0.0.2",), PROXY)])
def test_the_audit_log_names_the_client(serve: Serve, networks: tuple[str, ...], address: str) -> None:
    with serve(PROXY, trusted_proxies=networks) as client:
        made = store_of(client).access.add("page")
        login = client.post("/api/v1/session", json={"key": made.secret}, headers={"X-Forwarded-For": CLIENT})
        assert login.status_code == 200
        [entry] = store_of(client).audit(event_type="access.session_opened")
        assert entry.client_ip == address


def test_invalid_keys_of_one_client_lock_out_no_other(serve: Serve, served_url: str) -> None:
    with serve(PROXY, trusted_proxies=("10.0.0.0/8",)) as client:
        store_of(client).access.add("page")

        def ask(address: str) -> int:
            sent = {"Authorization": "Bearer hw_no_key", "X-Forwarded-For": f"6.6.6.6, {address}"}
            return int(client.get("/api/v1/datasets", headers=sent).status_code)

        answers = [ask(CLIENT) for _ in range(40)]
        assert (answers[0], answers[-1]) == (401, 429)
        assert ask("203.0.113.8") == 401
    with Store(served_url) as store:  # the server has ended: all is written
        assert {entry.client_ip for entry in store.audit(event_type=REFUSED)} == {CLIENT, "203.0.113.8"}


@pytest.mark.parametrize(("proto", "secure"), [("https", True), ("http", False), ("\xff", False), (None, False)])
def test_the_cookie_is_secure_if_the_browser_used_tls(serve: Serve, proto: str | None, secure: bool) -> None:
    with serve(PROXY, trusted_proxies=("10.0.0.0/8",)) as client:
        made = store_of(client).access.add("page")
        sent = {"X-Forwarded-For": CLIENT} | ({} if proto is None else {"X-Forwarded-Proto": proto})
        encoded = {name: value.encode("latin-1") for name, value in sent.items()}
        answer = client.post("/api/v1/session", json={"key": made.secret}, headers=encoded)
        assert ("Secure" in answer.headers["set-cookie"]) is secure


def test_without_keys_a_trusted_proxy_opens_nothing(serve: Serve) -> None:
    with serve(PROXY, trusted_proxies=("10.0.0.0/8",)) as client:
        answer = client.get("/api/v1/datasets", headers={"X-Forwarded-For": "127.0.0.1"})
        assert (answer.status_code, answer.json()["code"]) == (403, "proxy_refused")


@pytest.mark.parametrize("wrong", ["10.0.0.1/8", "0.0.0.0/0", "::/0", "proxy.example", ""])
def test_an_invalid_proxy_address_is_refused(wrong: str) -> None:
    answer = CliRunner().invoke(cli, ["serve", "--trusted-proxy", "10.0.0.7", "--trusted-proxy", wrong])
    assert answer.exit_code == 2
    assert "Traceback" not in answer.output


def test_worker_processes_know_the_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = ServerSettings(trusted_proxies=("10.0.0.0/8", "::1"))
    for name, value in settings.as_environment("sqlite://").items():
        monkeypatch.setenv(name, value)
    assert settings_from_environment() == ("sqlite://", settings)
