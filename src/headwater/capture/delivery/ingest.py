"""Events to a store, in this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from headwater.capture.delivery.sink import SinkDown, SinkRefused
from headwater.errors import EventRefused, HeadwaterError


class EventStore(Protocol):
    """What the sink needs of a store. It ingests all events or none, and an event that it has already changes
    nothing."""

    def ingest_many(self, events: Sequence[bytes], /) -> object: ...

    def close(self) -> None: ...


class IngestSink:
    """``connect`` is called by the forwarder's thread: a database that is down at the start is retried like any other
    sink."""

    batch = 100

    def __init__(self, connect: Callable[[], EventStore], *, name: str = "store") -> None:
        self.name = name
        self._connect = connect
        self._store: EventStore | None = None

    def deliver(self, events: Sequence[bytes]) -> None:
        try:
            if self._store is None:
                self._store = self._connect()
            self._store.ingest_many(events)
        except EventRefused as refusal:
            raise SinkRefused(str(refusal)) from None
        except HeadwaterError as error:
            # Opened anew next time: a database may be replaced, moved back or upgraded meanwhile.
            self.close()
            raise SinkDown(str(error)) from None
        except Exception:
            self.close()
            raise

    def close(self) -> None:
        store, self._store = self._store, None
        if store is not None:
            store.close()
