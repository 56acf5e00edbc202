"""Keys and sessions that were not good, for the audit log: bounded, or whoever guesses could fill the disk.

The first refusal of an address is told at once; those that follow within a minute are counted, and told together when
it is over. Of so many addresses a minute each has entries of its own; the rest share one.
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
        self._over = 0.0
        self._counted: dict[str | None, tuple[Actor, int]] = {}

    def heard(self, who: Actor) -> AuditEntries:
        """What is to be written down now."""
        told = self.due()
        address = who.client_ip
        if address not in self._counted and len(self._counted) >= _MAX_ADDRESSES:
            address, who = None, replace(who, client_ip=None, user_agent=None, correlation_id=None)
        if address in self._counted:
            last, count = self._counted[address]
            self._counted[address] = (last, count + 1)
            return told
        self._counted[address] = (who, 0)
        return [*told, _entry(who, 1)]

    def due(self) -> AuditEntries:
        """What the last minute has left to tell, if it is over."""
        return self.rest() if self._clock() >= self._over else []

    def rest(self) -> AuditEntries:
        left = {address: who for address, (who, count) in self._counted.items() if count}
        told = [_entry(*self._counted[address]) for address in left]
        # They have had their entry for the minute that begins.
        self._counted = {address: (who, 0) for address, who in left.items()}
        self._over = self._clock() + WINDOW_SECONDS
        return told


def _entry(who: Actor, count: int) -> tuple[Actor, Deed]:
    return who, deed(REFUSED, "access", None, count=count)
