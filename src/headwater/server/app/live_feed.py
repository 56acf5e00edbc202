"""What happens, told as it happens. The store itself is looked at, so it does not matter which process wrote.

One look twice a second while anybody listens; each listener then asks for what it may see.
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
        self.ending = False
        self._turn = asyncio.Event()
        self._looking: asyncio.Task[None] | None = None
        self._last = -1
        self.listeners = 0
        self._listeners_of: Counter[str] = Counter()

    def listeners_of(self, client: str) -> int:
        return self._listeners_of[client]

    async def turns(self, client: str, limit: int) -> AsyncGenerator[int]:
        """The number of the last event, now and whenever somebody looked again; ends when the server does, and at once
        if the client has more than ``limit`` streams: several may have been let in at the same moment."""
        self.listeners += 1
        self._listeners_of[client] += 1
        if self._looking is None:
            self._looking = asyncio.create_task(self._look())
        try:
            while not self.ending and self._listeners_of[client] <= limit:
                if self._last >= 0:
                    yield self._last
                await self._turn.wait()
        finally:
            self.listeners -= 1
            self._listeners_of[client] -= 1
            self._listeners_of += Counter()  # drops those who have none left
            if self.listeners == 0 and self._looking is not None:
                self._looking.cancel()
                self._looking, self._last = None, -1

    async def _look(self) -> None:
        while True:
            try:
                self._last = await self._threads.read(self._store.pages.last_number)
            except HeadwaterError as error:  # the store is gone for now; listeners stay, and are told when it is back
                _log.warning("the live feed cannot read the store: %s", error)
            turn, self._turn = self._turn, asyncio.Event()
            turn.set()
            await asyncio.sleep(_POLL_SECONDS)
