"""Sinks and helpers to watch a delivery with."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from threading import Event
from typing import Any

from headwater.capture.delivery import SinkDown, SinkRefused
from tests.support.events import Json, run_event


class Recorder:
    """Keeps what it gets. Can be down, refuse single events, or hold on to whoever delivers."""

    def __init__(self, name: str = "recorder", *, batch: int = 1, down: bool = False) -> None:
        self.name = name
        self.batch = batch
        self.down = down
        self.got: list[bytes] = []
        self.attempts = 0
        self.refuses: Callable[[Json], bool] = lambda event: False
        self.let_go = Event()
        self.let_go.set()

    def deliver(self, events: Sequence[bytes]) -> None:
        self.attempts += 1
        self.let_go.wait()
        if self.down:
            raise SinkDown("out of order")
        for event in events:
            if self.refuses(json.loads(event)):
                raise SinkRefused("not this one")
        self.got += events

    @property
    def numbers(self) -> list[int]:
        return numbers(self.got)


def numbered(number: int, *, size: int = 0) -> Json:
    """An event that says which one it is."""
    return run_event("OTHER", job=f"job {number}") | {"number": number, "padding": "x" * size}


def numbers(events: Iterable[bytes]) -> list[int]:
    return [json.loads(event)["number"] for event in events]


def lines(file: Path) -> list[bytes]:
    return file.read_bytes().splitlines() if file.exists() else []


def soon(condition: Callable[[], Any], within: float = 60.0) -> None:
    """Wait until it holds; fail if it does not."""
    deadline = time.monotonic() + within
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.005)


def files_in(spool: Path) -> list[str]:
    return sorted(path.name for path in spool.rglob("*") if path.is_file())
