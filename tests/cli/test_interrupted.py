"""Interrupted commands that start Spark: their JVM ends with them, though only the command gets the signal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from headwater.store.store import Store
from tests.support import why_missing

pytestmark = pytest.mark.xdist_group("spark-rows")
TIMEOUT = 90
HEADWATER = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started the tests may have it ignored
runpy.run_module("headwater", run_name="__main__")
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="not run: processes are looked up in /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_jvm_ends_with_the_command(number: signal.Signals, sqlite_url: str, tmp_path: Path) -> None:
    """While Spark starts: later the JVM detects itself that its parent is gone."""
    if (reason := why_missing("java")) is not None:
        pytest.skip(f"not run: no Java 17 or 21: {reason}")
    Store(sqlite_url).close()
    with (tmp_path / "said").open("wb") as said:
        command = subprocess.Popen(
            [sys.executable, "-c", HEADWATER, "trace", "nothing", "--store", sqlite_url, "--master", "local[1]"],
            cwd=tmp_path, env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}, stdout=said, stderr=said,
            start_new_session=True,
        )  # fmt: skip
    started: list[int] = []
    try:
        wait_for(lambda: bool(jvms_of(command.pid)) or command.poll() is not None)
        started = jvms_of(command.pid)
        assert started, (tmp_path / "said").read_text()
        os.kill(command.pid, number)
        assert command.wait(TIMEOUT) != 0
        wait_for(lambda: not any(is_running(process) for process in started))
    finally:
        command.kill()
        command.wait()
        for process in started:
            if is_running(process):
                os.kill(process, signal.SIGKILL)


def wait_for(happens: Callable[[], bool]) -> None:
    until = time.monotonic() + TIMEOUT
    while not happens():
        assert time.monotonic() < until, "it does not happen"
        time.sleep(0.02)


def jvms_of(parent: int) -> list[int]:
    """The JVMs that the process started itself, with Spark's class in their command line."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            line = (folder / "cmdline").read_bytes() if folder.name.isdigit() else b""
            if b"java\0" in line and b"SparkSubmit" in line and parent_of(folder) == parent:
                found.append(int(folder.name))
        except OSError:
            continue  # it has ended meanwhile
    return found


def parent_of(folder: Path) -> int:
    return int((folder / "stat").read_text().rpartition(")")[2].split()[1])


def is_running(process: int) -> bool:
    try:
        return (Path("/proc") / str(process) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
