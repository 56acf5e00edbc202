"""Which events a server stores together, and which of them wait for which."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from threading import Event as Signal
from threading import Lock

from headwater.formats.openlineage.event import Event, read_event
from headwater.model.answers import Receipt
from headwater.model.audit import Actor
from headwater.server.ingest.group_commit import GroupCommit
from headwater.server.ingest.local_ingest import (
    LARGE_BYTES,
    BatchResult,
    IngestResult,
    LocalIngest,
    ReceivedBody,
    event_portions,
)
from headwater.store.access.visibility import EVERYTHING
from headwater.store.fold.shared_commits import SharedCommits, Submission
from headwater.store.store import Store
from tests.support.events import run_event, used

ACTOR = Actor("somebody", "user")
PATIENCE = 60.0


def body(name: str, size: int = 0) -> ReceivedBody:
    return ReceivedBody(json.dumps(described(name, size)).encode(), ACTOR, EVERYTHING)


def described(name: str, size: int) -> dict[str, object]:
    facet = {"_producer": "urn:test", "_schemaURL": "urn:test", "description": "x" * size}
    return run_event(run=name, job=name, outputs=[used("b", facets={"documentation": facet})])


def event(name: str, size: int = 0) -> Event:
    return read_event(json.dumps(described(name, size)))


class HeldIngest:
    """Stores nothing; holds large events until it is told to let them go on."""

    def __init__(self) -> None:
        self.let_go = Signal()
        self.begun = Signal()
        self.most_at_once = 0
        self._at_work = 0
        self._lock = Lock()

    def events(self, bodies: Sequence[ReceivedBody]) -> list[IngestResult]:
        if len(bodies[0].content) > LARGE_BYTES:
            assert len(bodies) == 1
            with self._lock:
                self._at_work += 1
                self.most_at_once = max(self.most_at_once, self._at_work)
            self.begun.set()
            assert self.let_go.wait(PATIENCE)
            with self._lock:
                self._at_work -= 1
        return [Receipt(str(number), False, ()) for number, _ in enumerate(bodies)]

    def batch(self, body: ReceivedBody) -> BatchResult:
        raise NotImplementedError


def test_small_events_overtake_large_ones_of_which_one_is_stored_at_a_time() -> None:
    ingest = HeldIngest()
    commits = GroupCommit(ingest, 2)

    async def send() -> None:
        large = [asyncio.create_task(commits.submit(body(f"large {n}", 2 * LARGE_BYTES))) for n in range(3)]
        assert await asyncio.to_thread(ingest.begun.wait, PATIENCE)
        small = await asyncio.wait_for(
            asyncio.gather(*(commits.submit(body(f"small {n}")) for n in range(20))), PATIENCE
        )
        assert len(small) == 20
        assert not any(task.done() for task in large)
        ingest.let_go.set()
        assert len(await asyncio.wait_for(asyncio.gather(*large), PATIENCE)) == 3

    asyncio.run(send())
    commits.close()
    assert ingest.most_at_once == 1


def test_what_arrived_is_stored_before_it_closes() -> None:
    ingest = HeldIngest()
    commits = GroupCommit(ingest, 2)

    async def send() -> None:
        tasks = [asyncio.create_task(commits.submit(body(f"large {n}", 2 * LARGE_BYTES))) for n in range(3)]
        assert await asyncio.to_thread(ingest.begun.wait, PATIENCE)
        closing = asyncio.create_task(asyncio.to_thread(commits.close))
        ingest.let_go.set()
        await asyncio.wait_for(asyncio.gather(closing, *tasks), PATIENCE)

    asyncio.run(send())


def test_a_list_of_events_is_stored_in_portions(store: Store) -> None:
    events = [described(f"run {number}", 1_000 * (number % 3)) for number in range(1_100)]
    sent = ReceivedBody(json.dumps([*events, {"not": "an event"}]).encode(), ACTOR, EVERYTHING)
    result = LocalIngest(store).batch(sent)
    assert [receipt.duplicate for receipt in result.receipts] == [False] * 1_100
    assert [index for index, _ in result.refused] == [1_100]
    assert len(store.runs(limit=1_000)) == 1_000
    store.verify()


def test_portions_are_bounded_and_in_order() -> None:
    events = list(enumerate(map(event, map(str, range(1_200)), [400_000, 700_000, *([10] * 1_198)])))
    portions = list(event_portions(events))
    assert [pair for portion in portions for pair in portion] == events
    assert [len(portion) for portion in portions] == [1, 500, 500, 199]


def test_a_commit_of_several_submissions_is_bounded() -> None:
    committed: list[list[str | None]] = []

    def commit(submissions: Sequence[Submission]) -> None:
        committed.append([one.events[0].run_id for one in submissions])
        for one in submissions:
            one.receipts = [Receipt("", False, ())]

    sizes = [10, 10, 800_000, 10, 3_000_000, 10, 10]
    sent = [Submission([event(str(number), size)], ACTOR, EVERYTHING) for number, size in enumerate(sizes)]
    SharedCommits(commit).store_all(sent)
    ids = [one.events[0].run_id for one in sent]
    assert committed == [ids[:4], ids[4:5], ids[5:]]
