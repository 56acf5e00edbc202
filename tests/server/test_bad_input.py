"""Families of invalid input: each gets its 4xx, or no response if it is not HTTP at all, and the server continues.

Bytes are sent unchanged over a socket: an HTTP client would correct half of them.
"""

from __future__ import annotations

import gzip
import json
import socket
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from headwater.server.app import http_protocol
from headwater.server.app.app import create_app
from headwater.server.app.settings import ServerSettings
from headwater.server.routes import live
from tests.server.running import in_this_process
from tests.support.events import run_event, used

LIMIT = 200_000
STREAMS = 3
EVENT = json.dumps(run_event(outputs=["x"])).encode()
POST = b"POST /api/v1/lineage HTTP/1.1\r\nHost: 127.0.0.1\r\n"
GET = b"GET /api/v1%s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
NOTHING = 0
"""The connection is closed without a word."""


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Like `headwater serve`, in this process and with short timeouts."""
    folder = tmp_path_factory.mktemp("served")
    settings = ServerSettings(limit_bytes=LIMIT, body_seconds=0.5, streams=STREAMS, workspace=str(folder))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(http_protocol, "_MAX_HEAD_SECONDS", 0.5)
        patch.setattr(live, "_KEEPALIVE_SECONDS", 0.2)
        app = create_app(f"sqlite:///{folder}/store.db", settings)
        with in_this_process(app) as port:
            yield port


def send(port: int, *pieces: bytes, pause: float = 0.0, close: bool = False) -> tuple[int, bytes]:
    """Returns the status and the whole response; 0 without a response."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        try:
            for piece in pieces:
                connection.sendall(piece)
                time.sleep(pause)
            if close:
                connection.shutdown(socket.SHUT_WR)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it has heard enough
        return _answer(connection)


def _answer(connection: socket.socket) -> tuple[int, bytes]:
    told = b""
    try:
        while b"\r\n\r\n" not in told and (piece := connection.recv(65536)):
            told += piece
        head, _, body = told.partition(b"\r\n\r\n")
        lengths = [line[15:] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        length = int(lengths[0]) if lengths else 0
        while len(body) < length and (piece := connection.recv(65536)):
            body += piece
            told += piece
    except ConnectionResetError:
        pass
    return (int(told[9:12]) if told.startswith(b"HTTP/1.1 ") else NOTHING), told


def posted(body: bytes, *headers: bytes, length: bytes | None = None) -> bytes:
    size = str(len(body)).encode() if length is None else length
    lines = b"".join(header + b"\r\n" for header in (b"Content-Length: " + size, *headers))
    return POST + lines + b"\r\n" + body


def chunked(body: bytes, *headers: bytes) -> bytes:
    pieces = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in _cut(body)) + b"0\r\n\r\n"
    return POST + b"Transfer-Encoding: chunked\r\n" + b"".join(h + b"\r\n" for h in headers) + b"\r\n" + pieces


def _cut(body: bytes) -> list[bytes]:
    return [body[start : start + 10_000] for start in range(0, len(body), 10_000)]


def changed(**members: object) -> bytes:
    return json.dumps({**json.loads(EVENT), **members}).encode()


