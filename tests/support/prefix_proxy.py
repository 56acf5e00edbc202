"""A reverse proxy that publishes a server below a path, like nginx or Traefik: with the path removed, or forwarded."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_OWN = ("connection", "keep-alive", "transfer-encoding", "te", "upgrade")
"""Headers of one connection, not of the request."""


@contextmanager
def prefix_proxy(port: int, prefix: str, *, strips: bool, forwards: bool = False) -> Iterator[tuple[str, list[str]]]:
    """The URL below which the server at ``port`` is published, and the paths that were requested outside of it.

    ``forwards``: it sends forwarding headers, as a proxy in front of others does.
    """
    outside: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _pass_on(self) -> None:
            if self.path != prefix and not self.path.startswith((f"{prefix}/", f"{prefix}?")):
                outside.append(self.path)
                self.send_error(404)
                return
            path = self.path.removeprefix(prefix) if strips else self.path
            path = path if path.startswith("/") else f"/{path}"
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name: value for name, value in self.headers.items() if name.lower() not in _OWN}
            if forwards:
                headers["X-Forwarded-For"] = str(self.client_address[0])
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            try:
                connection.request(self.command, path, body or None, headers)
                self._answer(connection.getresponse())
            except OSError:  # one of the two has gone
                self.close_connection = True
            finally:
                connection.close()

        def _answer(self, answer: http.client.HTTPResponse) -> None:
            """Piece by piece, as it comes: an event stream has no end."""
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in _OWN:
                    self.send_header(name, value)
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            while piece := answer.read1(65536):
                self.wfile.write(piece)
                self.wfile.flush()

        do_GET = do_POST = do_DELETE = do_PUT = _pass_on

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, name="proxy", daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}{prefix}", outside
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
