"""Events per second, beside the bare insert of the same JSON into one table of the same database.

    ./dev bench ingest [sqlite postgresql]

Either way each event is a transaction of its own and is on disk when the call returns. One writer; eight threads of
one process, as in a server; eight processes, as with eight Spark drivers. The contestants take turns, round by round.
Every writer has stored one run before the clock starts: what a process needs to import and compile for its first event
is paid once, and told apart in the README.
"""

from __future__ import annotations

import multiprocessing
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.synchronize import Barrier

from sqlalchemy import Column, Integer, LargeBinary, MetaData, Table, insert

from benchmarks.events import stream
from benchmarks.harness import console, databases, show
from headwater.store.engine.database import Database
from headwater.store.store import Store

ROUNDS = 5
EVENTS = 400
WRITERS = 8

_BARE = Table("bare", MetaData(), Column("id", Integer, primary_key=True), Column("body", LargeBinary))

Ingest = Callable[[bytes], object]
Streams = Sequence[Sequence[bytes]]


def opened(contestant: str, url: str) -> Ingest:
    if contestant == "ours":
        return Store(url).ingest
    database, statement = Database(url), insert(_BARE)
    # SQLite has one writer, and this is how to become it. PostgreSQL has many: the bare insert waits for nobody.
    transaction = database.write if database.is_sqlite else database.engine.begin

    def bare(body: bytes) -> None:
        with transaction() as conn:
            conn.execute(statement, {"body": body})

    return bare


def one_writer(contestant: str, url: str, first: Streams, streams: Streams) -> float:
    ingest = _warm(contestant, url, *first)
    return _timed(ingest, [event for events in streams for event in events])


def threads(contestant: str, url: str, first: Streams, streams: Streams) -> float:
    ingest = _warm(contestant, url, *first)
    with ThreadPoolExecutor(WRITERS) as pool:
        start = time.perf_counter()
        list(pool.map(lambda events: _timed(ingest, events), streams))
        return time.perf_counter() - start


def processes(contestant: str, url: str, first: Streams, streams: Streams) -> float:
    context = multiprocessing.get_context("spawn")
    ready, done = context.Barrier(WRITERS + 1), context.Barrier(WRITERS + 1)
    workers = [
        context.Process(target=_work, args=(contestant, url, before, events, ready, done))
        for before, events in zip(first, streams, strict=True)
    ]
    for worker in workers:
        worker.start()
    ready.wait()
    start = time.perf_counter()
    done.wait()
    seconds = time.perf_counter() - start
    for worker in workers:
        worker.join()
    return seconds


def _work(
    contestant: str, url: str, first: Sequence[bytes], events: Sequence[bytes], ready: Barrier, done: Barrier
) -> None:
    ingest = _warm(contestant, url, first)
    ready.wait()
    _timed(ingest, events)
    done.wait()


def _warm(contestant: str, url: str, *first: Sequence[bytes]) -> Ingest:
    ingest = opened(contestant, url)
    for events in first:
        _timed(ingest, events)
    return ingest


def _timed(ingest: Ingest, events: Sequence[bytes]) -> float:
    start = time.perf_counter()
    for event in events:
        ingest(event)
    return time.perf_counter() - start


def _runs(way: object, round_number: int) -> range:
    """Each round goes on where the last one ended, so that it sees the jobs and datasets of every day."""
    each = EVENTS // WRITERS // 2 + 1
    first = (_WAYS.index(way) * (ROUNDS + 1) + round_number) * each
    return range(first, first + each)


_WAYS: Sequence[object] = (one_writer, threads, processes)


def main(names: Sequence[str]) -> None:
    rows: list[Sequence[object]] = []
    with databases(names) as urls:
        for kind, (url,) in urls.items():
            with Store(url), (database := Database(url)).write() as conn:
                _BARE.metadata.create_all(conn)
            database.close()
            for label, way in (("1", one_writer), ("8 threads", threads), ("8 processes", processes)):
                rates: dict[str, list[float]] = {"ours": [], "bare": []}
                for round_number in range(ROUNDS + 1):
                    console.print(f"{kind}, {label}: round {round_number} of {ROUNDS}")
                    for contestant, measured in rates.items():
                        runs = _runs(way, round_number)
                        first, streams = (
                            [stream(writer, part) for writer in range(WRITERS)] for part in (runs[:1], runs[1:])
                        )
                        seconds = way(contestant, url, first, streams)
                        if round_number:  # the first round warms up
                            measured.append(sum(map(len, streams)) / seconds)
                ours, bare = (statistics.median(rates[who]) for who in ("ours", "bare"))
                rows.append([kind, label, f"{ours:,.0f}", f"{bare:,.0f}", ours / bare])
    size = len(stream(0, range(1))[0])
    title = f"events per second, {size / 1024:.1f} KB each, median of {ROUNDS} rounds of {EVENTS}"
    show(title, ("database", "writers", "ours", "bare insert", "ours / bare"), rows)


if __name__ == "__main__":
    main(sys.argv[1:] or ["sqlite", "postgresql"])
