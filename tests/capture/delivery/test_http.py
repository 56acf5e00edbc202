"""An OpenLineage endpoint over a real socket: what it is sent, and all the ways in which it does not take it."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from threading import Event

import pytest

from headwater.capture.delivery import SinkDown, SinkRefused, sink_for
from headwater.capture.delivery.http import _retry_after
from tests.capture.delivery.conftest import Deliver
from tests.capture.delivery.endpoint import Answer, Endpoint
from tests.capture.delivery.watching import numbered, numbers, soon


def body(number: int = 0) -> bytes:
    return json.dumps(numbered(number)).encode()


def test_what_is_sent(endpoint: Endpoint, deliver: Deliver) -> None:
    delivery = deliver(sink_for(endpoint.url, api_key="key-123"))
    event = numbered(1, size=2000)
    delivery.send(event)
    assert delivery.flush(60)
    (request,) = endpoint.requests
    assert request.path == "/api/v1/lineage"
    assert request.headers["Authorization"] == "Bearer key-123"
    assert request.headers["Content-Type"] == "application/json"
    assert request.headers["Content-Encoding"] == "gzip"
    assert len(request.raw) < 1000
    assert json.loads(request.event) == event


def test_one_connection_serves_many_events(endpoint: Endpoint, deliver: Deliver) -> None:
    endpoint.always = Answer(200, body=b'{"ok": true}')
    delivery = deliver(sink_for(endpoint.url))
    for number in range(50):
        delivery.send(numbered(number))
    assert delivery.flush(60)
    assert numbers(endpoint.taken) == list(range(50))
    assert endpoint.connections == 1


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("", "/api/v1/lineage"),
        ("/", "/api/v1/lineage"),
        ("/marquez", "/marquez/api/v1/lineage"),
        ("/api/v1/lineage", "/api/v1/lineage"),
        ("/api/v1/lineage/", "/api/v1/lineage"),
        ("/events/lineage?team=a", "/events/lineage?team=a"),
    ],
)
def test_where_it_is_sent(endpoint: Endpoint, address: str, path: str) -> None:
    sink_for(endpoint.url + address).deliver([body()])
    assert [request.path for request in endpoint.requests] == [path]


def test_without_a_key_and_without_gzip(endpoint: Endpoint) -> None:
    sink_for(endpoint.url, gzip=False).deliver([body()])
    (request,) = endpoint.requests
    assert request.headers["Authorization"] is None
    assert request.headers["Content-Encoding"] is None
    assert request.raw == body()


def test_the_key_wins_over_netrc(endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password else\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    sink_for(endpoint.url, api_key="key").deliver([body()])
    assert endpoint.requests[0].headers["Authorization"] == "Bearer key"


def test_secrets_are_not_part_of_the_name() -> None:
    sink = sink_for("http://user:hunter2@127.0.0.1:9/?token=hunter2", api_key="hunter2")
    assert sink.name == "http://127.0.0.1:9/api/v1/lineage"
    with pytest.raises(SinkDown) as down:
        sink.deliver([body()])
    assert "hunter2" not in str(down.value)


def test_a_server_that_knows_no_gzip(endpoint: Endpoint, deliver: Deliver, warnings: list[str]) -> None:
    endpoint.understands_gzip = False
    delivery = deliver(sink_for(endpoint.url))
    for number in range(3):
        delivery.send(numbered(number))
    assert delivery.flush(60)
    assert numbers(endpoint.taken) == [0, 1, 2]
    assert len(endpoint.requests) == 4, "it is found out once"
    assert warnings == []


@pytest.mark.parametrize("status", [400, 409, 413, 422])
def test_refused(endpoint: Endpoint, status: int) -> None:
    endpoint.always = Answer(status, body=b"no such\nthing")
    with pytest.raises(SinkRefused, match=rf"^{status} [\w ]+: no such\\nthing$"):
        sink_for(endpoint.url).deliver([body()])


@pytest.mark.parametrize("status", [300, 302, 304, 401, 403, 404, 408, 429, 500, 502, 503, 504])
def test_not_now(endpoint: Endpoint, status: int) -> None:
    endpoint.always = Answer(status, {"Location": "http://127.0.0.1:1/elsewhere"} if status == 302 else None)
    with pytest.raises(SinkDown, match=str(status)) as down:
        sink_for(endpoint.url).deliver([body()])
    assert ("elsewhere" in str(down.value)) == (status == 302)
    assert down.value.retry_after is None


def test_nobody_listens() -> None:
    with pytest.raises(SinkDown, match=r"^Connection refused$"):
        sink_for(Endpoint().url).deliver([body()])


def test_no_answer_in_time(endpoint: Endpoint) -> None:
    endpoint.always = Answer(after=Event())
    began = time.monotonic()
    with pytest.raises(SinkDown, match=r"no answer within 0\.2 s"):
        sink_for(endpoint.url, timeout=0.2).deliver([body()])
    assert time.monotonic() - began < 15  # the server itself gives up after 20 s
    assert endpoint.always.after is not None
    endpoint.always.after.set()


def test_a_connection_that_breaks_before_the_answer(endpoint: Endpoint, deliver: Deliver, warnings: list[str]) -> None:
    endpoint.plan.append(Answer(breaks="before"))
    delivery = deliver(sink_for(endpoint.url))
    delivery.send(numbered(0))
    delivery.send(numbered(1))
    assert delivery.flush(60)
    assert numbers(endpoint.taken) == [0, 1]
    assert len(endpoint.requests) == 3
    assert [warning.split(" ", 1)[1][:17] for warning in warnings] == ["takes no events (", "takes events agai"]


def test_a_connection_that_breaks_within_the_answer(endpoint: Endpoint, deliver: Deliver, warnings: list[str]) -> None:
    """The status was there: the server has the event and must not get it again."""
    endpoint.plan.append(Answer(200, body=b"{", breaks="within"))
    delivery = deliver(sink_for(endpoint.url))
    delivery.send(numbered(0))
    delivery.send(numbered(1))
    assert delivery.flush(60)
    assert numbers(endpoint.taken) == [0, 1]
    assert len(endpoint.requests) == 2
    assert warnings == []


def test_errors_then_fine(endpoint: Endpoint, deliver: Deliver, warnings: list[str]) -> None:
    endpoint.plan += [Answer(500), Answer(503), Answer(408)]
    delivery = deliver(sink_for(endpoint.url))
    for number in range(5):
        delivery.send(numbered(number))
    assert delivery.flush(60)
    assert numbers(endpoint.taken) == list(range(5))
    assert len(warnings) == 2, warnings
    assert "500 Internal Server Error" in warnings[0]


def test_too_many_requests(endpoint: Endpoint, deliver: Deliver) -> None:
    """A flush tries at once, but not against the server's own word."""
    endpoint.plan.append(Answer(429, {"Retry-After": "1"}))
    delivery = deliver(sink_for(endpoint.url))
    delivery.send(numbered(0))
    soon(lambda: len(endpoint.requests) == 1)
    began = time.monotonic()
    assert not delivery.flush(0.3)
    assert len(endpoint.requests) == 1
    assert delivery.flush(60)
    assert time.monotonic() - began > 0.8
    assert numbers(endpoint.taken) == [0]


