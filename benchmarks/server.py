"""Events a second over HTTP, and how long a question takes meanwhile.

    ./dev bench server [sqlite postgresql] [--seconds N] [--edges million|small] [--workers N]

The server runs as `headwater serve` starts it, on loopback. Clients are one process with 32 connections that send
events of 4 KB, each on disk before it is acknowledged; beside it the store by itself, eight threads of one process with
the same events. Then, over a graph of a million edges, one-hop questions from another process: with nobody else there,
while 250 events a second arrive, and while as many arrive as are taken.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import multiprocessing
import os
import random
import statistics
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path

import uvloop

from benchmarks.dag import Shape, lay
from benchmarks.events import stream
from benchmarks.graph import MILLION, SMALL
from benchmarks.harness import console, databases, show
from headwater.store.store import Store
from tests.server.running import ServerProcess

CONNECTIONS = 32
THREADS = 8
_WARM = 2.0
_MADE_AHEAD = 600
"""Events for each second, where no rate is asked for."""


async def exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> int:
    """The status. As little as HTTP takes: the client shares the machine with the server."""
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0] or 0)
    await reader.readexactly(length)
    return int(head[9:12])


async def _send_events(port: int, seconds: float, rate: float | None, writer_number: int) -> list[float]:
    """When each event was acknowledged."""
    parts = (stream(writer_number, range(at, at + 50)) for at in itertools.count(0, 50))
    # Made before the clock starts, as far as they will last: making one takes the machine longer than sending it.
    ready = list(itertools.islice(itertools.chain.from_iterable(parts), int(seconds * (rate or _MADE_AHEAD))))
    events = itertools.chain(ready, itertools.chain.from_iterable(parts))
    acknowledged: list[float] = []
    end = time.perf_counter() + seconds
    due = itertools.count()
    began = time.perf_counter()

    async def client() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.perf_counter() < end:
            if rate is not None:
                await asyncio.sleep(max(0.0, began + next(due) / rate - time.perf_counter()))
            body = next(events)
            head = b"POST /api/v1/lineage HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n" % len(body)
            status = await exchange(reader, writer, head + body)
            if status != 201:
                raise AssertionError(f"an event was answered with {status}")
            acknowledged.append(time.perf_counter())
        writer.close()

    await asyncio.gather(*(client() for _ in range(CONNECTIONS)))
    return acknowledged


async def _ask(port: int, seconds: float, shape: Shape) -> list[float]:
    """How long each question took, one after another with a pause in between."""
    chance = random.Random(7)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    took: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        name = shape.name(chance.randrange(shape.nodes))
        path = f"/api/v1/lineage/upstream?namespace=bench&dataset={name}&depth=1"
        began = time.perf_counter()
        status = await exchange(reader, writer, f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        took.append(time.perf_counter() - began)
        assert status == 200
        await asyncio.sleep(0.01)
    writer.close()
    return took


def _in_process(kind: str, told: Connection, *args: object) -> None:
    told.send(uvloop.run({"send": _send_events, "ask": _ask}[kind](*args)))  # type: ignore[operator]


@contextlib.contextmanager
def elsewhere(kind: str, *args: object) -> Iterator[Connection]:
    """In a process of its own; its answer comes by the connection."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_in_process, args=(kind, there, *args))
    process.start()
    yield here
    process.join()


def rate_of(acknowledged: Sequence[float]) -> float:
    """Without the first seconds, in which both sides warm up."""
    counted = [moment for moment in acknowledged if moment > acknowledged[0] + _WARM]
    return len(counted) / (counted[-1] - counted[0])


def processor_seconds(session: int) -> float:
    """Of all processes of a server, which are one session: this does not depend on who else is at work."""
    ticks = 0
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = file.read_text().rpartition(")")[2].split()
            if int(fields[3]) == session:
                ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def over_http(server: ServerProcess, seconds: float, number: int) -> tuple[float, float]:
    """Events a second, and milliseconds of the server's processor for one."""
    assert server.process is not None
    before = processor_seconds(server.process.pid)
    with elsewhere("send", server.port, seconds + _WARM, None, number) as told:
        acknowledged = sorted(told.recv())
    spent = processor_seconds(server.process.pid) - before
    return rate_of(acknowledged), spent / len(acknowledged) * 1000