def nested(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = {"a": value}
    return value


BOMB = zlib.compressobj(9, wbits=31)
BOMB_BYTES = BOMB.compress(b" " * 50_000_000) + BOMB.flush()
GZIP = b"Content-Encoding: gzip"

WRONG: list[dict[str, object]] = [
    {"eventTime": 5}, {"eventTime": "soon"}, {"run": []}, {"run": {"runId": 5}}, {"job": "j"}, {"inputs": {}},
    {"outputs": [None]}, {"eventType": "DONE"}, {"producer": None}, {"job": {"namespace": {}, "name": []}},
]  # fmt: skip

BODIES: dict[str, list[tuple[bytes, int]]] = {
    "huge, announced": [(posted(b"{", length=b"999999999999"), 413), (posted(b"{", length=b"9" * 18), 413)],
    "huge, sent": [(posted(b" " * (LIMIT + 1)), 413)],
    "huge, in chunks": [(chunked(b" " * (LIMIT + 1)), 413)],
    "zip bomb": [(posted(BOMB_BYTES, GZIP), 413), (chunked(BOMB_BYTES, GZIP), 413)],
    "zip bomb of members": [(posted(gzip.compress(b" " * 100_000) * 5, GZIP), 413)],
    "broken gzip": [
        (posted(gzip.compress(EVENT)[:-5], GZIP), 400), (posted(EVENT, GZIP), 400), (posted(b"", GZIP), 400),
        (posted(gzip.compress(EVENT) + b"rest", GZIP), 400),
    ],
    "unknown encodings": [
        (posted(EVENT, b"Content-Encoding: br"), 415), (posted(EVENT, b"Content-Encoding: gzip, gzip"), 415),
        (posted(EVENT, b"Content-Encoding: \xff"), 415),
    ],
    "deep": [
        (posted(b"[" * 90_000), 400), (posted(b'{"a":' * 20_000), 400), (posted(changed(run=nested(300))), 400),
    ],
    "no object": [(posted(body), 400) for body in (b"", b"[]", b"7", b"null", b'"x"', b"true", b"{", b"{}", b"}{")],
    "wrong types": [(posted(changed(**member)), 400) for member in WRONG],
    "no numbers": [
        (posted(EVENT[:-1] + b',"a":' + value + b"}"), 400)
        for value in (b"NaN", b"-Infinity", b"1e999", b"9" * 5000, b"01", b"0x1", b"1.")
    ],
    "wrong encoding": [
        (posted(EVENT[:-1] + b',"a":"\xff\xfe"}'), 400), (posted(EVENT.decode().encode("utf-16")), 400),
        (posted(EVENT.decode().encode("utf-32-le")), 400), (posted(EVENT[:-1] + b',"a":"\xc0\x80"}'), 400),
    ],
    "names no text can hold": [
        (posted(changed(job={"namespace": "n", "name": name})), 400) for name in ("\x00", "a\x00b", "\ud800", "\udfffx")
    ],
    "names in facets": [(posted(changed(outputs=[used("\x00")])), 400)],
    "broken JSON": [
        (posted(EVENT + b"x"), 400), (posted(EVENT[:-1]), 400), (posted(EVENT.replace(b'"', b"'")), 400),
        (posted(EVENT[:-1] + b',"a":"\n"}'), 400), (posted(b"/* */" + EVENT), 400),
    ],
}  # fmt: skip

HEADS: dict[str, list[tuple[bytes, int]]] = {
    "lengths": [
        (posted(EVENT, length=b"-1"), 400), (posted(EVENT, length=b"x"), 400), (posted(EVENT, length=b"1e3"), 400),
        (posted(EVENT, length=b"9" * 40), 400), (posted(EVENT, b"Content-Length: 3"), 400),
    ],
    "two ways to end a body": [
        (posted(EVENT, b"Transfer-Encoding: chunked"), 400),
        (POST + b"Transfer-Encoding: cow\r\n\r\n0\r\n\r\n", 400),
        (POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n" + b"f" * 40 + b"\r\n", 400),
    ],
    "a head too long": [
        (b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"a" * 100_000, 400),
        (b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"X: y\r\n" * 20_000, 400),
        (b"GET /" + b"a" * 100_000, 400),
    ],
    "broken headers": [
        (b"GET /api/v1/datasets HTTP/1.1\r\nHost: 127.0.0.1\r\n: x\r\n\r\n", 400),
        (b"GET /api/v1/datasets HTTP/1.1\r\nHost: 127.0.0.1\r\nA\x00: x\r\n\r\n", 400),
        (b"GET /api/v1/datasets HTTP/1.1\r\nHost: 127.0.0.1\r\nA : x\r\n\r\n", 400),
    ],
    "no HTTP": [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 50, 400), (b"\x00" * 100, 400),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400), (b"hello\r\n\r\n", 400), (b"GET / HTTP/9.9\r\n\r\n", 400),
    ],
    "methods": [
        (b"BREW /api/v1/datasets HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 400),
        (b"TRACE /api/v1/datasets HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 405),
        (b"DELETE /api/v1/datasets HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 405),
        (b"GET /api/v1/lineage/batch HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 405),
    ],
}  # fmt: skip

ADDRESSES: dict[str, list[tuple[bytes, int]]] = {
    "steps up": [
        (GET % path, 404)
        for path in (
            b"/../../etc/passwd", b"/%2e%2e/%2e%2e/etc/passwd", b"/datasets/%2e%2e%2f%2e%2e/passwd", b"/..%5c..%5cx",
            b"/tasks/..%2f..%2fx", b"/events/by-digest/..%2fx", b"//datasets", b"/datasets/", b"/%2fdatasets",
        )
    ],
    "not UTF-8": [
        (GET % path, 400) for path in (b"/datasets/%ff/x", b"/runs/%c0%ae", b"/%80", b"/datasets/a/%ed%a0%80")
    ],
    "not quite encoded": [
        (GET % path, 404) for path in (b"/runs/%", b"/runs/%zz", b"/runs/%u0041", b"/datasets/%00/x")
    ],
    "long names": [(GET % (b"/runs/" + b"a" * 30_000), 404), (GET % (b"/datasets/a/" + b"%2F" * 9_000), 404)],
    "parameters": [
        (GET % (b"/lineage/upstream?dataset=x&" + query), 422)
        for query in (
            b"depth=-1", b"depth=0", b"depth=x", b"depth=1e9", b"depth=99999999999999999999", b"limit=0",
            b"limit=99999", b"as_of=soon", b"as_of=9999-12-31T23:59:59-23:59", b"as_of=0001-01-01T00:00:00%2B23:59",
        )
    ],
    "parameters that ask for nothing": [
        (GET % path, 400)
        for path in (
            b"/datasets?cursor=%00", b"/runs?cursor=W10", b"/datasets?search=%00", b"/find?q=%00", b"/audit?actor=%00",
            b"/lineage?nodeId=x", b"/lineage?nodeId=dataset:%00:x", b"/events?cursor=-1",
        )
    ],
    "parameters that are missing": [
        (GET % path, 422) for path in (b"/lineage/upstream", b"/find", b"/lineage", b"/log/proof")
    ],
}  # fmt: skip

FAMILIES = {**BODIES, **HEADS, **ADDRESSES}


@pytest.mark.parametrize("family", FAMILIES)
def test_invalid_input_gets_its_4xx_and_the_server_continues(port: int, family: str) -> None:
    for request, expected in FAMILIES[family]:
        status, told = send(port, request)
        assert status == expected, (request[:200], told[:600])
        head, _, body = told.partition(b"\r\n\r\n")
        assert b"content-type: application/problem+json" in head
        problem = json.loads(body)
        assert problem["status"] == status
        assert problem["code"]
        assert b"Traceback" not in told
    assert_server_works(port)


def assert_server_works(port: int) -> None:
    assert send(port, b"GET /health/ready HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")[0] == 200
    assert send(port, posted(EVENT))[0] == 201


def test_a_slow_body(port: int) -> None:
    began = time.monotonic()
    status, told = send(port, posted(b"{", length=b"100"), b" ", b" ", pause=0.3)
    assert status == 408, told
    assert time.monotonic() - began < 5
    assert_server_works(port)


def test_a_slow_head(port: int) -> None:
    began = time.monotonic()
    assert send(port, b"GET / HTTP/1.1\r\n")[0] == NOTHING
    assert send(port, b"")[0] == NOTHING, "one that says nothing at all"
    assert send(port, b"GET / HT", b"T", b"P", pause=0.3)[0] == NOTHING
    assert time.monotonic() - began < 10
    assert_server_works(port)


def test_a_second_head_that_is_slow_or_long(port: int) -> None:
    good = b"GET /health/live HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(good)
        assert _answer(connection)[0] == 200
        connection.sendall(b"GET / HTTP/1.1\r\nX: " + b"a" * 100_000)
        assert _answer(connection)[0] == 400
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(good)
        assert _answer(connection)[0] == 200
        connection.sendall(b"GET / HTTP/1.1\r\n")
        assert _answer(connection) == (NOTHING, b"")
    assert_server_works(port)


STREAM = GET % b"/stream"


def to_its_end(connection: socket.socket) -> bytes:
    told = b""
    try:
        while piece := connection.recv(65536):
            told += piece
    except ConnectionResetError:
        pass
    return told


@pytest.mark.parametrize("second", [b"GET / HTTP/1.1\r\nX: " + b"a" * 600_000, b"GET / HTTP/1.1\r\n"])
def test_a_request_behind_an_endless_response(port: int, second: bytes) -> None:
    """It is not read while the stream continues: the connection is closed, and no response is mixed into it."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(STREAM)
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        with suppress(ConnectionError):
            connection.sendall(second)
        began = time.monotonic()
        assert b"HTTP/1.1" not in to_its_end(connection)
        assert time.monotonic() - began < 5
    assert_server_works(port)


def test_a_client_that_leaves_a_stream_with_pipelined_requests(port: int) -> None:
    """Nothing is read from the client while other requests wait: the server notices at the next event that it has
    left."""
    for _ in range(STREAMS):
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            connection.sendall(STREAM)
            assert connection.recv(65536).startswith(b"HTTP/1.1 200")
            connection.sendall(GET % b"/datasets")
            time.sleep(0.1)  # or it goes away before the second has come
    until = time.monotonic() + 10
    while send(port, STREAM)[0] != 200:
        assert time.monotonic() < until, "they still count"
        time.sleep(0.1)


def test_the_body_of_a_pipelined_request_is_not_a_head(port: int) -> None:
    body = EVENT + b" " * 150_000
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(GET % b"/datasets" + posted(body)[: -len(body)])
        assert _answer(connection)[0] == 200
        connection.sendall(body)
        assert _answer(connection)[0] == 201


def test_a_truncated_body(port: int) -> None:
    for request in (posted(EVENT, length=b"100000"), chunked(EVENT)[:-9]):
        status, _ = send(port, request, close=True)
        assert status in (NOTHING, 400, 408)
    assert_server_works(port)


def test_header_values_are_not_echoed(port: int) -> None:
    split = b"GET /health/live HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Request-ID: a%0d%0aSet-Cookie: x\r\n\r\n"
    _, told = send(port, split)
    assert b"set-cookie" not in told.lower().partition(b"\r\n\r\n")[0]


def test_a_body_of_nothing_but_small_events(port: int) -> None:
    body = b"[" + b",".join([b"{}"] * 20_000) + b"]"
    request = posted(body).replace(b"/lineage", b"/lineage/batch", 1)
    status, told = send(port, request)
    assert status == 200
    assert json.loads(told.partition(b"\r\n\r\n")[2])["summary"]["failed"] == 20_000


def test_memory_does_not_grow_with_the_input(port: int) -> None:
    before = _resident()
    for _ in range(20):
        send(port, posted(BOMB_BYTES, GZIP))
        send(port, posted(b"{", length=b"999999999999"), b" " * 1_000_000)
    assert _resident() - before < 100_000_000


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
