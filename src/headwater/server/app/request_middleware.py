"""The middleware around every request: request id, path, security headers, access log and metrics."""

from __future__ import annotations

import logging
import re
import time
from urllib.parse import unquote_to_bytes
from uuid import uuid4

from starlette.convertors import Convertor, register_url_convertor
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headwater.server.app import problems
from headwater.server.app.metrics import REQUESTS
from headwater.server.app.root_path import without_root

_log = logging.getLogger("headwater.server")
_access = logging.getLogger("headwater.access")
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}\Z")

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
SECURITY_HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


_DEFAULT_HEADERS = [(name.lower().encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]
"""The same in ASGI's form. A header that a route set itself is kept."""


class NameConvertor(Convertor[str]):
    """One path segment: a name, which may contain encoded slashes or be empty."""

    regex = "[^/]*"

    def convert(self, value: str) -> str:
        return value.replace("%2F", "/").replace("%25", "%")

    def to_string(self, value: str) -> str:
        return value.replace("%", "%25").replace("/", "%2F")


register_url_convertor("name", NameConvertor())


def _segments(raw_path: bytes) -> str:
    """Return the path to route by: decoded, except slashes within a segment, which are part of a name."""
    decoded = (unquote_to_bytes(segment).decode() for segment in raw_path.split(b"/"))
    return "/".join(NameConvertor().to_string(segment) for segment in decoded)


class RequestMiddleware:
    def __init__(self, app: ASGIApp, root_path: str = "") -> None:
        self._app = app
        self._root = root_path.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        await _RequestScope(self._app, scope, send, self._root).run(receive)


class _RequestScope:
    def __init__(self, app: ASGIApp, scope: Scope, send: Send, root: bytes) -> None:
        self._app = app
        self._root = root
        self._scope = scope
        self._send = send
        self._status: int | None = None
        self._started_at = time.perf_counter()
        requested = next((value for name, value in scope["headers"] if name == b"x-request-id"), b"").decode("latin-1")
        self._id = requested if _REQUEST_ID.match(requested) else str(uuid4())
        scope.setdefault("state", {})["request_id"] = self._id

    async def run(self, receive: Receive) -> None:
        try:
            self._scope["path"] = _segments(without_root(self._scope["raw_path"], self._root))
        except UnicodeDecodeError:
            problem = problems.HttpProblem(400, "path_not_utf8", "The decoded path is not UTF-8.")
            await self._answer(problem, receive)
        else:
            await self._run_app(receive)
        self._log_request()

    async def _run_app(self, receive: Receive) -> None:
        try:
            await self._app(self._scope, receive, self._send_with_headers)
        except Exception:
            _log.exception("a request failed", extra={"request_id": self._id})
            if self._status is not None:
                raise  # the response has begun: only closing the connection shows that it is incomplete
            await self._answer(
                problems.HttpProblem(500, "failed", "Internal server error. See the server's log."), receive
            )

    async def _answer(self, problem: problems.HttpProblem, receive: Receive) -> None:
        instance = self._scope["raw_path"].decode("ascii", "replace")
        await problems.problem_response(problem, instance, self._id)(self._scope, receive, self._send_with_headers)

    async def _send_with_headers(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            present = {name for name, _ in message["headers"]}
            added = [header for header in _DEFAULT_HEADERS if header[0] not in present]
            if self._scope["path"].startswith("/api/") and b"cache-control" not in present:
                added.append((b"cache-control", b"no-store"))
            message["headers"] = [*message["headers"], *added, (b"x-request-id", self._id.encode())]
        await self._send(message)

    def _log_request(self) -> None:
        seconds = time.perf_counter() - self._started_at
        route = _route(self._scope)
        REQUESTS.labels(self._scope["method"] if route else "other", route or "none", str(self._status)).observe(
            seconds
        )
        if not _access.isEnabledFor(logging.INFO):
            return
        client = self._scope.get("client")
        _access.info(
            "%s %s %s", self._scope["method"], self._status, route or "none",
            extra={
                "request_id": self._id,
                "method": self._scope["method"],
                "path": self._scope["raw_path"].decode("ascii", "replace"),
                "status": self._status,
                "milliseconds": round(seconds * 1000, 2),
                "client": client[0] if client else None,
            },
        )  # fmt: skip


def _route(scope: Scope) -> str | None:
    """Return the path pattern: with names in it, each dataset would be a time series of its own."""
    return getattr(scope.get("route"), "path_format", None)
