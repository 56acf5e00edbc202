"""The worker: loads queued records, archives the roots on the trace queue, expires hot records, and starts the daily
compaction.

Any number of workers may run, on one machine or several. Each handles one batch or root after the other, and stops
between two.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import time, timedelta
from typing import Protocol
from uuid import uuid4

from headwater.errors import HeadwaterError, StoreError, UnknownRoot
from headwater.records.archive.archive import Archive, require_pyarrow
from headwater.records.intake.loading import DeliveryOptions, QueueLoader, fail_messages, take_messages
from headwater.store.engine.database import Database, Transaction
from headwater.store.records import queue
from headwater.store.records.queue import QueueMessage
from headwater.store.schema.tables import from_micros, to_micros

_SECOND = 1_000_000
_BATCH = 5_000
"""Messages in one transaction: enough that its commit is cheap, few enough that other writers get their turn."""
_POLL_SECONDS = 0.25
"""Seconds between polls of an empty queue."""
_EXPIRE_INTERVAL = 3600 * _SECOND
"""Finding expired rows may take a scan of all hot rows."""


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """Options of a worker. It loads when ``batch`` records wait, or when the oldest has waited for ``window``."""

    window: timedelta = timedelta(minutes=1)
    batch: int = 100
    delivery: DeliveryOptions = field(default_factory=DeliveryOptions)
    compact_at: time | None = time(1)


@dataclass(slots=True)
class WorkerTotals:
    """Counts of what a worker has done."""

    loaded: int = 0
    traced: int = 0
    failed: int = 0
    dead: int = 0
    compactions: int = 0
    expired: int = 0


class WorkerObserver(Protocol):
    """Receives progress and messages while the worker runs."""

    def progress(self, totals: WorkerTotals) -> None: ...
    def message(self, line: str) -> None: ...


class Worker:
    """``compact`` runs the daily compaction, and returns a line for the log."""

    def __init__(
        self,
        database: Database,
        archive: Archive,
        options: WorkerOptions,
        *,
        now: Callable[[], int],
        observer: WorkerObserver,
        compact: Callable[[], str],
    ) -> None:
        self.totals = WorkerTotals()
        self._database = database
        self._archive = archive
        self._options = options
        self._delivery = options.delivery
        self._now = now
        self._observer = observer
        self._compact = compact
        self._loader = QueueLoader(database, options.delivery, now)
        self._stopping = threading.Event()
        self._compacting: threading.Thread | None = None
        self._compaction_tried_at = 0
        self._expiring: threading.Thread | None = None
        self._expired_at: int | None = None

    def stop(self) -> None:
        """Stop after the current batch or root. A signal handler may call this."""
        self._stopping.set()

    def run(self, *, until_empty: bool = False) -> WorkerTotals:
        """Run until stopped or, with ``until_empty``, until the queue has no messages, not even any to be retried."""
        while not self._stopping.is_set():
            if not until_empty:
                self._expire_when_due()
                self._compact_when_due()
            if self._step(hurry=until_empty):
                continue
            if until_empty and self._is_empty():
                break
            self._stopping.wait(_POLL_SECONDS)
        return self.totals

    def once(self) -> WorkerTotals:
        """Load one batch, and archive one root of the trace queue if there is one."""
        self._load(_BATCH)
        self._trace()
        return self.totals

    def _step(self, *, hurry: bool) -> bool:
        """Handle what is due; returns whether there was anything."""
        traced = self._trace()
        with self._database.read() as conn:
            waiting = queue.waiting(conn, queue.LOAD, self._now(), self._options.batch)
        if not waiting.count or waiting.oldest is None:
            return traced
        waited = self._now() - waiting.oldest
        due = waiting.count >= self._options.batch or waited >= self._options.window / timedelta(microseconds=1)
        return (self._load(_BATCH) if due or hurry else False) or traced

    def _load(self, limit: int, before: int | None = None) -> bool:
        result = self._loader.load(limit, before=before)
        self.totals.loaded += result.loaded
        self.totals.failed += result.failed
        self.totals.dead += result.dead
        if result.taken:
            self._observer.progress(self.totals)
        return result.taken > 0

    def _trace(self) -> bool:
        token = uuid4().hex
        with self._database.read() as conn:
            if not queue.waiting(conn, queue.TRACE, self._now(), 1).count:
                return False
        messages, abandoned = take_messages(self._database, self._delivery, queue.TRACE, token, self._now(), 1)
        for message in messages:
            with self._extended_visibility(message, token):
                self._trace_one(message, token)
        self.totals.failed += abandoned
        self.totals.dead += abandoned
        self._observer.progress(self.totals)
        return bool(messages or abandoned)

    def _trace_one(self, message: QueueMessage, token: str) -> None:
        while self._load(_BATCH, before=message.id):
            pass  # records that were sent before the trace was requested belong to it

        def finish(conn: Transaction) -> None:
            if not queue.held_ids(conn, [message.id], token):
                raise _MessageLost
            queue.finish(conn, [message.id])

        try:
            root_id = _root_of(message)
            require_pyarrow()
            from headwater.records.archive.single_root import archive_root

            archive_root(self._database, self._archive, root_id, now=self._now, within=finish)
            self.totals.traced += 1
        except _MessageLost:
            return  # another worker has taken it over, and will do the same
        except (HeadwaterError, OSError, ValueError) as error:
            reason = f"root '{error.asked}' has no records" if isinstance(error, UnknownRoot) else str(error)
            with self._database.write() as conn:
                if queue.held_ids(conn, [message.id], token):
                    self.totals.failed += 1
                    self.totals.dead += fail_messages(conn, self._delivery, [(message, reason)], self._now())

    @contextmanager
    def _extended_visibility(self, message: QueueMessage, token: str) -> Iterator[None]:
        """Extend the visibility timeout of a message while it is handled, which takes long for a large root."""
        done = threading.Event()

        def extend() -> None:
            # If the store fails, the code that works with it reports that; the message becomes visible again by itself.
            with suppress(StoreError):
                while not done.wait(self._delivery.visibility / _SECOND / 3):
                    with self._database.write(alone=False) as conn:
                        queue.extend(conn, [message.id], token, self._now() + self._delivery.visibility)

        extending = threading.Thread(target=extend)
        extending.start()
        try:
            yield
        finally:
            done.set()
            extending.join()

    def _is_empty(self) -> bool:
        with self._database.read() as conn:
            return queue.is_empty(conn)

    def _expire_when_due(self) -> None:
        """Expire hourly, not only with compactions: on many days there is nothing to compact."""
        now = self._now()
        if self._expired_at is not None and now < self._expired_at + _EXPIRE_INTERVAL:
            return
        if self._expiring is not None and self._expiring.is_alive():
            return
        self._expired_at = now
        self._expiring = threading.Thread(target=self._expire, daemon=True)
        self._expiring.start()

    def _expire(self) -> None:
        try:
            self.totals.expired += self._archive.expire()
        except StoreError as error:
            self._observer.message(f"Hot records could not be expired: {error}")

    def _last_due(self) -> int:
        """The time at which the last compaction was due."""
        now = from_micros(self._now())
        at = self._options.compact_at or time(0)
        due = now.replace(hour=at.hour, minute=at.minute, second=0, microsecond=0)
        return to_micros(due if due <= now else due - timedelta(days=1))

    def _compact_when_due(self) -> None:
        if self._options.compact_at is None or self._compaction_tried_at >= self._last_due():
            return
        if self._compacting is not None and self._compacting.is_alive():
            return
        self._compaction_tried_at = self._last_due()
        latest = next((commit for commit in self._archive.history(10) if commit.kind == "compaction"), None)
        if latest is not None and to_micros(latest.finished_at) >= self._compaction_tried_at:
            return  # another worker has done it
        today = from_micros(self._now()).date()
        if not any(day < today for day in self._archive.unarchived_days(self._archive.watermark())):
            return
        # In a thread: loading must not wait for Spark. A commit is atomic, so the thread may end with the process.
        self._compacting = threading.Thread(target=self._compact_day, daemon=True)
        self._compacting.start()

    def _compact_day(self) -> None:
        try:
            self._observer.message(self._compact())
            self.totals.compactions += 1
        except Exception as error:
            # Nothing is lost: records stay hot until they are archived, and the next day tries again.
            self._observer.message(f"The daily compaction failed: {error}")


class _MessageLost(Exception):
    """Another worker has taken the message."""


def _root_of(message: QueueMessage) -> str:
    root_id = message.body.get("root_id") if isinstance(message.body, dict) else None
    if not isinstance(root_id, str) or not root_id:
        raise ValueError("the message has no root_id")
    return root_id
