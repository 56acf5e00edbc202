"""How often: a bucket for each key, that fills at a rate and holds a burst.

In each process there is one, so with several workers a key may ask as many times as often.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

_MAX_BUCKETS = 10_000
"""Buckets that are kept. One that is forgotten was not used for long, and so would be full."""


class RateLimiter:
    def __init__(self, per_second: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._burst = burst
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, who: str) -> float:
        """Take one; 0, or the seconds after which there will be one again."""
        now = self._clock()
        level, at = self._buckets.pop(who, (self._burst, now))
        level = min(self._burst, level + (now - at) * self._per_second)
        taken = level >= 1
        self._buckets[who] = (level - 1 if taken else level, now)
        if len(self._buckets) > _MAX_BUCKETS:
            self._buckets.popitem(last=False)
        return 0.0 if taken else (1 - level) / self._per_second
