"""HTTP as uvicorn reads it, with limits where it has none: the size of a request's head, and how long that may take."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from headwater.server.app.problems import HttpProblem, problem_response

_MAX_HEAD_BYTES = 64 * 1024
_MAX_HEAD_SECONDS = 10.0


class LimitedHttpProtocol(HttpToolsProtocol):
    """Patient, but not forever: a head that never ends would otherwise be kept in memory for as long as it comes."""

    _head_bytes = 0
    _in_head = True
    _in_message = False
    _head_deadline: asyncio.TimerHandle | None = None
    _answering: RequestResponseCycle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_is_here()
        super().connection_lost(exc)
        # uvicorn tells the request that came last, which may be one that waits behind a stream: that would go on.
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
            self._too_long()

    def on_message_begin(self) -> None:
        """Also of a request that is sent before the one before it was answered: an answer may have no end."""
        self._in_message = True
        if not self._in_head:
            # What came of it together with the request before is not counted: that is one read at most.
            self._in_head, self._head_bytes = True, 0
            self._expect_head()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._head_is_here()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_message = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        if not self._in_message:  # else what comes is the rest of the next request, of its head or of its body
            self._in_head, self._head_bytes = True, 0
        super().on_response_complete()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answering = cycle
        super()._start_asgi_task(cycle, app)

    def send_400_response(self, msg: str) -> None:
        """Where uvicorn cannot read what comes."""
        self._refuse(HttpProblem(400, "request_malformed", "The request is not valid HTTP."))

    def _refuse(self, problem: HttpProblem) -> None:
        """As a problem too, though no application has heard of the request."""
        answered = problem_response(problem, "", str(uuid4()))
        headers = [*answered.raw_headers, *self.server_state.default_headers, (b"connection", b"close")]
        lines = [b"HTTP/1.1 400 Bad Request", *(b": ".join(header) for header in headers)]
        self.transport.write(b"\r\n".join([*lines, b"", bytes(answered.body)]))
        self.transport.close()

    def _expect_head(self) -> None:
        self._head_deadline = self.loop.call_later(_MAX_HEAD_SECONDS, self._too_slow)

    def _head_is_here(self) -> None:
        self._in_head = False
        if self._head_deadline is not None:
            self._head_deadline.cancel()
            self._head_deadline = None

    def _too_slow(self) -> None:
        if self.flow.read_paused:  # it is we who do not read: others wait to be answered first
            self._expect_head()
        elif not self.transport.is_closing():
            self.transport.close()

    def _too_long(self) -> None:
        if self._answering is None or self._answering.response_complete:
            self._refuse(
                HttpProblem(400, "head_too_long", f"The head of the request is longer than {_MAX_HEAD_BYTES} bytes.")
            )
        else:
            self.transport.close()  # a second answer would be taken for a part of the first