def test_a_server_that_says_at_once_is_not_hammered(endpoint: Endpoint, deliver: Deliver) -> None:
    endpoint.always = Answer(503, {"Retry-After": "0"})
    delivery = deliver(sink_for(endpoint.url))
    delivery.send(numbered(0))
    time.sleep(0.7)
    assert 1 <= len(endpoint.requests) <= 4


def test_retry_after_in_both_forms() -> None:
    assert _retry_after(None) is None
    assert _retry_after("soon") is None
    assert _retry_after("7") == 7
    assert _retry_after("-7") == 0
    assert _retry_after("86400") == 300
    in_a_minute = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    assert 55 < (_retry_after(in_a_minute) or 0) <= 60
    assert _retry_after("Sun, 06 Nov 1994 08:49:37 -0000") == 0


def test_down_at_the_start_and_back_later(deliver: Deliver, warnings: list[str]) -> None:
    endpoint = Endpoint()
    delivery = deliver(sink_for(endpoint.url))
    for number in range(10):
        delivery.send(numbered(number))
    assert not delivery.flush(0.3)
    with endpoint:
        assert delivery.flush(60)
        assert numbers(endpoint.taken) == list(range(10))
    delivery.send(numbered(10))
    assert not delivery.flush(0.3)
    with endpoint:
        assert delivery.flush(60)
        assert numbers(endpoint.taken) == list(range(11))
    assert [("takes no events (Connection" in w, "again" in w) for w in warnings] == [(True, False), (False, True)] * 2


def test_a_slow_server_holds_up_nobody_but_itself(endpoint: Endpoint, deliver: Deliver, tmp_path: Path) -> None:
    gate = Event()
    endpoint.always = Answer(after=gate)
    file = tmp_path / "events.jsonl"
    delivery = deliver(sink_for(endpoint.url), sink_for(file.as_uri()))
    began = time.monotonic()
    for number in range(100):
        delivery.send(numbered(number))
    assert time.monotonic() - began < 15  # the server itself gives up after 20 s
    soon(lambda: file.exists() and len(file.read_bytes().splitlines()) == 100)
    gate.set()
    assert delivery.flush(60)
    assert numbers(endpoint.taken) == list(range(100))
