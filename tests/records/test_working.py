"""The worker: when it loads, what it traces, how it ends, and when it starts the daily compaction."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from datetime import time as time_of_day
from datetime import timedelta

import pytest
from sqlalchemy import delete

from headwater.errors import RecordsError
from headwater.records.archive import single_root
from headwater.records.intake.loading import DeliveryOptions
from headwater.records.intake.worker import Worker, WorkerOptions
from headwater.records.ledger import Records
from headwater.store.records import queue
from headwater.store.schema.record_tables import record_hot
from tests.records.conftest import SECOND, Clock, RecordedProgress
from tests.records.test_queue import poison, request, send

NewWorker = Callable[..., Worker]


def test_it_loads_a_full_batch_at_once_and_a_small_one_after_the_window(
    records: Records, clock: Clock, new_worker: NewWorker
) -> None:
    worker = new_worker(records, window=timedelta(seconds=10), batch=5)
    send(records, 4)
    assert not worker._step(hurry=False)
    clock.on(9.9)
    assert not worker._step(hurry=False)
    clock.on(0.1)
    assert worker._step(hurry=False)
    assert worker.totals.loaded == 4
    records.send([request(f"m{number}") for number in range(12)])
    assert worker._step(hurry=False)  # all that waits, not only so many that it begins
    assert worker.totals.loaded == 16


def test_until_empty_waits_for_retries(
    records: Records, clock: Clock, new_worker: NewWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = new_worker(records, delivery=DeliveryOptions(max_tries=3))
    send(records, 7)
    poison(records)

    def waited(_seconds: float) -> bool:
        clock.on(1)
        return False

    monkeypatch.setattr(worker._stopping, "wait", waited)
    totals = worker.run(until_empty=True)
    assert (totals.loaded, totals.failed, totals.dead) == (7, 3, 1)
    assert records.status().load_waiting == 0


def test_once_loads_only_what_is_waiting(records: Records, new_worker: NewWorker) -> None:
    send(records, 3)
    assert new_worker(records).once().loaded == 3
    assert new_worker(records).once().loaded == 0


def test_it_ends_on_request(durable: Records, new_worker: NewWorker) -> None:
    worker = new_worker(durable, window=timedelta(0))
    thread = threading.Thread(target=worker.run)
    thread.start()
    durable.send(request("n"))
    deadline = time.monotonic() + 120
    while not worker.totals.loaded and time.monotonic() < deadline:
        time.sleep(0.01)
    worker.stop()
    thread.join(timeout=120)
    assert not thread.is_alive()
    assert worker.totals.loaded == 1


def test_a_root_on_the_trace_queue_is_archived_with_all_earlier_records(
    records: Records, new_worker: NewWorker
) -> None:
    send(records, 3)
    records.enqueue_trace("r")
    records.send(request("late"))
    totals = new_worker(records, window=timedelta(hours=1), batch=1_000).once()
    assert (totals.loaded, totals.traced) == (4, 1)
    status = records.status()
    assert (status.archived, status.trace_waiting) == (4, 0)


def test_earlier_records_are_loaded_before_a_trace(records: Records, new_worker: NewWorker) -> None:
    send(records, 3)
    records.enqueue_trace("r")
    records.send(request("late"))
    worker = new_worker(records, window=timedelta(hours=1), batch=1_000)
    assert worker._trace()
    assert records.status().archived == 3
    assert records.status().load_waiting == 1


def test_an_unknown_root_becomes_a_dead_letter(records: Records, clock: Clock, new_worker: NewWorker) -> None:
    records.enqueue_trace("nobody")
    worker = new_worker(records, delivery=DeliveryOptions(max_tries=2))
    worker.once()
    assert records.dead_letters() == []
    clock.on(31)
    worker.once()
    (letter,) = records.dead_letters()
    assert (letter.kind, letter.body, letter.tries) == ("trace", {"root_id": "nobody"}, 2)
    assert letter.reason == "root 'nobody' has no records"
    send(records, 1)
    records.send(request("n", root="nobody"))
    records.replay()
    assert worker.once().traced == 1


def test_without_pyarrow_records_are_loaded_and_a_trace_names_pyarrow(
    records: Records, new_worker: NewWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.compute", None)
    send(records, 3)
    records.enqueue_trace("r")
    totals = new_worker(records, delivery=DeliveryOptions(max_tries=1)).once()
    assert (totals.loaded, totals.dead) == (3, 1)
    assert "pip install pyarrow numpy" in records.dead_letters()[0].reason
    assert len(records.find()) == 3
    with pytest.raises(RecordsError, match="need pyarrow"):
        records.trace("r")


def test_a_message_without_a_root_is_invalid(records: Records, new_worker: NewWorker) -> None:
    with records.database.write() as conn:
        queue.put(conn, queue.TRACE, [["r"], {"root_id": ""}], records._now())
    worker = new_worker(records, delivery=DeliveryOptions(max_tries=1))
    worker.once()
    worker.once()
    assert [letter.reason for letter in records.dead_letters()] == ["the message has no root_id"] * 2


def test_a_long_trace_keeps_its_message(
    durable: Records, new_worker: NewWorker, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    """Longer than the visibility timeout: the message stays hidden for as long as it takes."""
    send(durable, 3)
    durable.enqueue_trace("r")
    real, real_extend = single_root.archive_root, queue.extend
    begun, extended = threading.Event(), threading.Semaphore(0)

    def extend(*arguments: object) -> None:
        real_extend(*arguments)  # type: ignore[arg-type]
        extended.release()

    def slow(*told: object, **more: object) -> int:
        begun.set()
        for _ in range(10):
            # Time stands still until the message is hidden for longer, from now on, however busy this machine is.
            while extended.acquire(blocking=False):
                pass
            assert extended.acquire(timeout=120)
            clock.on(0.03)
        return real(*told, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(single_root, "archive_root", slow)
    monkeypatch.setattr(queue, "extend", extend)
    worker = new_worker(durable, delivery=DeliveryOptions(visibility=SECOND // 10))
    thread = threading.Thread(target=worker._trace)
    thread.start()
    assert begun.wait(120)
    others = []
    while thread.is_alive():
        others.append(new_worker(durable, delivery=DeliveryOptions(visibility=SECOND // 10))._trace())
        time.sleep(0.02)
    thread.join()
    assert (worker.totals.traced, set(others)) == (1, {False})


class RecordingCompaction:
    """Replaces Spark: what a worker calls at the end of the day."""

    def __init__(self, fails: bool = False) -> None:
        self.times = 0
        self.fails = fails

    def __call__(self) -> str:
        self.times += 1
        if self.fails:
            raise ImportError("pyspark is not installed")
        return "compacted 3 records"


def due(records: Records, compacted: RecordingCompaction, progress: RecordedProgress) -> Worker:
    return records.worker(WorkerOptions(compact_at=time_of_day(1)), progress, compacted)


def step(worker: Worker) -> None:
    worker._compact_when_due()
    if worker._compacting is not None:
        worker._compacting.join()


def test_the_day_is_compacted_once_at_its_time(records: Records, clock: Clock, progress: RecordedProgress) -> None:
    compacted = RecordingCompaction()
    worker = due(records, compacted, progress)
    send(records, 3)
    worker._load(100)
    step(worker)  # it is noon, and all there is is of today
    assert compacted.times == 0
    clock.on(12 * 3600)
    step(worker)  # midnight: the day is over, but it is not one o'clock
    assert compacted.times == 0
    clock.on(3600)
    step(worker)
    step(worker)
    assert (compacted.times, progress.lines) == (1, ["compacted 3 records"])
    clock.on(24 * 3600)
    step(worker)
    assert compacted.times == 2  # the stand-in has archived nothing


def test_a_failed_compaction_is_reported_and_nothing_is_lost(
    records: Records, clock: Clock, progress: RecordedProgress
) -> None:
    compacted = RecordingCompaction(fails=True)
    worker = due(records, compacted, progress)
    send(records, 3)
    worker._load(100)
    clock.on(48 * 3600)
    step(worker)
    step(worker)
    assert (compacted.times, progress.lines) == (1, ["The daily compaction failed: pyspark is not installed"])
    assert records.archive.expire() == 0
    assert records.status().hot == 3


def make_expirable(worker: Worker) -> int:
    worker._expire_when_due()
    if worker._expiring is not None:
        worker._expiring.join()
    return worker.totals.expired


def test_archived_records_expire_without_a_compaction(
    records: Records, clock: Clock, progress: RecordedProgress
) -> None:
    compacted = RecordingCompaction()
    worker = due(records, compacted, progress)
    send(records, 3)
    records.enqueue_trace("r")
    worker.once()
    records.send(request("unarchived"))
    worker._load(100)
    clock.on(23 * 3600)
    assert make_expirable(worker) == 0
    clock.on(1800)
    assert make_expirable(worker) == 0  # it was tried half an hour ago
    clock.on(48 * 3600)
    assert make_expirable(worker) == 3
    assert [one.record.node_id for one in records.find() if not one.archived] == ["unarchived"]
    with records.database.write() as conn:
        conn.execute(delete(record_hot))
    step(worker)
    assert compacted.times == 0  # and nothing else would have let them go


def test_a_worker_expires_records_while_it_runs(durable: Records, clock: Clock, new_worker: NewWorker) -> None:
    send(durable, 3)
    durable.enqueue_trace("r")
    new_worker(durable).once()
    clock.on(25 * 3600)
    worker = new_worker(durable)
    thread = threading.Thread(target=worker.run)
    thread.start()
    deadline = time.monotonic() + 120
    while worker.totals.expired < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    worker.stop()
    thread.join(timeout=120)
    assert (worker.totals.expired, durable.status().hot) == (3, 0)
