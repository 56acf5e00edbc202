"""Processor time and peak memory of the two processes of a driver, the Python and the JVM.

The Python of a driver does next to nothing while Spark writes: what it burns with capture on, less what it burns with
capture off, is capture's own work on that side. In the JVM that difference is of no use: a job of 20 s varies by more
than capture takes. There the threads are counted that work for capture alone: those that answer the gateway, other than
the one that runs the job, and the listener's.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TICKS = os.sysconf("SC_CLK_TCK")
LISTENER = "spark-listener-group-headwater"
FORGET_THE_PEAK = "5"  # what /proc/PID/clear_refs is told


@dataclass
class Use:
    """Processor seconds spent, and the peak of resident memory in MiB; zero where there is no /proc.

    ``capture_jvm_seconds`` is what the JVM's threads spent for capture, ``capture_jvm_allocated`` all the MiB that they
    asked for: more than capture ever held at a time.
    """

    python_seconds: float = 0.0
    python_peak: float = 0.0
    capture_jvm_seconds: float = 0.0
    capture_jvm_allocated: float = 0.0


class Meter:
    def __init__(self, spark: SparkSession) -> None:
        jvm = spark.sparkContext._jvm
        assert jvm is not None
        self._python = Path("/proc/self")
        self._job: int = jvm.java.lang.Thread.currentThread().getId()
        self._threads: Any = jvm.java.lang.management.ManagementFactory.getThreadMXBean()

    @contextmanager
    def measure(self) -> Iterator[Use]:
        use = Use()
        if not self._python.exists():
            yield use
            return
        (self._python / "clear_refs").write_text(FORGET_THE_PEAK)
        before, captured_before = _processor_seconds(self._python), self._of_capture()
        yield use
        use.python_seconds = _processor_seconds(self._python) - before
        use.python_peak = _peak(self._python)
        for thread, (seconds, allocated) in self._of_capture().items():
            earlier = captured_before.get(thread, (0.0, 0.0))
            use.capture_jvm_seconds += seconds - earlier[0]
            use.capture_jvm_allocated += allocated - earlier[1]

    def _of_capture(self) -> dict[int, tuple[float, float]]:
        """By thread, processor seconds and allocated MiB so far."""
        found = {}
        for thread in self._threads.getAllThreadIds():
            info = self._threads.getThreadInfo(thread, 1000)
            if thread != self._job and info is not None and _works_for_capture(info):
                seconds = self._threads.getThreadCpuTime(thread) / 1e9
                found[thread] = seconds, self._threads.getThreadAllocatedBytes(thread) / 2**20
        return found


def _works_for_capture(thread: Any) -> bool:
    if thread.getThreadName() == LISTENER:
        return True
    return any(frame.getClassName().startswith("py4j.") for frame in list(thread.getStackTrace())[-3:])


def _processor_seconds(process: Path) -> float:
    after_the_name = (process / "stat").read_text().rpartition(")")[2].split()
    user, system = int(after_the_name[11]), int(after_the_name[12])
    return (user + system) / TICKS


def _peak(process: Path) -> float:
    for line in (process / "status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0.0


def peak_mib() -> float:
    """The peak of this process's resident memory so far; zero where there is no /proc."""
    process = Path("/proc/self")
    return _peak(process) if process.exists() else 0.0
