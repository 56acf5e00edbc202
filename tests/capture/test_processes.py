"""Programs of their own: started by `headwater exec` or spark-submit, ended by themselves, an error or a signal."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
import time
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import headwater as hw
from headwater.capture.events.signing import KEY_FILE
from tests.capture.telling import runs_of
from tests.support import why_missing
from tests.support.spark import short_job_environment

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[2]
JOB = """
import sys, time
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").appName("job").config("spark.ui.enabled", "false").getOrCreate()
spark.range(3).write.parquet(sys.argv[1])
print("written", *sys.argv[2:], flush=True)
"""
SLOW = (
    JOB
    + """
@__import__("pyspark").sql.functions.udf("long")
def slow(number):
    time.sleep(600)
    return number
print("begun", flush=True)
spark.range(3).select(slow("id")).write.parquet(sys.argv[1] + "-slow")
"""
)


@pytest.fixture(autouse=True, scope="module")
def _java() -> None:
    if (reason := why_missing("java")) is not None:
        pytest.skip(f"not run: no Java 17 or 21: {reason}")


def environment(folder: Path, **more: str) -> dict[str, str]:
    java = short_job_environment()["SPARK_SUBMIT_OPTS"]
    ours = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_SUBMIT_OPTS": java}
    ours |= {"HEADWATER_SPOOL": str(folder / "spool"), "HEADWATER_SINK": (folder / "events.jsonl").as_uri()}
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HEADWATER", "SPARK_TESTING"))}
    return {**kept, **ours, **more}


def script(folder: Path, text: str) -> Path:
    file = folder / "job.py"
    file.write_text(text)
    return file


def execute(folder: Path, text: str, *arguments: str, options: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "headwater", "exec", "--store", f"sqlite:///{folder}/lineage.db", *options]
    return subprocess.run(
        [*command, str(script(folder, text)), f"{folder}/x", *arguments],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def read_events(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]


def states_by_job(events: list[dict[str, Any]]) -> dict[str, list[str]]:
    states: dict[str, list[str]] = {}
    for event in events:
        states.setdefault(event["job"]["name"], []).append(event["eventType"])
    return states


def states(folder: Path) -> dict[str, list[str]]:
    """Job → the states of its runs, in the order of their events."""
    return states_by_job(read_events(folder))


@pytest.mark.parametrize("runs", [1, pytest.param(2, marks=pytest.mark.long)])  # again, over what the first run left
def test_the_documented_example(tmp_path: Path, runs: int) -> None:
    blocks = re.findall(r"```console\n\$ headwater exec (.+)\n((?s:.*?))```", (ROOT / "docs" / "cli.md").read_text())
    ((command, expected),) = blocks
    *options, path = command.split()
    text = (ROOT / path).read_text().replace("sys.argv[1]", f"{str(tmp_path)!r}")
    for _ in range(runs):
        done = execute(tmp_path, text, options=options)
        assert (done.returncode, done.stdout) == (0, expected), done.stderr
    with hw.connect(f"sqlite:///{tmp_path}/lineage.db") as lin:
        found = lin.upstream("default.daily_revenue", column="revenue")
        direct = {
            (node.endpoint.name.rsplit("/", 1)[-1], node.part) for node in found.nodes if node.dependency == "DIRECT"
        }
    assert {("orders_priced", "eur"), ("orders", "amount")} <= direct


def test_an_error_that_nobody_catches(tmp_path: Path) -> None:
    done = execute(tmp_path, JOB + "spark.stop()\nraise KeyError('lost')")
    assert done.returncode == 1
    assert done.stderr.rstrip().endswith("KeyError: 'lost'")
    assert states(tmp_path)["job"] == ["START", "COMPLETE", "FAIL"]  # Spark was stopped in order, the program failed
    last = read_events(tmp_path)[-1]["run"]["facets"]["errorMessage"]
    assert (last["message"], last["programmingLanguage"]) == ("KeyError: 'lost'", "PYTHON")


ENDS = (
    JOB
    + """
import threading
spark.stop()
print([thread.name for thread in threading.enumerate() if thread.name.startswith("headwater")], flush=True)
spark = SparkSession.builder.master("local[1]").appName("second").config("spark.ui.enabled", "false").getOrCreate()
try:
    sys.exit(3)
except SystemExit:
    pass
