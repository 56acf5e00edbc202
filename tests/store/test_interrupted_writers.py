"""A caller that is interrupted while it waits for the lock must not keep it."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from types import FrameType

import pytest

from headwater.store.access.visibility import EVERYTHING
from headwater.store.fold.shared_commits import Submission
from headwater.store.store import Store
from tests.store.short_answers import row_counts
from tests.support.events import run_event


class Interrupted(Exception):
    pass


@pytest.fixture
def alarm() -> Iterator[Callable[[float], object]]:
    """Interrupts the main thread, wherever it is, after so many seconds."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGALRM, interrupt)
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("others", [0, 3])
def test_other_writers_continue(store: Store, others: int, alarm: Callable[[float], object]) -> None:
    """The first commit is delayed; we wait behind it, are interrupted, and others wait behind us."""
    at_work, gate = Event(), Event()
    commit = store._commits._commit

    def slow(batch: Sequence[Submission]) -> None:
        at_work.set()
        assert gate.wait(30)
        commit(batch)

    store._commits._commit = slow
    with ThreadPoolExecutor(5) as pool:
        first = pool.submit(store.ingest, run_event(run="first"))
        assert at_work.wait(30)
        alarm(0.2)
        with pytest.raises(Interrupted):
            store.ingest(run_event(run="interrupted"))
        behind = [pool.submit(store.ingest, run_event(run=f"behind {i}")) for i in range(others)]
        gate.set()
        last = pool.submit(store.ingest, run_event(run="last"))
        for waiting in (first, *behind, last):
            assert not waiting.result(timeout=30).duplicate
    assert row_counts(store)["event"] == store.verify()[0] == 2 + others


def test_the_turn_is_passed_on_when_it_was_just_given(store: Store) -> None:
    """The worst moment: we have been called to lead, and are interrupted before we do."""
    commits = store._commits
    queue = [Submission([], store._actor, EVERYTHING) for _ in range(3)]
    with commits._mutex:
        commits._waiting.extend(queue)
        commits._somebody_commits = True
    commits._appoint()
    assert [one.your_turn.is_set() for one in queue] == [True, False, False]
    commits._leave(queue[0])
    assert [one.your_turn.is_set() for one in queue] == [True, True, False]
    commits._leave(queue[2])
    commits._leave(queue[1])
    assert (list(commits._waiting), commits._somebody_commits) == ([], False)
    assert not store.ingest(run_event()).duplicate