def by_the_store(url: str, seconds: float) -> float:
    acknowledged: list[float] = []
    end = time.perf_counter() + seconds + _WARM

    def work(number: int) -> None:
        for at in itertools.count(0, 10):
            for event in stream(number, range(at, at + 10)):
                if time.perf_counter() > end:
                    return
                store.ingest(event)
                acknowledged.append(time.perf_counter())

    with Store(url) as store, ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(work, range(1000, 1000 + THREADS)))
    return rate_of(sorted(acknowledged))


def options(kind: str, workers: int) -> list[str]:
    return ["--log-level", "warning", *([] if kind == "sqlite" else ["--workers", str(workers)])]


def ingest(names: Sequence[str], seconds: float, workers: int) -> None:
    rows: list[Sequence[object]] = []
    with databases(names) as urls:
        for kind, (url,) in urls.items():
            plain = url.replace("postgresql+psycopg", "postgresql")
            Store(plain).close()
            store, served, spent = [], [], []
            with ServerProcess(plain, *options(kind, workers)) as server:
                for number in range(3):  # taking turns
                    rate, milliseconds = over_http(server, seconds, number)
                    served.append(rate)
                    spent.append(milliseconds)
                    store.append(by_the_store(plain, seconds))
            ours, alone = statistics.median(served), statistics.median(store)
            processes = 1 if kind == "sqlite" else workers
            rows.append([kind, processes, ours, alone, ours / alone, statistics.median(spent)])
    columns = ("database", "server processes", "over HTTP", "the store itself", "HTTP / store", "processor ms an event")
    show(f"events of 4 KB a second, {CONNECTIONS} connections; median of 3", columns, rows)


def questions(names: Sequence[str], seconds: float, workers: int, shape: Shape) -> None:
    rows: list[Sequence[object]] = []
    with databases(names) as urls:
        for kind, (url,) in urls.items():
            plain = url.replace("postgresql+psycopg", "postgresql")
            console.print(f"{kind}: laying {shape.nodes:,} datasets …")
            edges = lay(plain, shape)
            with ServerProcess(plain, *options(kind, workers)) as server:
                for number, (load, rate) in enumerate({"none": 0.0, "250/s": 250.0, "full": None}.items()):
                    rows.append([kind, f"{edges:,}", load, *_asked(server, seconds, rate, number, shape)])
    columns = ("database", "edges", "ingest", "events/s", "p50 ms", "p99 ms", "slowest ms")
    show("one hop upstream over HTTP, while events arrive", columns, rows)


def _asked(server: ServerProcess, seconds: float, rate: float | None, number: int, shape: Shape) -> list[object]:
    events: Sequence[float] = ()
    with contextlib.ExitStack() as stack:
        sending = None
        if rate != 0.0:
            sending = stack.enter_context(elsewhere("send", server.port, seconds + 2 * _WARM, rate, 5000 + number))
            time.sleep(2 * _WARM)
        asking = stack.enter_context(elsewhere("ask", server.port, seconds, shape))
        took = sorted(asking.recv()[20:])
        if sending is not None:
            events = sorted(sending.recv())
    cuts = statistics.quantiles(took, n=100)
    return [rate_of(events) if events else 0.0, cuts[49] * 1000, cuts[98] * 1000, took[-1] * 1000]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("databases", nargs="*", default=["sqlite", "postgresql"])
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--edges", choices=["million", "small"], default="million")
    asked = parser.parse_args()
    ingest(asked.databases, asked.seconds, asked.workers)
    questions(asked.databases, asked.seconds, asked.workers, MILLION if asked.edges == "million" else SMALL)


if __name__ == "__main__":
    main()
