"""kill -9 at any moment: the next process delivers what is left, in order, each event once."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from random import Random
from threading import Event

import pytest

from headwater.capture.delivery import SinkDown, sink_for
from headwater.capture.delivery.jsonl import EventFileSink
from headwater.store.store import Store
from tests.capture.delivery.conftest import Deliver
from tests.capture.delivery.endpoint import Answer, Endpoint
from tests.capture.delivery.process import Process, sink
from tests.capture.delivery.watching import lines, numbered, numbers, soon
from tests.store.short_answers import row_counts

KILLS = 5


def kill_again_and_again(spool: Path, targets: list[str], seed: int, *, pause: float = 0) -> list[tuple[int, int]]:
    """Processes that send, one after another, each killed. The first number and the one after the last, of each."""
    random = Random(seed)
    ranges, first = [], 0
    for _ in range(KILLS):
        end = Process(spool, targets, first=first, pause=pause).kill_within(0.4, random)
        ranges.append((first, end))
        first = (end // 10 + 2) * 10  # the number after the last may have been sent, too
    return ranges


def check(found: list[int], ranges: list[tuple[int, int]]) -> None:
    """Everything that was sent is there, in order, once; of each process perhaps one more, in the midst of a send."""
    expected: list[int] = []
    for first, end in ranges:
        expected += range(first, end + 1 if end in found else end)
    assert found == expected


def without_failures(events: list[bytes]) -> list[bytes]:
    return [event for event in events if json.loads(event).get("eventType") != "FAIL"]


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.long) for seed in (2, 5, 6, 7))])
def test_a_file_has_every_event_once(spool: Path, tmp_path: Path, deliver: Deliver, seed: int) -> None:
    file = tmp_path / "events.jsonl"
    ranges = kill_again_and_again(spool, [file.as_uri()], seed)
    assert deliver(sink_for(file.as_uri())).flush(60)
    check(numbers(without_failures(lines(file))), ranges)
    assert sum(end - first for first, end in ranges) > 100, "they were alive"


def test_several_sinks_at_once(spool: Path, tmp_path: Path, deliver: Deliver, endpoint: Endpoint) -> None:
    """For HTTP the event that was under way may come twice, and no other."""
    file, url = tmp_path / "events.jsonl", f"sqlite:///{tmp_path}/store.db"
    Store(url).close()
    targets = [endpoint.url, file.as_uri(), url]
    ranges = kill_again_and_again(spool, targets, seed=3, pause=0.001)
    delivery = deliver(*map(sink, targets))
    assert delivery.flush(60)
    check(numbers(without_failures(lines(file))), ranges)
    posted = numbers(without_failures(endpoint.taken))
    once = [number for number, _ in groupby(posted)]
    check(once, ranges)
    assert len(posted) - len(once) <= KILLS
    with Store(url) as store:
        assert row_counts(store)["event"] == len(lines(file))
    delivery.close(5)
    assert list(spool.iterdir()) == []


def test_a_sink_that_is_down_all_the_time_gets_everything_in_the_end(spool: Path, deliver: Deliver) -> None:
    endpoint = Endpoint()
    ranges = kill_again_and_again(spool, [endpoint.url], seed=4, pause=0.001)
    with endpoint:
        assert deliver(sink_for(endpoint.url)).flush(60)
        check(numbers(without_failures(endpoint.taken)), ranges)


def test_two_processes_share_a_spool(spool: Path, tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    two = [Process(spool, [file.as_uri()], first=first, count=500) for first in (0, 10_000)]
    for process in two:
        process.wait()
    found = numbers(lines(file))
    assert [number for number in found if number < 10_000] == list(range(500))
    assert [number for number in found if number >= 10_000] == list(range(10_000, 10_500))
    assert list(spool.iterdir()) == []


def test_the_living_are_left_alone(spool: Path, tmp_path: Path, deliver: Deliver) -> None:
    endpoint = Endpoint()
    living = Process(spool, [endpoint.url], count=500)
    mine = deliver(sink_for(endpoint.url))
    with endpoint:
        mine.send(numbered(77_777))
        assert mine.flush(60)
        living.wait()
        found = numbers(endpoint.taken)
    assert sorted(found) == [*range(500), 77_777]
    assert [number for number in found if number < 500] == list(range(500))


def test_an_answer_that_the_process_did_not_live_to_see(spool: Path, deliver: Deliver, endpoint: Endpoint) -> None:
    """HTTP's window, held open on purpose: exactly one event comes twice."""
    endpoint.plan += [Answer(), Answer(), Answer(after=Event())]
    process = Process(spool, [endpoint.url], count=5)
    soon(lambda: len(endpoint.requests) == 3)
    process.kill_within(0, Random(0))
    endpoint.plan.clear()
    assert deliver(sink_for(endpoint.url)).flush(60)
    assert numbers(request.event for request in endpoint.requests) == [0, 1, 2, 2, 3, 4]


def test_the_window_of_the_file_is_closed(spool: Path, tmp_path: Path, deliver: Deliver) -> None:
    """Killed between the write of the file and the move of the cursor, with events that look all the same."""
    file = tmp_path / "events.jsonl"

    class HangsAfterWriting(EventFileSink):
        batch = 3
        hangs, may_go_on = Event(), Event()

        def deliver(self, events: Sequence[bytes]) -> None:
            if self.hangs.is_set():
                raise SinkDown("enough")
            super().deliver(events)
            self.hangs.set()
            self.may_go_on.wait(120)
            raise SinkDown("enough")

    sink = HangsAfterWriting(file)
    delivery = deliver(EventFileSink(file))
    delivery.send(numbered(5))
    assert delivery.flush(60)
    delivery.close(5)
    delivery = deliver(sink)
    for _ in range(10):
        delivery.send(numbered(5))
    assert sink.hangs.wait(60)
    assert 2 <= len(lines(file)) <= 4
    found = Path(shutil.copytree(spool, tmp_path / "found"))
    sink.may_go_on.set()
    assert deliver(EventFileSink(file), at=found).flush(60)
    assert numbers(lines(file)) == [5] * 11
