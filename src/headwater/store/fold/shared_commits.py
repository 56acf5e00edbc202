"""Sharing commits between the threads of a process.

A commit waits for the disk, and a store has one writer at a time, so threads that ingest at once would queue for it.
The thread that has the lock also commits the waiting events of the others: each caller still returns only when its own
events are on disk, and one whose events cannot be stored fails alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from threading import Event as Signal
from threading import Lock

from headwater.formats.openlineage.event import Event
from headwater.model.answers import Receipt
from headwater.model.audit import Actor
from headwater.store.access.visibility import Visibility

_MOST_EVENTS = 256
_MOST_BYTES = 2**20
"""Of one transaction, if it has more than one submission: the time that it takes grows with the bytes of its events."""


class Submission:
    """Events that one caller wants stored together, and what became of them."""

    def __init__(self, events: Sequence[Event], actor: Actor, visibility: Visibility) -> None:
        self.events = events
        self.actor = actor
        self.visibility = visibility
        """What the caller may speak of."""
        self.size = sum(len(event.body) for event in events)
        self.receipts: list[Receipt] | None = None
        self.error: BaseException | None = None
        self.your_turn = Signal()
        """Set when it is settled, or when its caller is to go on for all."""

    @property
    def settled(self) -> bool:
        return self.receipts is not None or self.error is not None

    def result(self) -> list[Receipt]:
        if self.error is not None:
            raise self.error
        assert self.receipts is not None
        return self.receipts


class SharedCommits:
    def __init__(self, commit: Callable[[Sequence[Submission]], None]) -> None:
        """``commit`` stores submissions in one transaction and sets their receipts, or raises and stores none."""
        self._commit = commit
        self._waiting: deque[Submission] = deque()
        self._mutex = Lock()
        self._somebody_commits = False

    def store(self, submission: Submission) -> list[Receipt]:
        self.store_all([submission])
        return submission.result()

    def store_all(self, submissions: Sequence[Submission]) -> None:
        """Of several callers at once: when this returns each is settled, for better or worse."""
        with self._mutex:
            self._waiting.extend(submissions)
            leads, self._somebody_commits = not self._somebody_commits, True
        for submission in submissions:
            if not leads:
                try:
                    submission.your_turn.wait()
                except BaseException:  # interrupted: whoever waits behind must not wait for us
                    for ours in submissions:
                        self._leave(ours)
                    raise
            leads = False
            if not submission.settled:
                self._lead()

    def _lead(self) -> None:
        """Commit one batch, which begins with the caller's own events, and pass the lock to a caller that has
        arrived meanwhile."""
        batch = self._next_batch()
        try:
            self._settle(batch)
        finally:
            self._appoint()
            for submission in batch:
                submission.your_turn.set()

    def _appoint(self) -> None:
        with self._mutex:
            self._somebody_commits = bool(self._waiting)
            if self._waiting:
                self._waiting[0].your_turn.set()

    def _leave(self, submission: Submission) -> None:
        with self._mutex:
            if submission not in self._waiting:
                return  # somebody is committing it
            appointed = submission.your_turn.is_set()
            self._waiting.remove(submission)
        if appointed:
            self._appoint()

    def _next_batch(self) -> list[Submission]:
        batch: list[Submission] = []
        events = size = 0
        with self._mutex:
            while (
                self._waiting and events < _MOST_EVENTS and (not batch or size + self._waiting[0].size <= _MOST_BYTES)
            ):
                batch.append(self._waiting.popleft())
                events += len(batch[-1].events)
                size += batch[-1].size
        return batch

    def _settle(self, batch: Sequence[Submission]) -> None:
        try:
            self._commit(batch)
        except BaseException as error:
            if len(batch) == 1:
                batch[0].error = error
                return
            for submission in batch:
                self._settle([submission])
