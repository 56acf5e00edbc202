"""Processor time and peak memory of the two processes of a driver, the Python and the JVM, by Linux's own account.

The Python of a driver does next to nothing while Spark writes: what it burns with capture on, less what it burns with
capture off, is capture's own work on that side. The same difference of the JVM is what capture asks of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TICKS = os.sysconf("SC_CLK_TCK")
FORGET_THE_PEAK = "5"  # what /proc/PID/clear_refs is told


@dataclass
class Use:
    """Processor seconds spent, and the peak of resident memory in MiB; zero where there is no /proc."""

    python_seconds: float = 0.0
    jvm_seconds: float = 0.0
    python_peak: float = 0.0
    jvm_peak: float = 0.0


class Meter:
    def __init__(self, spark: SparkSession) -> None:
        jvm = spark.sparkContext._jvm
        assert jvm is not None
        self._python = Path("/proc/self")
        self._jvm = Path(f"/proc/{jvm.java.lang.ProcessHandle.current().pid()}")

    @contextmanager
    def measure(self) -> Iterator[Use]:
        use = Use()
        if not self._python.exists():
            yield use
            return
        for process in (self._python, self._jvm):
            (process / "clear_refs").write_text(FORGET_THE_PEAK)
        before = _processor_seconds(self._python), _processor_seconds(self._jvm)
        yield use
        use.python_seconds = _processor_seconds(self._python) - before[0]
        use.jvm_seconds = _processor_seconds(self._jvm) - before[1]
        use.python_peak, use.jvm_peak = _peak(self._python), _peak(self._jvm)


def _processor_seconds(process: Path) -> float:
    after_the_name = (process / "stat").read_text().rpartition(")")[2].split()
    user, system = int(after_the_name[11]), int(after_the_name[12])
    return (user + system) / TICKS


def _peak(process: Path) -> float:
    for line in (process / "status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0.0
