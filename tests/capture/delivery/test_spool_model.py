"""The spool against a list: whatever is appended, acknowledged, rotated, crashed and taken over, in whatever order."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from headwater.capture.delivery.frames import frame_of
from headwater.capture.delivery.journal import SpoolJournal
from headwater.capture.delivery.lock import Lock
from headwater.capture.delivery.notices import Notices
from headwater.capture.delivery.segments import FileSegment
from headwater.capture.delivery.session import LOCK, Session
from tests.capture.delivery.watching import numbered
from tests.support.events import run_event, run_id

SINKS = ("a", "b")
PLENTY = 2**30


class Log:
    """What the model knows of one log."""

    def __init__(self) -> None:
        self.events: list[int | str] = []
        """Numbers of ordinary events, and `kind run` for those of runs."""
        self.in_memory: set[int | str] = set()
        self.passed = dict.fromkeys(SINKS, 0)
        self.open: list[str] = []

    def crash(self) -> None:
        """What was in memory is gone; what a sink had of it, it has."""
        for sink in SINKS:
            self.passed[sink] = sum(event not in self.in_memory for event in self.events[: self.passed[sink]])
        self.events = [event for event in self.events if event not in self.in_memory]
        self.in_memory = set()
        self.events += [f"FAIL {run}" for run in self.open]
        self.open = []


class Spool(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.count = 0
        self.sessions: list[Session] = []
        self.logs: list[Log] = []

    @initialize()
    def begin(self) -> None:
        session = Session.begin(self.folder, SINKS)
        self.journal = SpoolJournal(session, self.folder, limit=PLENTY, memory=PLENTY, notices=Notices(lambda _: None))
        self.journal._segment_size = 700  # so that two or three events fill one
        self.sessions.append(session)
        self.logs.append(Log())

    # -- writing ----------------------------------------------------------------------------------

    @rule(size=st.integers(0, 900))
    def append(self, size: int) -> None:
        self.count += 1
        self.journal.append(frame_of(numbered(self.count, size=size)))
        self.logs[-1].events.append(self.count)

    @rule(size=st.integers(0, 900))
    def append_without_room(self, size: int) -> None:
        self.journal._limit = 0
        self.append(size)
        self.logs[-1].in_memory.add(self.count)
        self.journal._limit, self.journal._disk_again_at = PLENTY, 0

    @rule()
    def start(self) -> None:
        self.count += 1
        run = str(self.count)
        self.journal.append(frame_of(run_event("START", run=run)))
        self.logs[-1].events.append(f"START {run_id(run)}")
        self.logs[-1].open.append(run_id(run))

    @precondition(lambda self: self.logs[-1].open)
    @rule(which=st.integers(0, 100), kind=st.sampled_from(["COMPLETE", "FAIL", "ABORT"]))
    def end(self, which: int, kind: str) -> None:
        run = self.logs[-1].open.pop(which % len(self.logs[-1].open))
        self.journal.append(frame_of(run_event(kind) | {"run": {"runId": run}}))
        self.logs[-1].events.append(f"{kind} {run}")

    # -- reading ----------------------------------------------------------------------------------

    @rule(sink=st.sampled_from(SINKS), most=st.integers(1, 5), acknowledged=st.booleans())
    def deliver(self, sink: str, most: int, acknowledged: bool) -> None:
        for session, log in zip(self.sessions, self.logs, strict=True):
            if session.waiting(sink) == 0:
                continue
            batch = session.read(sink, most)
            done = log.passed[sink]
            told = [tell(event) for event in batch.events]
            assert told == log.events[done : done + len(told)]
            if acknowledged:
                session.acknowledge(sink, batch)
                log.passed[sink] += len(told)
            return

    @rule(sink=st.sampled_from(SINKS))
    def deliver_everything(self, sink: str) -> None:
        before = -1
        while (left := sum(session.waiting(sink) for session in self.sessions)) != before:
            before = left
            self.deliver(sink, 100, True)
            self.deliver(sink, 100, True)  # a batch may end with notes and bring no event
        assert left == 0

    # -- dying ------------------------------------------------------------------------------------

    @rule(torn=st.binary(max_size=30))
    def crash(self, torn: bytes) -> None:
        """All of it at once, perhaps in the middle of a line; then somebody comes and takes over."""
        for session in self.sessions:
            session.forget()
        if logs := sorted((self.sessions[-1].folder or self.folder).glob("*.log")):
            with logs[-1].open("ab") as log:
                log.write(torn.replace(b"\n", b""))
        folders = [session.folder for session in self.sessions]
        models, self.sessions, self.logs = self.logs, [], []
        for folder, model in zip(folders, models, strict=True):
            assert folder is not None
            lock = Lock.take(folder / LOCK)
            assert lock is not None
            session, open_runs, damaged = Session.take_over(folder, lock)
            assert damaged == 0
            failures = open_runs.failures()
            assert [frame.run_id for frame in failures] == model.open
            session.append_late(failures)
            model.crash()
            self.sessions.append(session)
            self.logs.append(model)
        self.begin()

    # -- always -----------------------------------------------------------------------------------

    @invariant()
    def counts_are_right(self) -> None:
        for session, log in zip(self.sessions, self.logs, strict=True):
            for sink in SINKS:
                assert session.waiting(sink) == len(log.events) - log.passed[sink]

    @invariant()
    def space_is_given_back(self) -> None:
        for session in self.sessions:
            assert session.folder is not None
            files = [segment for segment in session.segments if isinstance(segment, FileSegment)]
            assert sorted(session.folder.glob("*.log")) == [segment.path for segment in files]
            done = [segment for segment in files[:-1] if session.passed_by_all(segment)]
            assert done == []

    def teardown(self) -> None:
        for session, log in zip(self.sessions, self.logs, strict=True):
            session.finish()
            assert session.folder is not None
            left = any(event not in log.in_memory for sink in SINKS for event in log.events[log.passed[sink] :])
            assert session.folder.exists() == left
        shutil.rmtree(self.folder)


def tell(body: bytes) -> int | str:
    event = json.loads(body)
    if "number" in event:
        return int(event["number"])
    return f"{event['eventType']} {event['run']['runId']}"


TestSpool = Spool.TestCase
TestSpool.settings = settings(max_examples=20, stateful_step_count=40, deadline=None)


class ManySpools(Spool):
    """The same machine, for more examples."""


TestManySpools = pytest.mark.long(ManySpools.TestCase)
TestManySpools.settings = settings(max_examples=200, stateful_step_count=40, deadline=None)
