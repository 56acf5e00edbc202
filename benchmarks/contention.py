"""How long another client waits while events are taken that make very much of the graph.

    ./dev bench contention [--seconds N]

A server as `headwater serve` starts it, on SQLite. One client posts small events, one after another; another posts,
again and again, 1,414 inputs by 1,414 outputs and 500 by 500 without lineage, and 300 by 300 columns with it.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from itertools import count, cycle
from pathlib import Path
from typing import Any

from tests.server.running import ServerProcess
from tests.server.test_wide_events import columns, wide
from tests.support.events import run_event, run_id


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60)
    seconds = parser.parse_args().seconds
    with tempfile.TemporaryDirectory() as folder, ServerProcess(f"sqlite:///{Path(folder)}/lineage.db") as server:
        for title, events in (("alone", None), ("beside them", wide_events())):
            small, large = measure(server, events, seconds)
            print(f"small events {title}: {line(small)}")
            for kind, times in large.items():
                print(f"  {kind}: {len(times)}, median {statistics.median(times):.2f} s, slowest {max(times):.2f} s")


def wide_events() -> Iterator[tuple[str, dict[str, Any]]]:
    made = {
        "1,414 by 1,414 datasets": wide(1_414, "widest"),
        "500 by 500 datasets": wide(500, "wide"),
        "300 by 300 columns": columns(300),
    }
    for number, (kind, event) in enumerate(cycle(made.items())):
        yield (
            kind,
            {**event, "run": {"runId": run_id(f"{kind} {number}")}, "eventTime": f"2026-11-15T10:{number % 60:02}:00Z"},
        )


def measure(
    server: ServerProcess, events: Iterator[tuple[str, dict[str, Any]]] | None, seconds: float
) -> tuple[list[float], dict[str, list[float]]]:
    small: list[float] = []
    large: dict[str, list[float]] = defaultdict(list)
    over = threading.Event()

    def post_small() -> None:
        for number in count():
            if over.is_set():
                return
            event = run_event(run=f"{events is None} {number}", job="small", inputs=["a"], outputs=["b"])
            small.append(post(server, event))

    thread = threading.Thread(target=post_small)
    thread.start()
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if events is None:
            time.sleep(0.1)
        else:
            kind, event = next(events)
            large[kind].append(post(server, event))
    over.set()
    thread.join()
    return small, large


def post(server: ServerProcess, event: dict[str, Any]) -> float:
    began = time.monotonic()
    status, answer = server.post("/api/v1/lineage", event)
    assert status == 201, answer
    return time.monotonic() - began


def line(times: list[float]) -> str:
    cuts = statistics.quantiles(times, n=100)
    median, p99, slowest = (round(1000 * seconds) for seconds in (cuts[49], cuts[98], max(times)))
    return f"{len(times)}, median {median} ms, p99 {p99} ms, slowest {slowest} ms"


if __name__ == "__main__":
    main()
