"""A process that sends events until it is killed, run as a script.

    python -m tests.capture.delivery.process SPOOL FIRST COUNT PAUSE TARGET…

Says the number of each event after ``send`` has returned, one line each. Every tenth event is the START of a run that
the next one ends. After the last event it closes the delivery.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random

from headwater.capture.delivery import Delivery, EventSink, IngestSink, sink_for
from tests.capture.delivery.watching import numbered
from tests.support.events import Json, run_event

ROOT = Path(__file__).parents[3]
ENDLESS = 1_000_000


def sink(target: str) -> EventSink:
    if not target.startswith("sqlite:"):
        return sink_for(target)
    from headwater.store.store import Store  # takes longer to import than all the rest

    return IngestSink(lambda: Store(target), name=target)


def event(number: int) -> Json:
    if number % 10 in (8, 9):
        kind = "START" if number % 10 == 8 else "COMPLETE"
        return run_event(kind, run=f"run {number // 10}", minute=number % 10) | {"number": number}
    return numbered(number, size=number * 37 % 3000)


def main(spool: str, first: str, count: str, pause: str, *targets: str) -> None:
    delivery = Delivery([sink(target) for target in targets], Path(spool))
    os.write(1, b"up\n")
    for number in range(int(first), int(first) + int(count)):
        delivery.send(event(number))
        os.write(1, b"%d\n" % number)
        time.sleep(float(pause))
    delivery.close(20)


class Process:
    """Such a process, seen from outside."""

    def __init__(
        self, spool: Path, targets: Sequence[str], *, first: int = 0, count: int = ENDLESS, pause: float = 0
    ) -> None:
        arguments = [str(spool), str(first), str(count), str(pause), *targets]
        command = [sys.executable, "-m", "tests.capture.delivery.process", *arguments]
        environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
        self._first = first
        self._child = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, env=environment)
        assert self._child.stdout is not None
        assert self._child.stdout.readline() == b"up\n"

    def kill_within(self, seconds: float, random: Random) -> int:
        """Kill it at a random moment, without any warning. The number after the last event that was sent."""
        delay = random.uniform(0, seconds)
        deadline = time.monotonic() + delay
        out = b""
        assert self._child.stdout is not None
        os.set_blocking(self._child.stdout.fileno(), False)
        while time.monotonic() < deadline:
            out += self._child.stdout.read() or b""
            time.sleep(min(0.001, delay))
        self._child.send_signal(signal.SIGKILL)
        self._child.wait()
        os.set_blocking(self._child.stdout.fileno(), True)
        out += self._child.stdout.read()
        self._child.stdout.close()
        told = out.split(b"\n")[:-1]
        return int(told[-1]) + 1 if told else self._first

    def wait(self) -> None:
        assert self._child.stdout is not None
        self._child.stdout.read()
        self._child.stdout.close()
        assert self._child.wait() == 0


if __name__ == "__main__":
    main(*sys.argv[1:])
