"""uvicorn's HTTP protocol with the limits that it lacks: the size of a request's head, and the time to receive it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from uuid import uuid4

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from headwater.server.app.problems import HttpProblem, problem_response

if TYPE_CHECKING:
    from uvicorn._types import ASGI3Application

_MAX_HEAD_BYTES = 64 * 1024
_MAX_HEAD_SECONDS = 10.0


class LimitedHttpProtocol(HttpToolsProtocol):
    """Limits the head of a request: one that never ends would otherwise fill the memory."""

    _head_bytes = 0
    _in_head = True
    _in_message = False
    _head_deadline: asyncio.TimerHandle | None = None
    _answering: RequestResponseCycle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_complete()
        super().connection_lost(exc)
        # uvicorn notifies only the last request, which may be waiting behind a stream; the stream would go on.
        if self._answering is not None and not self._answering.response_complete:
            self._answering.disconnected = True
            self._answering.message_event.set()

    def data_received(self, data: bytes) -> None:
        if self._in_head:
            if self._head_deadline is None:
                self._expect_head()
            self._head_bytes += len(data)
        super().data_received(data)
        if self._in_head and self._head_bytes > _MAX_HEAD_BYTES and not self.transport.is_closing():
            self._on_head_too_long()

    def on_message_begin(self) -> None:
        """Also called for a pipelined request, before the previous one is answered: a stream may have no end."""
        self._in_message = True
        if not self._in_head:
            # The part that came in the same read as the previous request is not counted; it is one read at most.
            self._in_head, self._head_bytes = True, 0
            self._expect_head()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._head_complete()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_message = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        if not self._in_message:  # otherwise the rest of the next request follows, its head or its body
            self._in_head, self._head_bytes = True, 0
        super().on_response_complete()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._answering = cycle
        super()._start_asgi_task(cycle, app)

    def send_400_response(self, msg: str) -> None:
        """Called by uvicorn for malformed requests."""
        self._refuse(HttpProblem(400, "request_malformed", "The request is not valid HTTP."))

    def _refuse(self, problem: HttpProblem) -> None:
        """Respond with problem details too, although the request never reaches the application."""
        response = problem_response(problem, "", str(uuid4()))
        headers = [*response.raw_headers, *self.server_state.default_headers, (b"connection", b"close")]
        lines = [b"HTTP/1.1 400 Bad Request", *(b": ".join(header) for header in headers)]
        self.transport.write(b"\r\n".join([*lines, b"", bytes(response.body)]))
        self.transport.close()

    def _expect_head(self) -> None:
        self._head_deadline = self.loop.call_later(_MAX_HEAD_SECONDS, self._on_head_timeout)

    def _head_complete(self) -> None:
        self._in_head = False
        if self._head_deadline is not None:
            self._head_deadline.cancel()
            self._head_deadline = None

    def _on_head_timeout(self) -> None:
        if self.flow.read_paused:  # the server itself stopped reading: earlier requests are answered first
            self._expect_head()
        elif not self.transport.is_closing():
            self.transport.close()

    def _on_head_too_long(self) -> None:
        if self._answering is None or self._answering.response_complete:
            self._refuse(
                HttpProblem(400, "head_too_long", f"The head of the request is longer than {_MAX_HEAD_BYTES} bytes.")
            )
        else:
            self.transport.close()  # a second response would look like a part of the first
