"""The readiness probe: whether the store can be read and written.

Load balancers probe several times a second, so the store is probed now and then, once at a time; the result is cached
until the next probe.
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
"""A store that could not be written is probed again sooner."""
_TIMEOUT_SECONDS = 5.0
"""Maximum time of a probe: a hanging disk would otherwise keep the caller waiting and the server in rotation."""
_RETRY_HEADERS = {"Retry-After": "5"}
_log = logging.getLogger("headwater.server")


class ReadinessProbe:
    def __init__(self, store: Store, store_url: str, threads: StoreThreads) -> None:
        self._store = store
        # It has connections of its own: those of the store may all be in use.
        self._database = Database(store_url, create=False)
        self._threads = threads
        self._probe: asyncio.Task[HttpProblem | None] | None = None
        self._cached_until = 0.0

    async def problem(self) -> HttpProblem | None:
        """Return what keeps the store from accepting events; None if nothing does."""
        if self._probe is None or (self._probe.done() and time.monotonic() >= self._cached_until):
            self._probe = asyncio.create_task(self._run_probe())
        done, _ = await asyncio.wait([self._probe], timeout=_TIMEOUT_SECONDS)
        if not done:
            return HttpProblem(503, "store_unavailable", "The store did not respond in time.", _RETRY_HEADERS)
        return self._probe.result()

    async def _run_probe(self) -> HttpProblem | None:
        problem: HttpProblem | None = None
        try:
            await self._threads.read(self._check)
        except HeadwaterError as error:
            _log.warning("not ready: %s", error)
            problem = _problem_of(error)
        self._cached_until = time.monotonic() + (_SUCCESS_SECONDS if problem is None else _FAILURE_SECONDS)
        return problem

    def _check(self) -> None:
        self._store.audit(limit=1)
        probe_writes(self._database)

    def close(self) -> None:
        self._database.close()


def _problem_of(error: HeadwaterError) -> HttpProblem:
    """Name the part that fails without the store's URL: the probe needs no key."""
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
