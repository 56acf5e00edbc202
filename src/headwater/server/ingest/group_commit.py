"""Single events, gathered: what arrives while one commit is under way goes into the next.

Two threads take turns, so that one batch is read while the other waits for the disk. A thread for each request would
share commits as well, but a dozen of them that read events at once leave no time for anybody who asks a question.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Condition, Thread

from headwater.model.answers import Receipt
from headwater.server.app.metrics import EVENTS
from headwater.server.ingest.local_ingest import Ingest, IngestResult, ReceivedBody, is_refusal

_MAX_EVENTS = 128
_MAX_BYTES = 8 * 2**20
_LARGE_BYTES = 100_000
"""Longer events go alone: it takes a while to read one, and meanwhile the other thread takes on what is small."""


@dataclass(slots=True)
class _PendingEvent:
    sent: ReceivedBody
    answer: asyncio.Future[Receipt]


class GroupCommit:
    def __init__(self, storing: Ingest, threads: int) -> None:
        self._storing = storing
        self._waiting: deque[_PendingEvent] = deque()
        self._changed = Condition()
        self._closing = False
        self._threads = [Thread(target=self._work, name=f"intake {number}", daemon=True) for number in range(threads)]
        for thread in self._threads:
            thread.start()

    async def submit(self, sent: ReceivedBody) -> Receipt:
        """When this returns, the event is on disk."""
        arrival = _PendingEvent(sent, asyncio.get_running_loop().create_future())
        with self._changed:
            self._waiting.append(arrival)
            self._changed.notify()
        return await arrival.answer

    def close(self) -> None:
        """What has arrived is stored first."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while batch := self._next():
            outcomes: Sequence[IngestResult]
            try:
                outcomes = self._storing.events([arrival.sent for arrival in batch])
            except Exception as error:  # of the storing itself: nobody is left without an answer
                outcomes = [error] * len(batch)
            # All of a batch come from one loop, and are told in one go: waking it costs more than telling one.
            batch[0].answer.get_loop().call_soon_threadsafe(_resolve, batch, outcomes)

    def _next(self) -> list[_PendingEvent]:
        """None are there only at the end."""
        batch: list[_PendingEvent] = []
        size = 0
        with self._changed:
            while not self._waiting and not self._closing:
                self._changed.wait()
            while self._waiting and len(batch) < _MAX_EVENTS and size < _MAX_BYTES:
                if batch and len(self._waiting[0].sent.body) > _LARGE_BYTES:
                    break
                batch.append(self._waiting.popleft())
                size += len(batch[-1].sent.body)
                if size > _LARGE_BYTES and len(batch) == 1:
                    break
        return batch


def _resolve(batch: Sequence[_PendingEvent], outcomes: Sequence[IngestResult]) -> None:
    count_events([one for one in outcomes if isinstance(one, Receipt)], sum(map(is_refusal, outcomes)))
    for arrival, outcome in zip(batch, outcomes, strict=True):
        if arrival.answer.done():  # nobody waits any more
            continue
        if isinstance(outcome, Exception):
            arrival.answer.set_exception(outcome)
        else:
            arrival.answer.set_result(outcome)


def count_events(receipts: Sequence[Receipt], refused: int) -> None:
    known = sum(receipt.duplicate for receipt in receipts)
    for outcome, number in (("known", known), ("taken", len(receipts) - known), ("refused", refused)):
        if number:
            EVENTS.labels(outcome).inc(number)
