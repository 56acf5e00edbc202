"""The worker: loads what waits, traces what is asked for, lets go what is archived and past its time, and has the day
compacted when its time has come.

Any number of them may run, on one machine or several. Each does one thing after the other, and ends between two.
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
_AT_ONCE = 5_000
"""So many at most in one transaction: enough that its commit costs nothing, few enough that others get their turn."""
_LOOK_AGAIN = 0.25
"""Seconds between two looks at a queue that has nothing to do."""
_EXPIRE_EVERY = 3600 * _SECOND
"""To find what is due may take a look at every hot row."""


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """What a worker is told. It loads when ``batch`` records wait, or the oldest of them has waited for ``window``."""

    window: timedelta = timedelta(minutes=1)
    batch: int = 100
    terms: DeliveryOptions = field(default_factory=DeliveryOptions)
    compact_at: time | None = time(1)


@dataclass(slots=True)
class WorkerTotals:
    """What it has done so far."""

    loaded: int = 0
    traced: int = 0
    failed: int = 0
    dead: int = 0
    compactions: int = 0
    expired: int = 0


class WorkerObserver(Protocol):
    """Told as things happen."""

    def progress(self, tally: WorkerTotals) -> None: ...
    def said(self, line: str) -> None: ...


class Worker:
    """``compact`` does the day's compaction, and answers with a line on it."""

    def __init__(
        self,
        database: Database,
        archive: Archive,
        working: WorkerOptions,
        *,
        now: Callable[[], int],
        watching: WorkerObserver,
        compact: Callable[[], str],
    ) -> None:
        self.tally = WorkerTotals()
        self._database = database
        self._archive = archive
        self._working = working
        self._terms = working.terms
        self._now = now
        self._watching = watching
        self._compact = compact
        self._loader = QueueLoader(database, working.terms, now)
        self._stopping = threading.Event()
        self._compacting: threading.Thread | None = None
        self._tried = 0
        self._expiring: threading.Thread | None = None
        self._expired_at: int | None = None

    def stop(self) -> None:
        """End after what is at hand. May be called by a signal."""
        self._stopping.set()

    def run(self, *, until_empty: bool = False) -> WorkerTotals:
        """Work until stopped or, if told so, until the queue has nothing left, not even what is to be tried again."""
        while not self._stopping.is_set():
            if not until_empty:
                self._expire_when_due()
                self._compact_when_due()
            if self._step(hurry=until_empty):
                continue
            if until_empty and self._is_empty():
                break
            self._stopping.wait(_LOOK_AGAIN)
        return self.tally

    def once(self) -> WorkerTotals:
        """Load what waits, as one batch, and trace one root if one is asked for."""
        self._load(_AT_ONCE)
        self._trace()
        return self.tally

    def _step(self, *, hurry: bool) -> bool:
        """Whether there was anything to do."""
        traced = self._trace()
        with self._database.read() as conn:
            waiting = queue.waiting(conn, queue.LOAD, self._now(), self._working.batch)
        if not waiting.count or waiting.oldest is None:
            return traced
        waited = self._now() - waiting.oldest
        due = waiting.count >= self._working.batch or waited >= self._working.window / timedelta(microseconds=1)
        return (self._load(_AT_ONCE) if due or hurry else False) or traced

    def _load(self, most: int, before: int | None = None) -> bool:
        done = self._loader.load(most, before=before)
        self.tally.loaded += done.loaded
        self.tally.failed += done.failed
        self.tally.dead += done.dead
        if done.taken:
            self._watching.progress(self.tally)
        return done.taken > 0

    def _trace(self) -> bool:
        token = uuid4().hex
        with self._database.read() as conn:
            if not queue.waiting(conn, queue.TRACE, self._now(), 1).count:
                return False
        messages, hopeless = take_messages(self._database, self._terms, queue.TRACE, token, self._now(), 1)
        for message in messages:
            with self._kept(message, token):
                self._trace_one(message, token)
        self.tally.failed += hopeless
        self.tally.dead += hopeless
        self._watching.progress(self.tally)
        return bool(messages or hopeless)

    def _trace_one(self, message: QueueMessage, token: str) -> None:
        while self._load(_AT_ONCE, before=message.id):
            pass  # what was sent before a trace was asked for belongs to it

        def finish(conn: Transaction) -> None:
            if not queue.held_ids(conn, [message.id], token):
                raise _Lost
            queue.finish(conn, [message.id])

        try:
            root_id = _root_of(message)
            require_pyarrow()
            from headwater.records.archive.single_root import archive_root

            archive_root(self._database, self._archive, root_id, now=self._now, within=finish)
            self.tally.traced += 1
        except _Lost:
            return  # another worker took it over, and will do the same
        except (HeadwaterError, OSError, ValueError) as error:
            reason = f"root '{error.asked}' has no records" if isinstance(error, UnknownRoot) else str(error)
            with self._database.write() as conn:
                if queue.held_ids(conn, [message.id], token):
                    self.tally.failed += 1
                    self.tally.dead += fail_messages(conn, self._terms, [(message, reason)], self._now())

    @contextmanager
    def _kept(self, message: QueueMessage, token: str) -> Iterator[None]:
        """Keep a message hidden for as long as it is worked on, which for a large root may be long."""
        done = threading.Event()

        def extend() -> None:
            # A store that is gone is told of by whoever works with it; the message shows again by itself.
            with suppress(StoreError):
                while not done.wait(self._terms.visibility / _SECOND / 3):
                    with self._database.write(alone=False) as conn:
                        queue.extend(conn, [message.id], token, self._now() + self._terms.visibility)

        keeper = threading.Thread(target=extend)
        keeper.start()
        try:
            yield
        finally:
            done.set()
            keeper.join()

    def _is_empty(self) -> bool:
        with self._database.read() as conn:
            return queue.is_empty(conn)

    def _expire_when_due(self) -> None:
        """By the clock, and not with the compactions alone: on many a day there is nothing to compact."""
        now = self._now()
        if self._expired_at is not None and now < self._expired_at + _EXPIRE_EVERY:
            return
        if self._expiring is not None and self._expiring.is_alive():
            return
        self._expired_at = now
        self._expiring = threading.Thread(target=self._expire, daemon=True)
        self._expiring.start()

    def _expire(self) -> None:
        try:
            self.tally.expired += self._archive.expire()
        except StoreError as error:
            self._watching.said(f"Nothing has expired: {error}")

    def _due(self) -> int:
        """When the last compaction was due."""
        now = from_micros(self._now())
        at = self._working.compact_at or time(0)
        due = now.replace(hour=at.hour, minute=at.minute, second=0, microsecond=0)
        return to_micros(due if due <= now else due - timedelta(days=1))

    def _compact_when_due(self) -> None:
        if self._working.compact_at is None or self._tried >= self._due():
            return
        if self._compacting is not None and self._compacting.is_alive():
            return
        self._tried = self._due()
        latest = next((one for one in self._archive.history(10) if one.kind == "compaction"), None)
        if latest is not None and to_micros(latest.finished_at) >= self._tried:
            return  # another worker was quicker
        today = from_micros(self._now()).date()
        if not any(day < today for day in self._archive.unarchived_days(self._archive.watermark())):
            return
        # Beside the loading, which must not wait for Spark. A commit is whole or not at all, so it may end with us.
        self._compacting = threading.Thread(target=self._compact_day, daemon=True)
        self._compacting.start()

    def _compact_day(self) -> None:
        try:
            self._watching.said(self._compact())
            self.tally.compactions += 1
        except Exception as error:
            # Nothing is lost: what was not archived stays hot, and the next day tries again.
            self._watching.said(f"The day was not compacted: {error}")


class _Lost(Exception):
    """The message is no longer ours."""


def _root_of(message: QueueMessage) -> str:
    root_id = message.body.get("root_id") if isinstance(message.body, dict) else None
    if not isinstance(root_id, str) or not root_id:
        raise ValueError("the message names no root_id")
    return root_id