sys.exit(7)
"""
)


def test_a_session_that_is_stopped_and_a_program_that_exits_with_a_code(tmp_path: Path) -> None:
    """The run of the first application ends with its session, that of the second with the process."""
    done = execute(tmp_path, ENDS)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (7, "[]"), done.stderr
    assert states(tmp_path)["job"] == ["START", "COMPLETE"]
    assert states(tmp_path)["second"] == ["START", "FAIL"]
    last = read_events(tmp_path)[-1]["run"]["facets"]["errorMessage"]
    assert last["message"] == "SystemExit: the program ended with exit code 7."


def test_a_program_from_standard_input(tmp_path: Path) -> None:
    """Python reads it from a pipe, and no file holds it."""
    address = f"sqlite:///{tmp_path}/lineage.db"
    done = subprocess.run(
        [sys.executable, "-", f"{tmp_path}/x"],
        input=f"from headwater.capture import autostart\nautostart.install()\n{JOB}",
        cwd=tmp_path,
        env=environment(tmp_path, HEADWATER_STORE=address),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "not captured" not in done.stderr
    with hw.connect(address) as lin:
        assert sorted(run.state.value for run in lin.runs()) == ["COMPLETE", "COMPLETE"]


def test_spark_submit_with_nothing_but_a_variable(tmp_path: Path) -> None:
    """Headwater as a user has it: from a wheel, in a Python of their own."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    site = Path(
        subprocess.run(
            [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()
    )
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    (site / "zz-others.pth").write_text(sysconfig.get_path("purelib"))  # what it depends on, from here
    import pyspark

    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    done = subprocess.run(
        [submit, script(tmp_path, JOB), f"{tmp_path}/x"],
        cwd=tmp_path,
        env=environment(tmp_path, PYSPARK_PYTHON=str(python), HEADWATER_STORE=f"sqlite:///{tmp_path}/lineage.db"),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    with hw.connect(f"sqlite:///{tmp_path}/lineage.db") as lin:
        assert sorted(run.state.value for run in lin.runs()) == ["COMPLETE", "COMPLETE"]


@contextmanager
def slow_job(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A program whose second write is under way, and told to be."""
    with subprocess.Popen(
        [sys.executable, "-m", "headwater.capture.autostart", script(folder, SLOW), f"{folder}/x"],
        cwd=folder,
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as job:
        try:
            assert job.stdout is not None
            assert any(line == "begun\n" for line in job.stdout)
            deadline = time.monotonic() + 180
            while not re.search(r'"START".*x-slow|x-slow.*"START"', (folder / "events.jsonl").read_text()):
                assert time.monotonic() < deadline, "the write was not told"
                time.sleep(0.2)
            yield job
        finally:
            os.killpg(job.pid, signal.SIGKILL)


@dataclass(frozen=True)
class Succession:
    """A program that was killed, and the next one, by `headwater exec`, with the same spool."""

    folder: Path
    events_before: list[dict[str, Any]]
    """When the killed program was gone and the next one had not begun."""
    next_program: subprocess.CompletedProcess[str]

    @property
    def killed_runs(self) -> set[str]:
        return {event["run"]["runId"] for event in self.events_before}


@pytest.fixture(scope="module")
def succession(tmp_path_factory: pytest.TempPathFactory) -> Succession:
    folder = tmp_path_factory.mktemp("succession")
    with slow_job(folder) as job:
        os.killpg(job.pid, signal.SIGKILL)
        job.wait(60)
    events_before = read_events(folder)
    text = JOB.replace("sys.argv[1]", "sys.argv[1] + '-next'") + "sys.exit(3)"
    return Succession(folder, events_before, execute(folder, text, "--day", "2026-11-15", "-v"))


def test_exec_leaves_the_program_as_it_is(succession: Succession) -> None:
    folder, done = succession.folder, succession.next_program
    assert (done.returncode, done.stdout) == (3, "written --day 2026-11-15 -v\n"), done.stderr
    write = f"job.{folder.name}/x-next"
    own_events = [event for event in read_events(folder) if event["run"]["runId"] not in succession.killed_runs]
    assert states_by_job(own_events) == {"job": ["START", "FAIL"], write: ["START", "COMPLETE"]}  # exit code 3
    with hw.connect(f"sqlite:///{folder}/lineage.db") as lin:
        assert {run.job.name: run.state.value for run in lin.runs()} == {"job": "FAIL", write: "COMPLETE"}
    assert [file.name for file in (folder / "spool").rglob("*") if file.is_file()] == [KEY_FILE]


def test_a_program_that_is_killed(succession: Succession) -> None:
    """The next one that uses the spool tells how it ended."""
    before = states_by_job(succession.events_before)
    slow = next(name for name in before if name.endswith("x-slow"))
    assert (before["job"], before[slow]) == (["START"], ["START"])
    after, events = states(succession.folder), read_events(succession.folder)
    assert after[slow] == ["START", "FAIL"]
    assert sorted(after["job"]) == ["FAIL", "FAIL", "START", "START"]  # killed; exit code 3
    assert all(run.states[0] == "START" and len(run.states) == 2 for run in runs_of(events, "none"))
    failed = next(e for e in events if e["eventType"] == "FAIL" and e["job"]["name"] == slow)
    assert "ended before the run did" in failed["run"]["facets"]["errorMessage"]["message"]


def test_a_program_that_is_interrupted(tmp_path: Path) -> None:
    with slow_job(tmp_path) as job:
        os.kill(job.pid, signal.SIGINT)
        job.wait(180)  # much less than its function sleeps
    found = states(tmp_path)
    slow = next(name for name in found if name.endswith("x-slow"))
    assert found[slow] == ["START", "FAIL"]
    assert found["job"] == ["START", "FAIL"]
