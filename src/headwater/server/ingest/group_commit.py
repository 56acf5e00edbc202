"""Group commit for single events: those that arrive during one commit go into the next.

Two threads take turns, so that one batch is parsed while the other waits for the disk. A thread per request would share
commits as well, but a dozen threads that parse events at once would starve queries.

A large event is a batch of its own, and only one of the threads takes such a batch: the other one is free for the small
events, which overtake the large ones that wait.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Condition, Thread

from headwater.model.answers import Receipt
from headwater.server.app.metrics import EVENTS
from headwater.server.ingest.local_ingest import LARGE_BYTES, Ingest, IngestResult, ReceivedBody, is_refusal

_MAX_EVENTS = 128
_MAX_BYTES = 8 * 2**20


@dataclass(slots=True)
class _PendingEvent:
    body: ReceivedBody
    receipt: asyncio.Future[Receipt]

    @property
    def is_large(self) -> bool:
        return len(self.body.content) > LARGE_BYTES


class GroupCommit:
    def __init__(self, ingest: Ingest, threads: int) -> None:
        self._ingest = ingest
        self._waiting: deque[_PendingEvent] = deque()
        self._changed = Condition()
        self._closing = False
        self._has_large_batch = False
        """A thread is at work on a large event."""
        self._threads = [Thread(target=self._run, name=f"ingest {number}", daemon=True) for number in range(threads)]
        for thread in self._threads:
            thread.start()

    async def submit(self, body: ReceivedBody) -> Receipt:
        """Store an event. When this returns, it is on disk."""
        event = _PendingEvent(body, asyncio.get_running_loop().create_future())
        with self._changed:
            self._waiting.append(event)
            self._changed.notify()
        return await event.receipt

    def close(self) -> None:
        """Store what has arrived, then stop."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _run(self) -> None:
        while batch := self._next_batch():
            results: Sequence[IngestResult]
            try:
                results = self._ingest.events([event.body for event in batch])
            except Exception as error:  # the store itself failed: every request still gets a response
                results = [error] * len(batch)
            # A batch belongs to one event loop and is resolved in one call: waking the loop costs more than a result.
            batch[0].receipt.get_loop().call_soon_threadsafe(_resolve, batch, results)
            if batch[0].is_large:
                with self._changed:
                    self._has_large_batch = False
                    self._changed.notify()

    def _next_batch(self) -> list[_PendingEvent]:
        """Wait for events that this thread may take; the batch is empty only at shutdown. Large events that wait then
        are left to the thread that is at work on one."""
        with self._changed:
            while not (batch := self._take()) and not self._closing:
                self._changed.wait()
        return batch

    def _take(self) -> list[_PendingEvent]:
        if self._waiting and self._waiting[0].is_large and not self._has_large_batch:
            self._has_large_batch = True
            return [self._waiting.popleft()]
        batch: list[_PendingEvent] = []
        overtaken: list[_PendingEvent] = []
        size = 0
        while self._waiting and len(batch) < _MAX_EVENTS and size < _MAX_BYTES:
            event = self._waiting.popleft()
            (overtaken if event.is_large else batch).append(event)
            size += 0 if event.is_large else len(event.body.content)
        self._waiting.extendleft(reversed(overtaken))
        return batch


def _resolve(batch: Sequence[_PendingEvent], results: Sequence[IngestResult]) -> None:
    count_events([result for result in results if isinstance(result, Receipt)], sum(map(is_refusal, results)))
    for event, result in zip(batch, results, strict=True):
        if event.receipt.done():  # the client has disconnected
            continue
        if isinstance(result, Exception):
            event.receipt.set_exception(result)
        else:
            event.receipt.set_result(result)


def count_events(receipts: Sequence[Receipt], refused: int) -> None:
    duplicates = sum(receipt.duplicate for receipt in receipts)
    for outcome, number in (("known", duplicates), ("taken", len(receipts) - duplicates), ("refused", refused)):
        if number:
            EVENTS.labels(outcome).inc(number)
