"""The protocol of a sink, and the two ways in which it does not take an event.

Both exceptions stay between a sink and its forwarder; the job never sees one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable


class SinkDown(Exception):
    """Not now: the events wait and are offered again, after ``retry_after`` seconds if the sink asked for that."""

    def __init__(self, reason: str, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


class SinkRefused(Exception):
    """Never: this event is skipped and counted."""


class EventSink(Protocol):
    """Takes events in order.

    ``deliver`` gets one event at a time unless the sink has an attribute ``batch``, the number it can take at once;
    such a sink takes all of them or none. A sink with a method ``close`` is closed by the thread that used it.
    """

    @property
    def name(self) -> str:
        """The sink's name in the spool, also for the next process; so it must contain no secrets."""

    def deliver(self, events: Sequence[bytes]) -> None: ...


@runtime_checkable
class Resumable(Protocol):
    """A sink that can tell, after a crash, which events it has already received."""

    def mark(self) -> int:
        """Its current position. Saved by the spool before anything is delivered."""

    def count_delivered(self, events: Sequence[bytes], mark: int) -> int:
        """How many of ``events``, from the first, it has received since ``mark``."""


@runtime_checkable
class Closeable(Protocol):
    def close(self) -> None: ...


def batch_of(sink: EventSink) -> int:
    return int(getattr(sink, "batch", 1))
