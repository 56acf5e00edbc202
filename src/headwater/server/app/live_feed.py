"""Notifies open streams of new events. It polls the store, so it does not matter which process wrote.

The feed polls twice a second while any stream is open; each stream then reads what its key may see.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncGenerator

from headwater.errors import HeadwaterError
from headwater.server.app.threads import StoreThreads
from headwater.store.store import Store

_log = logging.getLogger("headwater.server")
_POLL_SECONDS = 0.5


class LiveFeed:
    def __init__(self, store: Store, threads: StoreThreads) -> None:
        self._store = store
        self._threads = threads
        self.closing = False
        self._updated = asyncio.Event()
        self._polling: asyncio.Task[None] | None = None
        self._last = -1
        self.listeners = 0
        self._listeners_of: Counter[str] = Counter()

    def listeners_of(self, client: str) -> int:
        return self._listeners_of[client]

    async def updates(self, client: str, limit: int) -> AsyncGenerator[int]:
        """Yield the number of the last event, now and after each poll.

        It ends when the server shuts down, and at once if the client has more than ``limit`` streams: several may have
        been opened at the same moment.
        """
        self.listeners += 1
        self._listeners_of[client] += 1
        if self._polling is None:
            self._polling = asyncio.create_task(self._poll())
        try:
            while not self.closing and self._listeners_of[client] <= limit:
                if self._last >= 0:
                    yield self._last
                await self._updated.wait()
        finally:
            self.listeners -= 1
            self._listeners_of[client] -= 1
            self._listeners_of += Counter()  # drops clients without streams
            if self.listeners == 0 and self._polling is not None:
                self._polling.cancel()
                self._polling, self._last = None, -1

    async def _poll(self) -> None:
        while True:
            try:
                self._last = await self._threads.read(self._store.pages.last_number)
            except HeadwaterError as error:  # the store is unavailable; streams stay open and continue when it is back
                _log.warning("the live feed cannot read the store: %s", error)
            updated, self._updated = self._updated, asyncio.Event()
            updated.set()
            await asyncio.sleep(_POLL_SECONDS)
