"""How long another client waits while events are taken that make very much of the graph.

    ./dev bench contention [--seconds N] [--clients N] [--again]

A server as `headwater serve` starts it, on SQLite. One client posts small events, one after another. Others, each a
process of its own, post without a pause: 1,414 inputs by 1,414 outputs and 500 by 500 without lineage, and 300 by 300
columns with it; every time of another job, or with `--again` of the same, whose graph is then there already.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import count, cycle
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

from tests.server.running import ServerProcess
from tests.server.test_wide_events import columns, wide
from tests.support.events import Json, run_event, run_id

KINDS = ("1,414 by 1,414 datasets", "500 by 500 datasets", "300 by 300 columns")
Times = Mapping[str, Sequence[float]]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=1)
    parser.add_argument("--again", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ServerProcess(f"sqlite:///{Path(folder)}/lineage.db") as server:
        for title, clients in (("alone", 0), ("beside them", asked.clients)):
            busy = os.getloadavg()[0]
            small, large = measure(server, asked.seconds, clients, again=asked.again)
            print(f"small events {title}: {line(small)}; load {busy:.1f} before, {os.getloadavg()[0]:.1f} after")
            for kind, times in large.items():
                print(f"  {kind}: {len(times)}, median {statistics.median(times):.2f} s, slowest {max(times):.2f} s")


def measure(server: ServerProcess, seconds: float, clients: int, *, again: bool) -> tuple[list[float], Times]:
    small: list[float] = []
    over = threading.Event()
    spawn = get_context("spawn")
    ends, processes = [], []
    for client in range(clients):
        ours, theirs = spawn.Pipe()
        ends.append(ours)
        processes.append(spawn.Process(target=post_large, args=(server.port, theirs, client, seconds, again)))
        processes[-1].start()

    def post_small() -> None:
        for number in count():
            if over.is_set():
                return
            event = run_event(run=f"{clients} {number}", job="small", inputs=["a"], outputs=["b"])
            small.append(post(server, json.dumps(event).encode()))

    for end in ends:
        end.recv()  # its events are made
    for end in ends:
        end.send(None)
    thread = threading.Thread(target=post_small)
    thread.start()
    time.sleep(seconds)
    large: dict[str, list[float]] = defaultdict(list)
    answers: list[Times] = [end.recv() for end in ends]
    over.set()
    thread.join()
    for process in processes:
        process.join()
    for answer in answers:
        for kind, times in answer.items():
            large[kind] += times
    return small, large


def post_large(port: int, parent: Connection, client: int, seconds: float, again: bool) -> None:
    """A process of its own: what it takes to make and send such events is not what the small ones wait for."""
    server = ServerProcess("memory://")
    server.port = port
    templates = {kind: json.dumps(template(kind)).encode() for kind in KINDS}
    parent.send(None)
    parent.recv()
    times: dict[str, list[float]] = defaultdict(list)
    until = time.monotonic() + seconds
    for number, (kind, body) in enumerate(cycle(templates.items())):
        if time.monotonic() > until:
            break
        values = {
            "NUMBER": f"{client}" if again else f"{client} {number}",
            "RUN": run_id(f"{client} {number}"),
            "MINUTE": f"{number % 60:02}",
        }
        times[kind].append(post(server, filled(body, values)))
    parent.send(dict(times))


def filled(body: bytes, values: Mapping[str, str]) -> bytes:
    for name, value in values.items():
        body = body.replace(name.encode(), value.encode())
    return body


def template(kind: str) -> Json:
    size = {"1,414 by 1,414 datasets": 1_414, "500 by 500 datasets": 500}.get(kind)
    event = columns(300) if size is None else wide(size, f"NUMBER {size}")
    if size is None:
        event = json.loads(json.dumps(event).replace('"target"', '"target NUMBER"').replace('"columns"', '"of NUMBER"'))
    return {**event, "run": {"runId": "RUN"}, "eventTime": "2026-11-15T10:MINUTE:00Z"}


def post(server: ServerProcess, body: bytes) -> float:
    began = time.monotonic()
    status, answer = server.post("/api/v1/lineage", body)
    assert status == 201, answer
    return time.monotonic() - began


def line(times: Sequence[float]) -> str:
    cuts = statistics.quantiles(times, n=100)
    median, p99, slowest = (round(1000 * seconds) for seconds in (cuts[49], cuts[98], max(times)))
    return f"{len(times)}, median {median} ms, p99 {p99} ms, slowest {slowest} ms"


if __name__ == "__main__":
    main()
