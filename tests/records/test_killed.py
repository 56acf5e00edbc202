"""kill -9 of intake and workers at random moments: acknowledged records are hot or archived, exactly once."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from headwater.client import Lineage
from headwater.model.records import key_of_id
from headwater.records.archive import single_root
from headwater.records.archive.files import column_digest, content_digest, trace_digests
from headwater.records.intake.loading import DeliveryOptions
from headwater.records.intake.worker import Worker, WorkerOptions, WorkerTotals
from headwater.records.ledger import Records
from headwater.records.query.reading import archived_records_of_root, records_from_table
from headwater.store.records import hot
from headwater.store.records.hot import RecordFilter
from tests.conftest import ROOT
from tests.records.oracle import NOON

ROOTS = [f"root-{number}" for number in range(6)]
_ = single_root.archive_root  # imported before there are children, who would take their time with it


class Pipe:
    """What a child reports to its parent; also the progress of a worker."""

    def __init__(self, end: int) -> None:
        self._end = end

    def progress(self, totals: WorkerTotals) -> None:
        os.write(self._end, b"worked\n")

    def message(self, line: str) -> None:
        os.write(self._end, f"{line}\n".encode())


def working(records: Records, pipe: Pipe) -> Worker:
    terms = DeliveryOptions(visibility=300_000, max_tries=5)
    return records.worker(WorkerOptions(timedelta(0), 1, terms, compact_at=None), pipe, lambda: "")


def send_records(url: str, archive: str, number: int, pipe: Pipe) -> None:
    chance = random.Random(number)
    with Lineage(url) as lineage:
        for step in range(100_000):
            names = [f"{number}-{step}-{i}" for i in range(chance.randint(1, 60))]
            root = chance.choice(ROOTS)
            requests = [
                {
                    "root_id": root,
                    "parent_id": names[i // 2] if i else root,
                    "action_taken": "STEP",
                    "storage_location": "l",
                    "node_id": name,
                    "recordedAt": NOON.timestamp() + chance.randint(0, 2) * 86_400,
                }
                for i, name in enumerate(names)
            ]
            if step % 5 == 4:
                lineage.records.enqueue_trace(root)
            for node in lineage.records.send(requests).node_ids:
                pipe.message(f"sent {root} {node}")


def work(url: str, archive: str, number: int, pipe: Pipe) -> None:
    with Lineage(url) as lineage:
        working(lineage.records.at(archive), pipe).run()


def child(task: Callable[[str, str, int, Pipe], None], url: str, archive: str, number: int) -> tuple[int, int]:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        try:
            task(url, archive, number, Pipe(writing))
        finally:
            os._exit(1)
    os.close(writing)
    return pid, reading


def killed(url: str, archive: str, rounds: int) -> None:
    """In each round one process sends and two work, and all are killed; returns what they acknowledged."""
    chance = random.Random(rounds)
    for number in range(rounds):
        children = [child(task, url, archive, number) for task in (send_records, work, work)]
        pipes = [os.fdopen(reading, "rb") for _, reading in children]
        heard = [pipes[0].readline() for _ in range(chance.randint(1, 200))]  # so that they have begun
        if number == 0:  # once, a worker too, however slowly it starts
            heard.append(pipes[1].readline())
        for pid, _ in chance.sample(children, 3):
            time.sleep(chance.random() * 0.15)
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        for pipe in pipes:
            heard += pipe.readlines()
            pipe.close()
        print(json.dumps([line.decode().split() for line in heard if line.endswith(b"\n")]), flush=True)


@pytest.mark.parametrize("rounds", [3, pytest.param(120, marks=pytest.mark.long)])
def test_acknowledged_records_are_stored_exactly_once(durable_url: str, tmp_path: Path, rounds: int) -> None:
    """Three are killed in each round."""
    archive = str(tmp_path / "archive")
    told = subprocess.run(
        [sys.executable, "-m", "tests.records.test_killed", durable_url, archive, str(rounds)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=3600,
    )
    assert (told.returncode, told.stderr) == (0, "")
    heard = [words for line in told.stdout.splitlines() for words in json.loads(line)]
    sent = {(words[1], words[2]) for words in heard if words[0] == "sent"}
    assert {words[0] for words in heard} == {"sent", "worked"}
    assert len(sent) > rounds
    with Lineage(durable_url, create=False) as lineage:
        records = lineage.records.at(archive)
        silent = os.open(os.devnull, os.O_WRONLY)
        working(records, Pipe(silent)).run(until_empty=True)
        os.close(silent)
        assert records.dead_letters() == []
        check_archive(records, sent)


def check_archive(records: Records, sent: set[tuple[str, str]]) -> None:
    files = records.archive.storage()
    archived: Counter[bytes] = Counter()
    for file in records.archive.live_files("records"):
        rows = files.read_table(file.path)
        assert (rows.num_rows, column_digest(rows["digest"])) == (file.rows, file.digest)
        archived.update(rows["digest"].to_pylist())
    assert set(archived.values()) <= {1}
    with records.database.read() as conn:
        everything = hot.find(conn, RecordFilter(), 10_000_000)
    _, marks = records.archive.marks()
    for row in everything:
        marked = row["load"] <= marks.get(key_of_id(row["root_id"]), 0)
        assert marked == (bytes(row["digest"]) in archived)
    found = {(one.record.root_id, one.record.node_id) for one in records.find(limit=10_000_000)}
    assert sent <= found
    # Two days later nothing has gone that was not archived, and every answer is the same.
    traced = {root: leaves(records, root) for root in sorted({root for root, _ in found})}
    records.archive.expire(now=datetime.now(UTC) + timedelta(hours=48))
    assert {root: leaves(records, root) for root in traced} == traced
    assert {(one.record.root_id, one.record.node_id) for one in records.find(limit=10_000_000)} == found
    check_traces(records)


def leaves(records: Records, root: str) -> list[tuple[str, list[str]]]:
    return [(one.record_id, [step.node_id for step in one.lineage]) for one in records.trace(root).traces]


def check_traces(records: Records) -> None:
    """The trace files have every leaf of the archive, each once."""
    files = records.archive.storage()
    roots: set[str] = set()
    found: Counter[tuple[str, str]] = Counter()
    for file in records.archive.live_files("traces"):
        rows = files.read_table(file.path)
        assert content_digest(trace_digests(rows)) == file.digest
        found.update(zip(rows["root_id"].to_pylist(), rows["record_id"].to_pylist(), strict=True))
        roots.update(rows["root_id"].to_pylist())
    assert set(found.values()) <= {1}
    for root in sorted(roots):
        archived = records_from_table(archived_records_of_root(records.archive, root))
        parents = {parent for record in archived for parent in record.parent_ids}
        wanted = {record.node_id for record in archived} - parents
        assert {leaf for its, leaf in found if its == root} == wanted


if __name__ == "__main__":
    address, folder, count = sys.argv[1:]
    killed(address, folder, int(count))
