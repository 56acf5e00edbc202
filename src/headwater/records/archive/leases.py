"""Renews the lease of a compaction for as long as its process works on it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from headwater.errors import StoreError
from headwater.records.archive.archive import LEASE_DURATION, Archive, Compaction

_INTERVAL = LEASE_DURATION.total_seconds() / 6
"""Seconds between renewals: the store may not answer for a while."""


@contextmanager
def lease_renewal(archive: Archive, compaction: Compaction) -> Iterator[None]:
    ended = threading.Event()

    def renew() -> None:
        while not ended.wait(_INTERVAL):
            # If the store does not answer, the code that works with it reports that.
            with suppress(StoreError):
                archive.renew_lease(compaction)

    renewing = threading.Thread(target=renew, daemon=True)
    renewing.start()
    try:
        yield
    finally:
        ended.set()
        renewing.join()
