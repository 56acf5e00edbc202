"""Concurrent writers: nothing is lost or duplicated, and the graph equals that of sequential writes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from sqlalchemy import text

from headwater.errors import HeadwaterError
from headwater.model.audit import Actor
from headwater.store.store import Store
from tests.conftest import ROOT
from tests.oracles.dump import state_of_store
from tests.store.short_answers import links, row_counts
from tests.store.workload import busy_day, share
from tests.support.events import Json, run_event

RUNS, WORKERS = 20, 8
COUNT = text(
    "SELECT count(*) FROM lineage JOIN dataset ON dataset.id = lineage.downstream_id WHERE dataset.name = :name"
)


@pytest.fixture(scope="module")
def written_sequentially() -> Iterator[Store]:
    with Store("memory://") as store:
        for event in busy_day(RUNS):
            store.ingest(event)
        yield store


def check(store: Store, fresh: list[str], expected: Store) -> None:
    events = busy_day(RUNS)
    assert len(fresh) == len(set(fresh)) == len(events), "each event was new to exactly one of its senders"
    counts = row_counts(store)
    assert (counts["event"], counts["audit"]) == (len(events), len(events))
    assert store.verify()[0] == len(events)
    assert state_of_store(store) == state_of_store(expected)
    assert links(store) == links(expected) != set()


def test_every_event_has_several_senders() -> None:
    events = busy_day(RUNS)
    sent = [json.dumps(event) for worker in range(WORKERS) for event in share(events, worker, WORKERS)]
    assert {json.dumps(event) for event in events} == set(sent)
    assert len(sent) > 3 * len(events)


def test_eight_threads_share_a_store(store: Store, written_sequentially: Store) -> None:
    barrier = Barrier(WORKERS)

    def send(worker: int) -> list[str]:
        barrier.wait()
        receipts = [store.ingest(event) for event in share(busy_day(RUNS), worker, WORKERS)]
        return [receipt.digest for receipt in receipts if not receipt.duplicate]

    with ThreadPoolExecutor(WORKERS) as pool:
        fresh = [digest for digests in pool.map(send, range(WORKERS)) for digest in digests]
    check(store, fresh, written_sequentially)


def test_eight_threads_with_a_store_each(durable_url: str, written_sequentially: Store) -> None:
    stores = [Store(durable_url) for _ in range(WORKERS)]
    barrier = Barrier(WORKERS)

    def send(worker: int) -> list[str]:
        barrier.wait()
        events = share(busy_day(RUNS), worker, WORKERS)
        half = len(events) // 2
        receipts = stores[worker].ingest_many(events[:half])
        receipts += [stores[worker].ingest(event) for event in events[half:]]
        return [receipt.digest for receipt in receipts if not receipt.duplicate]

    with ThreadPoolExecutor(WORKERS) as pool:
        fresh = [digest for digests in pool.map(send, range(WORKERS)) for digest in digests]
    check(stores[0], fresh, written_sequentially)
    for store in stores:
        store.close()


@pytest.mark.parametrize("count", [4, pytest.param(WORKERS, marks=pytest.mark.long)])
def test_several_processes(durable_url: str, written_sequentially: Store, count: int) -> None:
    Store(durable_url).close()
    outcome = subprocess.run(
        [sys.executable, "-m", "tests.store.writers", "share", durable_url, str(count), str(RUNS)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert (outcome.returncode, outcome.stderr) == (0, "")
    answers = [json.loads(line) for line in outcome.stdout.splitlines()]
    assert len(answers) == count
    fresh = [digest for answer in answers for digest in answer["fresh"]]
    with Store(durable_url) as store:
        check(store, fresh, written_sequentially)


def test_readers_see_complete_events_during_writes(durable_url: str) -> None:
    """One event writes a pair of outputs: no reader ever sees one without the other."""

    def event(i: int) -> Json:
        return run_event(run=str(i), inputs=[f"source {i}"], outputs=["left", "right"], minute=i)

    with Store(durable_url) as store, ThreadPoolExecutor(4) as pool:
        store.ingest(event(0))
        writing = pool.submit(lambda: [store.ingest(event(i)) for i in range(1, 40)])
        seen = 0
        while not writing.done():
            with store._database.read() as conn:  # one view for both questions
                found = [conn.execute(COUNT, {"name": name}).scalar() for name in ("left", "right")]
            assert found[0] == found[1]
            seen += 1
        writing.result()
        assert seen > 3
        assert store.verify()[0] == 40


def test_a_failing_submission_fails_alone(store: Store) -> None:
    """Threads share commits; a submission that the database refuses must not fail others."""
    with store._database.write() as conn:
        conn.exec_driver_sql(refusal(store._database.is_sqlite))
    barrier = Barrier(WORKERS)

    def send(worker: int) -> list[object]:
        barrier.wait()
        outcomes: list[object] = []
        for i in range(10):
            bad = i % 5 == worker % 5
            event = run_event(
                run=f"{worker} {i}", inputs=["poison" if bad else f"a{i}"], outputs=[f"x{worker}"], minute=i
            )
            try:
                outcomes.append((bad, store.ingest(event).duplicate))
            except HeadwaterError:
                raise
            except Exception as error:
                outcomes.append((bad, "injected" in str(error)))
        return outcomes

    with ThreadPoolExecutor(WORKERS) as pool:
        outcomes = [outcome for found in pool.map(send, range(WORKERS)) for outcome in found]
    assert sorted(outcomes, key=repr) == [(False, False)] * 64 + [(True, True)] * 16
    assert row_counts(store)["event"] == store.verify()[0] == 64


def refusal(sqlite: bool) -> str:
    if sqlite:
        return (
            "CREATE TRIGGER poison BEFORE INSERT ON dataset WHEN NEW.name = 'poison' "
            "BEGIN SELECT RAISE(ABORT, 'injected'); END"
        )
    return """
        CREATE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'injected'; END $$;
        CREATE TRIGGER poison BEFORE INSERT ON dataset FOR EACH ROW WHEN (NEW.name = 'poison') EXECUTE FUNCTION poison()
    """


def test_each_thread_is_audited_under_its_own_actor(store: Store) -> None:
    barrier = Barrier(WORKERS)

    def send(worker: int) -> None:
        barrier.wait()
        for i in range(5):
            store.ingest(run_event(run=f"{worker} {i}", job=f"job {worker}"), actor=Actor(f"actor {worker}"))

    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(send, range(WORKERS)))
    entries = store.audit()
    assert len(entries) == 5 * WORKERS
    assert all(entry.details["job"] == f"scheduler/job {entry.actor_id[-1]}" for entry in entries)
    assert store.verify()[0] == 5 * WORKERS


def test_more_readers_than_the_pool_has_connections(durable_url: str) -> None:
    with Store(durable_url) as store:
        store.ingest(run_event(inputs=["a"], outputs=["b"]))
        with ThreadPoolExecutor(40) as pool:
            answers = list(pool.map(lambda _: links(store), range(80)))
        assert answers == [{("a", "b")}] * 80
