"""An HTTP server that behaves as it is told, on a real socket."""

from __future__ import annotations

import gzip
import socket
import struct
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from types import TracebackType
from typing import ClassVar, Self


@dataclass(frozen=True)
class Request:
    path: str
    headers: Message
    raw: bytes

    @property
    def event(self) -> bytes:
        return gzip.decompress(self.raw) if self.headers["Content-Encoding"] == "gzip" else self.raw


@dataclass(frozen=True)
class Answer:
    status: int = 201
    headers: Mapping[str, str] | None = None
    body: bytes = b""
    breaks: str = ""
    """`before` anything is answered, or `within` the body: the connection is reset."""
    after: Event | None = None
    """Not answered until this is set."""


class Endpoint:
    """Answers as planned, then with 201. Keeps its port over stop and start."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.taken: list[bytes] = []
        self.plan: deque[Answer] = deque()
        self.always: Answer = Answer()
        self.understands_gzip = True
        self.connections = 0
        self.open: set[socket.socket] = set()
        self._server: ThreadingHTTPServer | None = None
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        endpoint = self

        class Handler(_Handler):
            owner = endpoint

        self._server = _Server(("127.0.0.1", self.port), Handler)
        Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None
            for connection in list(self.open):  # the ones that are kept for the next request
                connection.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Broken connections are what we are here for."""


class _Handler(BaseHTTPRequestHandler):
    owner: ClassVar[Endpoint]
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self) -> None:
        super().setup()
        self.owner.connections += 1
        self.owner.open.add(self.connection)

    def finish(self) -> None:
        self.owner.open.discard(self.connection)
        super().finish()

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        raw = self.rfile.read(length)
        if len(raw) < length:  # whoever sent it is dead
            self.close_connection = True
            return
        request = Request(self.path, self.headers, raw)
        self.owner.requests.append(request)
        answer = self.owner.plan.popleft() if self.owner.plan else self.owner.always
        if request.headers["Content-Encoding"] == "gzip" and not self.owner.understands_gzip:
            answer = Answer(400, body=b"not JSON")
        if answer.after is not None:
            answer.after.wait(20)
        if answer.breaks == "before":
            self._reset()
            return
        if 200 <= answer.status < 300:
            self.owner.taken.append(request.event)
        self.send_response(answer.status)
        for name, value in (answer.headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body) + (100 if answer.breaks else 0)))
        self.end_headers()
        self.wfile.write(answer.body)
        if answer.breaks:
            self._reset()

    def _reset(self) -> None:
        self.wfile.flush()
        self.owner.open.discard(self.connection)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()

    def log_message(self, format: str, *args: object) -> None:
        pass
