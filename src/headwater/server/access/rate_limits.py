"""Rate limits: a token bucket for each key.

Each process has buckets of its own, so with N workers a key may send N times as many requests.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

_MAX_BUCKETS = 10_000
"""Number of buckets in memory. The bucket that is dropped is the least recently used, which is full again anyway."""


class RateLimiter:
    def __init__(self, per_second: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._burst = burst
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, client: str) -> float:
        """Take a token and return 0, or return the seconds until the next token."""
        now = self._clock()
        level, at = self._buckets.pop(client, (self._burst, now))
        level = min(self._burst, level + (now - at) * self._per_second)
        allowed = level >= 1
        self._buckets[client] = (level - 1 if allowed else level, now)
        if len(self._buckets) > _MAX_BUCKETS:
            self._buckets.popitem(last=False)
        return 0.0 if allowed else (1 - level) / self._per_second
