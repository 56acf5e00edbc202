"""Audit entries for invalid keys and sessions. Their number is bounded, or guessing could fill the disk.

The first refusal of an address is recorded at once. Further ones within a minute are counted, and recorded as one entry
at its end. The first 100 addresses in a minute have entries of their own; the others share one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from headwater.model.audit import Actor
from headwater.store.log.audit import Deed
from headwater.store.log.audit_writer import deed

REFUSED = "access.refused"
WINDOW_SECONDS = 60.0
_MAX_ADDRESSES = 100
AuditEntries = list[tuple[Actor, Deed]]


class RefusalLog:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._window_end = 0.0
        self._counts: dict[str | None, tuple[Actor, int]] = {}

    def add(self, actor: Actor) -> AuditEntries:
        """Count a refusal and return the entries to write now."""
        entries = self._due()
        address = actor.client_ip
        if address not in self._counts and len(self._counts) >= _MAX_ADDRESSES:
            address, actor = None, replace(actor, client_ip=None, user_agent=None, correlation_id=None)
        if address in self._counts:
            first, count = self._counts[address]
            self._counts[address] = (first, count + 1)
            return entries
        self._counts[address] = (actor, 0)
        return [*entries, _entry(actor, 1)]

    def _due(self) -> AuditEntries:
        return self.flush() if self._clock() >= self._window_end else []

    def flush(self) -> AuditEntries:
        """Return entries for all counted refusals, and begin a new window."""
        counted = {address: actor for address, (actor, count) in self._counts.items() if count}
        entries = [_entry(*self._counts[address]) for address in counted]
        # These entries are also the first of the window that begins.
        self._counts = {address: (actor, 0) for address, actor in counted.items()}
        self._window_end = self._clock() + WINDOW_SECONDS
        return entries


def _entry(actor: Actor, count: int) -> tuple[Actor, Deed]:
    return actor, deed(REFUSED, "access", None, count=count)
