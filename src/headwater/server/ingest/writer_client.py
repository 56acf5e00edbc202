"""Sends events to the writer process (``writer_process.py``), or stores them in this process if it cannot be reached.

The writer process only makes ingest faster. If it dies, events that were sent to it may be on disk or not; storing them
again has no further effect.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Client, Connection
from typing import TypeVar

from headwater.errors import StoreUnavailable
from headwater.server.ingest.local_ingest import BatchResult, Ingest, IngestResult, ReceivedBody

_RETRY_SECONDS = 0.5
"""How long to wait before connecting again."""
Answer = TypeVar("Answer")


class WriterClient:
    def __init__(self, path: str, local: Ingest) -> None:
        self._path = path
        self._local = local
        self._thread = threading.local()
        self._retry_at = 0.0
        self.closing = False
        """The server shuts down: events that the writer process did not store are not stored here either."""

    def events(self, bodies: Sequence[ReceivedBody]) -> list[IngestResult]:
        return self._call(list(bodies), lambda: self._local.events(bodies))

    def batch(self, body: ReceivedBody) -> BatchResult:
        return self._call(body, lambda: self._local.batch(body))

    def _call(self, request: object, call_local: Callable[[], Answer]) -> Answer:
        connection = self._connection()
        if connection is None:
            return call_local()
        try:
            connection.send(request)
            answer = connection.recv()
        except (EOFError, OSError):
            connection.close()
            self._thread.connection = None
            if self.closing:
                raise StoreUnavailable(
                    "The server is shutting down: the event is not stored. Send it again later."
                ) from None
            return call_local()
        if isinstance(answer, Exception):
            raise answer
        return answer  # type: ignore[no-any-return]

    def _connection(self) -> Connection | None:
        """Return the connection of this thread."""
        connection: Connection | None = getattr(self._thread, "connection", None)
        if connection is None and time.monotonic() >= self._retry_at:
            try:
                connection = self._thread.connection = Client(self._path, family="AF_UNIX")
            except OSError:
                self._retry_at = time.monotonic() + _RETRY_SECONDS
        return connection
