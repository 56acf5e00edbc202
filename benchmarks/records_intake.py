"""The record ledger without Spark: taking records in, loading them, tracing a root, finding a node among very many.

    ./dev bench records_intake [ROWS] [--together SECONDS] [--archived ROOTS] [sqlite postgresql]

Intake: requests of one record each, validated, queued and on disk when the call returns; so many to a transaction.
Beside it, the bare insert of the same documents into one table. Worker: what was queued becomes hot. Together: one
process takes in, 5,000 a transaction, and another loads, for so many seconds (30 unless told; 0 leaves it out); the
depth of the queue is looked at every second, and the worker keeps up where it does not grow. Trace: the whole of
`lin.records.trace` for roots of 10,000 nodes. Archived: `find` and `trace` where nothing is hot any more, of so many
roots, each in a file of its own (100 unless told; 0 leaves it out); and the same with nothing known of the files, as it
is of those from before there were keys. By node: `lin.records.find(node=…)` with ROWS hot rows (10 million unless told;
0 leaves it out), nodes all over the table, after the pages of the file were dropped from memory where that can be done.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Integer, MetaData, Table, Text, delete, insert, text

from benchmarks.harness import console, databases, interleaved, median_ms, show
from headwater.client import Lineage
from headwater.model.records import Record, RootTrace, key_of_id
from headwater.records.archive.single_root import archive_root
from headwater.records.intake.loading import DeliveryOptions, QueueLoader
from headwater.records.ledger import Records
from headwater.store.records import hot
from headwater.store.records.archive import next_load
from headwater.store.schema.record_tables import record_file_keys, record_hot, record_queue
from headwater.store.schema.tables import OPEN

ROWS = 10_000_000
ROUNDS = 5
TAKEN = 20_000
NODES = 10_000
ASKED = 500
TOGETHER = 30.0
ARCHIVED = 100
NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
_A_ROOT = 10
_AT_ONCE = 50_000
_BARE = Table("bare", MetaData(), Column("id", Integer, primary_key=True), Column("body", Text))


def requests(count: int, seed: int) -> list[dict[str, Any]]:
    return [
        {
            "root_id": f"invoice-{seed}-{number // _A_ROOT}",
            "parent_id": f"invoice-{seed}-{number // _A_ROOT}",
            "action_taken": "CALCULATION_COMPLETE",
            "record": {"storage_location": f"s3://lake/calculated/2026/11/16/part-{number:06}.parquet"},
        }
        for number in range(count)
    ]


def taking_in(kind: str, lineage: Lineage) -> list[list[object]]:
    records, rows = lineage.records, []
    with records.database.write() as conn:
        _BARE.metadata.create_all(conn)
    given = requests(TAKEN, 0)
    bodies = [{"body": json.dumps(request)} for request in given]

    def ours(batch: int, count: int) -> None:
        for first in range(0, count, batch):
            assert not records.send(given[first : first + batch]).refused

    def bare(batch: int, count: int) -> None:
        for first in range(0, count, batch):
            with records.database.write(alone=False) as conn:
                conn.execute(insert(_BARE), bodies[first : first + batch])

    for batch, count in ((1, 300), (100, 5_000), (5_000, TAKEN)):
        seconds = interleaved({"ours": partial(ours, batch, count), "bare": partial(bare, batch, count)}, ROUNDS)
        rates = [count / statistics.median(seconds[who]) for who in ("ours", "bare")]
        rows.append([kind, f"{batch:,}", *(f"{rate:,.0f}" for rate in rates), rates[0] / rates[1]])
    return rows


def loading(kind: str, records: Records) -> list[object]:
    """Everything that waits, by one worker."""
    loader = QueueLoader(records.database, DeliveryOptions(), lambda: time.time_ns() // 1000)
    start, used, loaded = time.perf_counter(), time.process_time(), 0
    while (done := loader.load(5_000)).taken:
        loaded += done.loaded
    seconds, used = time.perf_counter() - start, time.process_time() - used
    return [kind, f"{loaded:,}", f"{loaded / seconds:,.0f}", f"{loaded / used:,.0f}"]


def _take_in(url: str, seconds: float) -> None:
    """In a process of its own, as fast as it can."""
    with Lineage(url) as lineage:
        until, batch, number = time.monotonic() + seconds, 5_000, 0
        while time.monotonic() < until:
            number += 1
            assert not lineage.records.send(requests(batch, number)).refused


def _work(url: str, seconds: float) -> None:
    with Lineage(url) as lineage:
        loader = QueueLoader(lineage._database, DeliveryOptions(), lambda: time.time_ns() // 1000)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if not loader.load(5_000).taken:
                time.sleep(0.01)


def together(kind: str, url: str, seconds: float) -> list[object]:
    """Intake and worker at once: what each has done in a second, and how deep the queue was."""
    with Lineage(url) as lineage:
        begun = lineage.records.status()
        processes = [
            subprocess.Popen([sys.executable, "-m", "benchmarks.records_intake", task, url, str(seconds)])
            for task in _TASKS
        ]
        depths: list[int] = []
        while any(process.poll() is None for process in processes):
            time.sleep(1)
            status = lineage.records.status()
            depths.append(status.load_waiting + status.load_taken)
        assert [process.returncode for process in processes] == [0, 0]
        ended = lineage.records.status()
    loaded, waiting = ended.hot - begun.hot, ended.load_waiting + ended.load_taken
    rates = [f"{count / seconds:,.0f}" for count in (loaded + waiting, loaded)]
    half = depths[len(depths) // 2] if depths else waiting
    return [kind, f"{seconds:.0f}", *rates, f"{max([*depths, waiting]):,}", f"{half:,}", f"{waiting:,}"]


_TASKS: dict[str, Callable[[str, float], None]] = {"take-in": _take_in, "work": _work}


def archived(kind: str, url: str, roots: int) -> list[list[object]]:
    """Questions to the archive alone, with what is known of its files and without."""
    rows: list[list[object]] = []
    with tempfile.TemporaryDirectory() as folder, Lineage(url) as lineage:
        records = lineage.records.at(folder)
        with records.database.write() as conn:
            conn.execute(delete(record_hot))
            conn.execute(delete(record_queue))
        records.send(requests(_A_ROOT * roots, 0))
        loading(kind, records)
        names = [one.record for one in records.find(limit=roots * _A_ROOT)]
        for root in sorted({one.root_id for one in names}):
            archive_root(records.database, records.archive, root, now=records._now, within=lambda _: None)
        records.archive.expire(now=datetime.now(UTC) + timedelta(days=2))
        for known in (True, False):
            if not known:
                with records.database.write() as conn:
                    conn.execute(delete(record_file_keys))
            asked = random.Random(1).choices(names, k=20)
            questions: dict[str, Callable[[Record], object]] = {
                "trace": lambda one: records.trace(one.root_id),
                "find(node=…)": lambda one: records.find(node=one.node_id),
            }
            for question, ask in questions.items():
                ask(asked[0])
                start, used = time.perf_counter(), time.process_time()
                for one in asked:
                    ask(one)
                spent = [
                    (end - begun) * 1000 / len(asked)
                    for begun, end in ((start, time.perf_counter()), (used, time.process_time()))
                ]
                files = f"{len(records.archive.live_files('records')):,}"
                rows.append([kind, question, f"{len(names):,}", files, "known" if known else "not known", *spent])
    return rows


SHAPES: dict[str, Callable[[int], list[int]]] = {
    "a tree, three children each": lambda number: [(number - 1) // 3],
    "a chain": lambda number: [number - 1],
    "a ladder: of the two before": lambda number: [number - 1, number - 2],
    "joins: a hundred lanes, every tenth step of two": lambda number: [
        number - 100,
        *([number - 99] if number // 100 % 10 == 9 else []),
    ],
}


def tracing(kind: str, lineage: Lineage) -> list[list[object]]:
    for shape, parents in SHAPES.items():
        made = [
            {
                "root_id": shape,
                "parent_ids": [f"n{parent}" if parent >= 0 else shape for parent in dict.fromkeys(parents(number))],
                "action_taken": f"STEP_{number % 7}",
                "storage_location": f"s3://lake/{number}",
                "node_id": f"n{number}",
                "recordedAt": 1_794_830_400 + number,
            }
            for number in range(NODES)
        ]
        assert not lineage.records.send(made).refused
    loading(kind, lineage.records)
    rows: list[list[object]] = []
    for shape in SHAPES:
        used: list[float] = []

        def trace(shape: str = shape, used: list[float] = used) -> RootTrace:
            began = time.process_time()
            answer = lineage.records.trace(shape)
            used.append(time.process_time() - began)
            return answer

        times = interleaved({shape: trace}, 7)[shape]
        answer = trace()
        steps = sum(len(one.lineage) for one in answer.traces)
        rows.append([kind, shape, f"{len(answer.traces):,}", f"{steps:,}", median_ms(times), median_ms(used)])
    return rows


def hot_records(count: int) -> Iterator[Record]:
    """In the order of their keys, as they lie on disk: a B-tree that is filled otherwise takes hours."""
    for _, root in sorted((key_of_id(f"root-{number}"), f"root-{number}") for number in range(count // _A_ROOT)):
        for _, node in sorted((key_of_id(f"{root}-{place}"), f"{root}-{place}") for place in range(_A_ROOT)):
            yield Record(root, node, (root,), "CALCULATION_COMPLETE", f"s3://lake/calculated/{node}", NOON)


def fill(records: Records, count: int) -> None:
    """The index by node is made at the end; it is the same index."""
    index = next(one for one in record_hot.indexes if one.name == "ix_record_hot_node_key")
    with records.database.write() as conn:
        index.drop(conn)
    made = hot_records(count)
    while batch := list(islice(made, _AT_ONCE)):
        with records.database.write() as conn:
            hot.load(conn, batch, next_load(conn), OPEN)
    with records.database.write() as conn:
        index.create(conn)
        conn.execute(text("ANALYZE"))


def forget_pages(records: Records) -> None:
    """Have the next question read from disk, where the file is ours."""
    if records.database.file is not None:
        for file in Path(records.database.file.parent).glob(f"{records.database.file.name}*"):
            with open(file, "rb") as opened:
                os.fsync(opened.fileno())
                os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def finding(kind: str, url: str, count: int) -> list[object]:
    with Lineage(url) as lineage:
        fill(lineage.records, count)
    with Lineage(url) as lineage:
        records = lineage.records
        forget_pages(records)
        chance, taken = random.Random(1), []
        for _ in range(ASKED):
            root = chance.randrange(count // _A_ROOT)
            name = f"root-{root}-{chance.randrange(_A_ROOT)}"
            start = time.perf_counter()
            (found,) = records.find(node=name)
            taken.append(time.perf_counter() - start)
            assert found.record.node_id == name
        with records.database.read() as conn:
            assert hot.count(conn) == count
    taken.sort()
    return [kind, f"{count:,}", median_ms(taken), taken[int(len(taken) * 0.99)] * 1000, taken[-1] * 1000]


def main(count: int, seconds: float, roots: int, names: Sequence[str]) -> None:
    taken: list[list[object]] = []
    loaded: list[list[object]] = []
    at_once: list[list[object]] = []
    traced: list[list[object]] = []
    found: list[list[object]] = []
    kept: list[list[object]] = []
    with databases(names, copies=3) as urls:
        for kind, (first, second, third) in urls.items():
            with Lineage(first) as lineage:
                taken += taking_in(kind, lineage)
                loaded.append(loading(kind, lineage.records))
                traced += tracing(kind, lineage)
            if seconds:
                at_once.append(together(kind, third, seconds))
            if roots:
                kept += archived(kind, third, roots)
            if count:
                console.print(f"{kind}: {count:,} hot rows …")
                found.append(finding(kind, second, count))
    columns = ("database", "in a transaction", "ours", "bare insert", "ours / bare")
    show(f"records taken in a second, median of {ROUNDS} rounds", columns, taken)
    show("records loaded a second, one worker", ("database", "records", "a second", "a second of processor"), loaded)
    if at_once:
        depth = ("deepest", "half way", "at the end")
        show(
            "intake and one worker, two processes at once",
            ("database", "seconds", "taken a second", "loaded a second", *(f"queue: {each}" for each in depth)),
            at_once,
        )
    show(
        f"tracing a root of {NODES:,} nodes, median of 7",
        ("database", "shape", "leaves", "steps", "ms", "processor ms"),
        traced,
    )
    if kept:
        show(
            "questions to the archive alone",
            ("database", "question", "records", "files", "their keys", "ms a question", "processor ms"),
            kept,
        )
    if found:
        show(f"{ASKED} nodes, one by one", ("database", "hot rows", "median ms", "99 % ms", "slowest ms"), found)


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] in _TASKS:
        _TASKS[sys.argv[1]](sys.argv[2], float(sys.argv[3]))
    else:
        parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("rows", nargs="?", type=int, default=ROWS)
        parser.add_argument("--together", type=float, default=TOGETHER, metavar="SECONDS")
        parser.add_argument("--archived", type=int, default=ARCHIVED, metavar="ROOTS")
        parser.add_argument("databases", nargs="*", default=["sqlite", "postgresql"])
        told = parser.parse_args()
        main(told.rows, told.together, told.archived, told.databases)
