"""Saying that one is at work on the archive, for as long as one is."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from headwater.errors import StoreError
from headwater.records.archive.archive import LEASE_DURATION, Archive, Compaction

_EVERY = LEASE_DURATION.total_seconds() / 6
"""Seconds: a store may not answer for a while."""


@contextmanager
def lease_renewal(archive: Archive, compaction: Compaction) -> Iterator[None]:
    over = threading.Event()

    def say_so() -> None:
        while not over.wait(_EVERY):
            # A store that does not answer is told of by whoever works with it.
            with suppress(StoreError):
                archive.renew_lease(compaction)

    saying = threading.Thread(target=say_so, daemon=True)
    saying.start()
    try:
        yield
    finally:
        over.set()
        saying.join()
