"""The entry of the delivery: takes events from the capture."""

from __future__ import annotations

import atexit
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Condition, Thread
from weakref import WeakSet

from headwater.capture.delivery.adoption import adopt_sessions
from headwater.capture.delivery.forwarder import DeliveryCounts, Forwarder
from headwater.capture.delivery.frames import Frame, frame_of
from headwater.capture.delivery.journal import SpoolJournal, spool_unwritable_message
from headwater.capture.delivery.notices import Notices, Warn, log_warning
from headwater.capture.delivery.session import Session
from headwater.capture.delivery.sink import EventSink
from headwater.errors import HeadwaterError, shorten

DEFAULT_LIMIT = 256 * 2**20
DEFAULT_MEMORY = 16 * 2**20
AT_EXIT = 3.0
"""Seconds that sinks that do not answer may delay the end of a process."""
_MIN_JOIN_SECONDS = 0.2


class Delivery:
    """Takes events from the job and brings them to every sink, each in its own time.

    Never an exception, never a wait for a sink: a fault costs one warning. An event is in the spool, a folder that
    several processes may share, before ``send`` returns, and stays there until every sink has it. What a process could
    not deliver, because it ended or was killed, is delivered by the next one that uses the folder with the same sink;
    each run that a killed process had begun and not ended gets a FAIL.

    **In order, and none twice.** Each sink gets the events of a process in the order in which they were sent. An event
    is offered again only if it was not acknowledged. If a process is killed after a sink took events and before that
    was noted, then

    - the store gets them again and finds that it has them: nothing changes;
    - the JSONL file is compared with what was to be appended, and only what is missing is appended: each line is there
      once, also when other processes write the same file;
    - an HTTP endpoint may get one event twice: the one that was under way. The same holds where a connection breaks
      after the server took the event and before we read its answer;
    - the console may show the last batch twice.

    After a power cut, which can undo what was written but not yet on disk, events may be lost or sent twice.

    **Bounded.** The spool holds ``limit`` bytes for all processes together. Where it is full or cannot be written, up
    to ``memory`` bytes of events are held in memory, for the sinks that work; what is too much is dropped and counted.
    """

    def __init__(
        self,
        sinks: Sequence[EventSink],
        spool: Path,
        *,
        limit: int = DEFAULT_LIMIT,
        memory: int = DEFAULT_MEMORY,
        warn: Warn = log_warning,
        make_frame: Callable[[dict[str, object]], Frame] = frame_of,
    ) -> None:
        """``make_frame`` makes the spool frame of an event: the place to redact it."""
        names = [sink.name for sink in sinks]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise HeadwaterError(f"Events would be sent twice to {', '.join(map(shorten, twice))}.")
        self._pid = os.getpid()
        self._warn = warn
        self._make_frame = make_frame
        self._spool = Path(os.path.abspath(spool))
        self._state = Condition()
        self._notices = Notices(warn)
        self._dropped = 0
        self._closed = False
        self._adopted: list[Session] | None = None
        self._own = self._begin(names)
        self._journal = SpoolJournal(self._own, self._spool, limit=limit, memory=memory, notices=self._notices)
        self._forwarders = [
            Forwarder(sink, self._spool, self._state, self._sessions, self._passed, self._notices) for sink in sinks
        ]
        self._running = 0
        self._threads: list[Thread] = []
        _deliveries.add(self)
        atexit.register(self._at_exit)
        self._start_threads()

    def send(self, event: dict[str, object]) -> None:
        """Never raises. When it returns, the event is in the spool, or counted as dropped."""
        try:
            if self._forked:
                self._drop("fork", "This process was forked from one that sends events; it sends none itself.")
            elif self._closed:
                self._drop("closed", "Events are dropped, because their delivery is closed.")
            elif self._forwarders:
                self._append(self._make_frame(event))
        except Exception as error:  # whatever it is, the job must not notice
            self._drop("send", f"An event is dropped: {type(error).__name__}: {error}")

    def fail_open_runs(self) -> None:
        """Send a FAIL for each run that has started and not ended: for a process that ends before its runs."""
        if self._forked or self._closed:
            return
        try:
            for frame in self._journal.failures():
                self._append(frame)
        except Exception as error:  # whatever it is, the job must not notice
            self._notices.warn_once("send", f"Open runs are left open: {type(error).__name__}: {error}")

    def flush(self, timeout: float) -> bool:
        """Whether nothing is waiting any more, after at most ``timeout`` seconds. Sinks that are down are retried at
        once."""
        if self._forked:
            return False
        with self._state:
            self._hurry()
            return self._state.wait_for(self._all_delivered, timeout)

    def close(self, timeout: float) -> None:
        """Flush and stop. What cannot be delivered stays in the spool; a sink that stays down is not waited for.

        Nothing is sent about open runs: they may go on without capture. See :meth:`fail_open_runs`.
        """
        if self._forked:
            return
        deadline = time.monotonic() + timeout
        with self._state:
            first, self._closed = not self._closed, True
            if first:
                self._flush_before_closing(deadline)
        if first:
            self._journal.close()
        with self._state:
            for forwarder in self._forwarders:
                forwarder.stop()
            self._state.notify_all()
        for thread in self._threads:
            # A thread that a sink does not let go is left behind, and with it the log's lock: as long as it may
            # still deliver, nobody else must.
            thread.join(max(deadline - time.monotonic(), _MIN_JOIN_SECONDS))
        with self._state:
            self._finish_if_all_stopped()
        atexit.unregister(self._at_exit)
        self._report()

    @property
    def counts(self) -> dict[str, DeliveryCounts]:
        """The number of events by state, for each sink, in this process."""
        with self._state:
            return {forwarder.name: self._counts(forwarder) for forwarder in self._forwarders}

    # -- the state --------------------------------------------------------------------------------

    def _sessions(self) -> list[Session] | None:
        """In the order of delivery; None while the logs of other processes are being read."""
        return None if self._adopted is None else [*self._adopted, self._own]

    def _all_delivered(self) -> bool:
        return all(forwarder.waiting() == 0 for forwarder in self._forwarders)

    def _passed(self, session: Session) -> None:
        """An adopted session is finished as soon as none of this process's sinks waits for it."""
        ours = [forwarder.name for forwarder in self._forwarders if forwarder.name in session.cursors]
        if self._adopted is not None and session in self._adopted and not any(map(session.waiting, ours)):
            self._adopted.remove(session)
            session.finish()

    def _hurry(self) -> None:
        for forwarder in self._forwarders:
            forwarder.hurry()
        self._state.notify_all()

    def _flush_before_closing(self, deadline: float) -> None:
        was_down = [forwarder for forwarder in self._forwarders if forwarder.down]
        self._hurry()

        def no_more_to_come() -> bool:
            return all(f.waiting() == 0 or (f in was_down and f.has_given_up(deadline)) for f in self._forwarders)

        self._state.wait_for(no_more_to_come, deadline - time.monotonic())

    def _counts(self, forwarder: Forwarder) -> DeliveryCounts:
        cursors = [s.cursors[forwarder.name] for s in self._sessions() or [self._own] if forwarder.name in s.cursors]
        given_up = self._own.given_up(forwarder.name)
        return DeliveryCounts(
            delivered=forwarder.delivered,
            waiting=sum(cursor.waiting for cursor in cursors) - given_up,
            refused=forwarder.refused,
            dropped=sum(cursor.dropped for cursor in cursors) + given_up + self._dropped,
        )

    def _append(self, frame: Frame) -> None:
        self._journal.append(frame)
        with self._state:
            self._state.notify_all()

    def _drop(self, cause: str, message: str) -> None:
        with self._state:
            self._dropped += 1
        self._notices.warn_once(cause, message)

    def _report(self) -> None:
        """One warning per sink about lost or late events, unless there was one already."""
        for forwarder in self._forwarders:
            counts = self.counts[forwarder.name]
            if lost := counts.dropped - self._dropped:
                self._notices.warn_once(
                    f"lost {forwarder.name}",
                    f"Dropped for {forwarder.name}: {_count_text(lost)}. The spool {self._spool} could not keep them "
                    f"({self._journal.why_not}), and the sink did not take them in time.",
                )
            if counts.waiting and not self._notices.in_trouble(forwarder.trouble_cause):
                self._notices.warn_once(
                    f"late {forwarder.name}",
                    f"Not delivered to {forwarder.name} in time: {_count_text(counts.waiting)}, which the next process "
                    f"that uses {self._spool} will deliver.",
                )

    # -- the spool --------------------------------------------------------------------------------

    def _begin(self, names: Sequence[str]) -> Session:
        try:
            return Session.begin(self._spool, names) if names else Session.in_memory(names)
        except OSError as error:
            self._notices.warn_once("spool", spool_unwritable_message(self._spool, error))
            return Session.in_memory(names)

    def _has_other_sessions(self) -> bool:
        try:
            return any(path != self._own.folder and path.is_dir() for path in self._spool.iterdir())
        except OSError:
            return False

    def _adopt(self) -> None:
        sessions: list[Session] = []
        try:
            sessions.extend(
                adopt_sessions(self._spool, [forwarder.name for forwarder in self._forwarders], self._notices)
            )
        except Exception as error:  # whatever it is, our own events go their way
            self._notices.warn_once(
                "adopt", f"The events of other processes in {self._spool} cannot be taken over: {error}"
            )
        finally:
            with self._state:
                self._adopted = sessions
                self._state.notify_all()

    # -- threads and processes --------------------------------------------------------------------

    def _start_threads(self) -> None:
        with self._state:
            try:
                if self._has_other_sessions():
                    self._start("headwater-spool", self._adopt)
                else:
                    self._adopted = []
                for forwarder in self._forwarders:
                    self._start(f"headwater-{shorten(forwarder.name)}", forwarder.run)
            except RuntimeError as error:  # the system gives us no more threads: the spool keeps what comes
                self._notices.warn_once("threads", f"Events wait in {self._spool}: {error}.")

    def _start(self, name: str, task: Callable[[], None]) -> None:
        thread = Thread(target=self._work, args=(task,), name=name, daemon=True)
        thread.start()
        self._threads.append(thread)
        self._running += 1

    def _work(self, task: Callable[[], None]) -> None:
        try:
            task()
        finally:
            with self._state:
                self._running -= 1
                self._finish_if_all_stopped()

    def _finish_if_all_stopped(self) -> None:
        if self._closed and self._running == 0:
            for session in self._sessions() or [self._own]:
                session.finish()

    def _at_exit(self) -> None:
        self.fail_open_runs()
        self.close(AT_EXIT)

    @property
    def _forked(self) -> bool:
        return os.getpid() != self._pid

    def _forget(self) -> None:
        """In a forked child: release what belongs to the parent. Its locks may be held by threads that the child does
        not have."""
        self._state = Condition()
        self._notices = Notices(self._warn)
        for session in [*(self._adopted or ()), self._own]:
            session.forget()


def _count_text(number: int) -> str:
    return f"{number} event" if number == 1 else f"{number} events"


_deliveries: WeakSet[Delivery] = WeakSet()


def _forget_all() -> None:
    for delivery in list(_deliveries):
        delivery._forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
