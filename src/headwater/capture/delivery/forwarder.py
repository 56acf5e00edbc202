"""One thread for each sink: reads the logs in order, offers the events, and waits while the sink is down."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Condition

from headwater.capture.delivery.cursor import BEGINNING
from headwater.capture.delivery.notices import Notices
from headwater.capture.delivery.session import Batch, Session
from headwater.capture.delivery.sink import Closeable, EventSink, Resumable, SinkDown, SinkRefused, batch_of

_FIRST_PAUSE = 0.2
_MAX_PAUSE = 30.0
_MAX_DOUBLINGS = 10
_MAX_UNEXPECTED_FAILURES = 5
"""How often one event may make a sink fail unexpectedly before it counts as refused."""


@dataclass(frozen=True)
class DeliveryCounts:
    delivered: int
    waiting: int
    refused: int
    dropped: int


class Forwarder:
    """``state`` guards everything here, and is notified of every change that another thread may wait for."""

    def __init__(
        self,
        sink: EventSink,
        spool: Path,
        state: Condition,
        sessions: Callable[[], Sequence[Session] | None],
        passed: Callable[[Session], None],
        notices: Notices,
    ) -> None:
        """``passed`` is called, with the state held, whenever the sink's cursor has moved in a log."""
        self.name = sink.name
        self.delivered = 0
        self.refused = 0
        self.down = False
        self._sink = sink
        self._spool = spool
        self._state = state
        self._sessions = sessions
        self._passed = passed
        self._notices = notices
        self._stopping = False
        self._pauses = 0
        self._not_before = 0.0
        self._asked_until = 0.0
        self._hurried_at = 0.0
        self._tried_in_vain = False
        self._one_by_one = 0
        self._strikes = 0

    @property
    def trouble_cause(self) -> str:
        """The cause under which the warnings know that the sink is down."""
        return f"down {self.name}"

    # -- with the state held ----------------------------------------------------------------------

    def hurry(self) -> None:
        """Retry at once, unless the sink itself has said when to retry."""
        self._hurried_at = time.monotonic()
        self._tried_in_vain = False
        self._pauses = 0
        self._not_before = self._asked_until

    def stop(self) -> None:
        self._stopping = True

    def has_given_up(self, deadline: float) -> bool:
        """Whether the sink has failed again since :meth:`hurry`, or does not allow a retry in time."""
        return self._tried_in_vain or self._asked_until > deadline

    def waiting(self) -> int | None:
        """None while it is not known yet."""
        sessions = self._sessions()
        if sessions is None:
            return None
        return sum(session.waiting(self.name) for session in sessions if self.name in session.cursors)

    # -- the thread -------------------------------------------------------------------------------

    def run(self) -> None:
        try:
            while (session := self._next_session()) is not None:
                try:
                    self._forward(session)
                except Exception as error:  # an error of Headwater: slow down, warn, go on
                    self._fail(time.monotonic(), f"{type(error).__name__}: {error}", None)
        finally:
            with suppress(Exception):  # it is not needed any more
                if isinstance(self._sink, Closeable):
                    self._sink.close()

    def _next_session(self) -> Session | None:
        """Wait until there is something to deliver; None when it is time to stop."""
        with self._state:
            while not self._stopping:
                pause = self._not_before - time.monotonic()
                if pause > 0:
                    self._state.wait(pause)
                    continue
                for session in self._sessions() or ():
                    if self.name in session.cursors and session.waiting(self.name) > 0:
                        return session
                self._state.wait()
            return None

    def _forward(self, session: Session) -> None:
        began = time.monotonic()
        batch = Batch([], BEGINNING)
        try:
            batch = session.read(self.name, 1 if self._one_by_one else batch_of(self._sink))
            if not batch.events:  # only notes, or nothing is left of it
                self._pass(session, batch)
                return
            if taken := self._taken_before(session, batch):
                batch = session.read(self.name, taken)
            else:
                self._sink.deliver(batch.events)
        except SinkDown as down:
            self._fail(began, str(down), down.retry_after)
        except SinkRefused as refusal:
            self._refuse(session, batch, str(refusal))
        except Exception as error:  # whatever it is, the job must not notice
            self._strike(session, batch, began, f"{type(error).__name__}: {error}")
        else:
            self._succeed(session, batch)

    def _taken_before(self, session: Session, batch: Batch) -> int:
        """How many events of the batch the sink has from an attempt that was interrupted.

        A mark in the cursor says that there was one; otherwise the mark is saved before anything is delivered.
        """
        if not isinstance(self._sink, Resumable):
            return 0
        mark = session.mark(self.name)
        if mark is not None and (taken := self._sink.count_delivered(batch.events, mark)):
            return taken
        mark = self._sink.mark()
        with self._warn_if_unsaved():
            session.keep_mark(self.name, mark)
        return 0

    # -- what became of it ------------------------------------------------------------------------

    def _succeed(self, session: Session, batch: Batch) -> None:
        self._pass(session, batch, delivered=len(batch.events))
        self._recover()

    def _refuse(self, session: Session, batch: Batch, reason: str) -> None:
        if len(batch.events) > 1:  # which of them it is, we find out one by one
            self._one_by_one = len(batch.events)
        else:
            self._skip(session, batch, reason)
            self._recover()

    def _strike(self, session: Session, batch: Batch, began: float, reason: str) -> None:
        """An unexpected failure: of the sink, or because of this one event, which must not block the others forever."""
        self._strikes += 1
        if len(batch.events) == 1 and self._strikes >= _MAX_UNEXPECTED_FAILURES:
            self._strikes = 0
            self._skip(session, batch, reason)
        else:
            self._one_by_one = max(self._one_by_one, len(batch.events))
        self._fail(began, reason, None)

    def _skip(self, session: Session, batch: Batch, reason: str) -> None:
        self._pass(session, batch, refused=1)
        self._notices.warn_once(
            f"refused {self.name}", f"{self.name} refused an event ({reason}). It is skipped; more will be counted."
        )

    def _pass(self, session: Session, batch: Batch, *, delivered: int = 0, refused: int = 0) -> None:
        with self._state:  # together: a thread that sees that nothing waits any more also sees it counted
            with self._warn_if_unsaved():
                session.acknowledge(self.name, batch)
            self.delivered += delivered
            self.refused += refused
            self._one_by_one = max(0, self._one_by_one - len(batch.events))
            self._passed(session)
            self._state.notify_all()

    def _recover(self) -> None:
        with self._state:
            self.down = False
            self._pauses = self._strikes = 0
        self._notices.resolved(self.trouble_cause, f"{self.name} takes events again.")

    def _fail(self, began: float, reason: str, retry_after: float | None) -> None:
        with self._state:
            now = time.monotonic()
            self._asked_until = now + (retry_after or 0.0)
            self._not_before = max(self._asked_until, now + min(_MAX_PAUSE, _FIRST_PAUSE * 2**self._pauses))
            self._pauses = min(self._pauses + 1, _MAX_DOUBLINGS)
            self._tried_in_vain = began >= self._hurried_at
            self.down = True
            self._state.notify_all()
        self._notices.warn_once(
            self.trouble_cause, f"{self.name} takes no events ({reason}). They wait in {self._spool}."
        )

    @contextmanager
    def _warn_if_unsaved(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self._notices.warn_once(
                f"cursor {self.name}",
                f"The position of {self.name} cannot be saved in {self._spool} ({error.strerror}): "
                "if this process is killed now, events may be sent twice.",
            )
