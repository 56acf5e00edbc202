"""Whether the server takes requests: the store answers and can be written, and nobody has asked the server to stop.

Load balancers ask several times a second, so the write probe runs now and then, one at a time; its result holds until
the next.
"""

from __future__ import annotations

import asyncio
import logging
import time

from headwater.errors import HeadwaterError, StoreFull, StoreReadOnly
from headwater.server.app.problems import HttpProblem
from headwater.server.app.threads import StoreThreads
from headwater.store.engine.database import Database
from headwater.store.engine.write_probe import probe_writes
from headwater.store.store import Store

_SUCCESS_SECONDS = 5.0
_FAILURE_SECONDS = 1.0
"""A store that could not be written is looked at again sooner."""
_TIMEOUT_SECONDS = 5.0
"""For one answer: a disk that hangs would otherwise keep whoever asks, and the server in rotation."""
_RETRY_HEADERS = {"Retry-After": "5"}
_log = logging.getLogger("headwater.server")


class ReadinessProbe:
    def __init__(self, store: Store, store_url: str, threads: StoreThreads) -> None:
        self._store = store
        # Connections of its own: those of the store may all be in use.
        self._database = Database(store_url, create=False)
        self._threads = threads
        self._probe: asyncio.Task[HttpProblem | None] | None = None
        self._good_until = 0.0

    async def problem(self) -> HttpProblem | None:
        """What keeps the store from taking events; None if nothing does."""
        if self._probe is None or (self._probe.done() and time.monotonic() >= self._good_until):
            self._probe = asyncio.create_task(self._look())
        done, _ = await asyncio.wait([self._probe], timeout=_TIMEOUT_SECONDS)
        if not done:
            return HttpProblem(503, "store_unavailable", "The store did not respond in time.", _RETRY_HEADERS)
        return self._probe.result()

    async def _look(self) -> HttpProblem | None:
        problem: HttpProblem | None = None
        try:
            await self._threads.read(self._check)
        except HeadwaterError as error:
            _log.warning("not ready: %s", error)
            problem = _problem_of(error)
        self._good_until = time.monotonic() + (_SUCCESS_SECONDS if problem is None else _FAILURE_SECONDS)
        return problem

    def _check(self) -> None:
        self._store.audit(limit=1)
        probe_writes(self._database)

    def close(self) -> None:
        self._database.close()


def _problem_of(error: HeadwaterError) -> HttpProblem:
    """Which part fails, in words without the store's address: anybody may ask."""
    if isinstance(error, StoreFull):
        return HttpProblem(
            503,
            "store_full",
            "The store cannot be written: the disk or the quota of its database is full.",
            _RETRY_HEADERS,
        )
    if isinstance(error, StoreReadOnly):
        return HttpProblem(
            503, "store_read_only", "The store cannot be written: its database is read-only.", _RETRY_HEADERS
        )
    return HttpProblem(503, "store_unavailable", "The store's database failed.", _RETRY_HEADERS)
