"""Events handed to the process that writes (``scribe.py``), and stored here where it cannot be reached.

Nothing but speed hangs on that process. What was handed to it before it went may be on disk or not; stored again it
counts once.
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
"""After it could not be reached."""
Answer = TypeVar("Answer")


class WriterClient:
    def __init__(self, path: str, here: Ingest) -> None:
        self._path = path
        self._here = here
        self._mine = threading.local()
        self._try_again_at = 0.0
        self.ending = False
        """Nothing more is stored here: the process that writes goes, and what it leaves is not taken up again."""

    def events(self, sent: Sequence[ReceivedBody]) -> list[IngestResult]:
        return self._told(list(sent), lambda: self._here.events(sent))

    def many(self, sent: ReceivedBody) -> BatchResult:
        return self._told(sent, lambda: self._here.many(sent))

    def _told(self, asked: object, here: Callable[[], Answer]) -> Answer:
        connection = self._connection()
        if connection is None:
            return here()
        try:
            connection.send(asked)
            told = connection.recv()
        except (EOFError, OSError):
            connection.close()
            self._mine.connection = None
            if self.ending:
                raise StoreUnavailable(
                    "The server is shutting down: the event is not stored. Send it again later."
                ) from None
            return here()
        if isinstance(told, Exception):
            raise told
        return told  # type: ignore[no-any-return]

    def _connection(self) -> Connection | None:
        """One for each thread."""
        known: Connection | None = getattr(self._mine, "connection", None)
        if known is None and time.monotonic() >= self._try_again_at:
            try:
                known = self._mine.connection = Client(self._path, family="AF_UNIX")
            except OSError:
                self._try_again_at = time.monotonic() + _RETRY_SECONDS
        return known
