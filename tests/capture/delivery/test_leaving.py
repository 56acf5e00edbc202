"""The end of a process, and its children: on time, with its own exit code, and without a word too many."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from headwater.capture.delivery import sink_for
from headwater.capture.delivery.http import HttpSink
from tests.capture.delivery.conftest import Deliver
from tests.capture.delivery.endpoint import Endpoint
from tests.capture.delivery.process import ROOT
from tests.capture.delivery.watching import lines, numbers, soon

PRELUDE = """
import os, sys, time
from pathlib import Path
from headwater.capture.delivery import Delivery, sink_for
from tests.capture.delivery.watching import numbered, Recorder
from tests.support.events import run_event
spool, target = Path(sys.argv[1]), sys.argv[2]
delivery = Delivery([sink_for(target)], spool)
"""


@dataclass
class Ended:
    code: int
    errors: str
    seconds: float


def run(body: str, spool: Path, target: str) -> Ended:
    """Run a job that sends events. Time counts from the moment it says `leaving`."""
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    with subprocess.Popen(
        [sys.executable, "-c", PRELUDE + body, str(spool), target],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        env=environment,
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.readline()
        began = time.monotonic()
        errors = child.stderr.read().decode()
        child.wait(30)
    return Ended(child.returncode, errors, time.monotonic() - began)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "events.jsonl"


@pytest.fixture
def silent() -> Iterator[str]:
    """A server that takes connections and never answers."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(50)
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def test_what_was_sent_last_still_arrives(spool: Path, file: Path) -> None:
    ended = run("for n in range(500): delivery.send(numbered(n))\nprint('leaving', flush=True)", spool, file.as_uri())
    assert (ended.code, ended.errors) == (0, "")
    assert numbers(lines(file)) == list(range(500))
    assert list(spool.iterdir()) == []


def test_a_run_that_is_open_at_the_end_fails(spool: Path, file: Path) -> None:
    ended = run("delivery.send(run_event('START'))\nprint('leaving', flush=True)", spool, file.as_uri())
    assert (ended.code, ended.errors) == (0, "")
    assert [json.loads(line)["eventType"] for line in lines(file)] == ["START", "FAIL"]


def test_a_server_that_never_answers(spool: Path, silent: str, deliver: Deliver, endpoint: Endpoint) -> None:
    """A moment's wait, one line, the job's own exit code; and the next process delivers."""
    body = "for n in range(5): delivery.send(numbered(n))\nprint('leaving', flush=True)\nsys.exit(7)"
    ended = run(body, spool, silent)
    assert ended.code == 7
    assert ended.seconds < 6
    assert ended.errors.count("\n") == 1, ended.errors
    assert ended.errors.startswith(
        f"Not delivered to {silent}/api/v1/lineage in time: 5 events, which the next process"
    )
    # The same server, as far as the spool knows, on another port.
    sink = HttpSink(endpoint.url)
    sink.name = sink_for(silent).name
    assert deliver(sink).flush(60)
    assert numbers(endpoint.taken) == list(range(5))


def test_a_server_that_is_known_to_be_dead_costs_no_time(spool: Path) -> None:
    ended = run(
        "delivery.send(numbered(0))\ndelivery.flush(1)\nprint('leaving', flush=True)\nraise SystemExit(3)",
        spool,
        "http://127.0.0.1:9",
    )
    assert ended.code == 3
    assert ended.seconds < 2
    assert ended.errors.count("\n") == 1, ended.errors
    assert "takes no events (Connection refused)" in ended.errors


def test_an_exception_of_the_job_is_the_only_traceback(spool: Path) -> None:
    body = "delivery.send(numbered(0))\ndelivery.flush(0.3)\nprint('leaving', flush=True)\nraise KeyError('mine')"
    ended = run(body, spool, "http://127.0.0.1:9")
    assert ended.code == 1
    assert ended.errors.count("Traceback") == 1
    assert "KeyError: 'mine'" in ended.errors


def test_a_sink_that_hangs_in_our_thread(spool: Path, file: Path) -> None:
    body = """
sink = Recorder('hangs')
sink.let_go.clear()
other = Delivery([sink], spool)
other.send(numbered(0))
time.sleep(0.1)
print('leaving', flush=True)
"""
    ended = run(body, spool, file.as_uri())
    assert ended.code == 0
    assert ended.seconds < 6
    assert ended.errors.count("\n") == 1, ended.errors


@pytest.mark.skipif(not hasattr(os, "fork"), reason="not run: this system has no fork")
def test_a_forked_child_neither_delivers_nor_disturbs(spool: Path, file: Path) -> None:
    body = """
delivery.send(numbered(0))
if os.fork() == 0:
    for n in range(100, 110):
        delivery.send(numbered(n))
    assert delivery.flush(5) is False
    assert delivery.counts[delivery._forwarders[0].name].dropped == 10
    delivery.fail_open_runs()
    delivery.close(5)
    sys.exit(0)
os.wait()
for n in range(1, 10):
    delivery.send(numbered(n))
print('leaving', flush=True)
"""
    ended = run(body, spool, file.as_uri())
    assert ended.code == 0
    assert ended.errors.count("\n") == 1
    assert "This process was forked" in ended.errors
    assert numbers(lines(file)) == list(range(10))
    assert list(spool.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="not run: this system has no fork")
def test_a_child_that_lives_on_does_not_keep_the_dead_alive(spool: Path, deliver: Deliver) -> None:
    """The child has inherited the parent's open files, and a lock belongs to the open file.

    It gives them up in its first moments, so it is given these before the parent dies.
    """
    body = """
delivery.send(numbered(0))
told, tell = os.pipe()
child = os.fork()
if child == 0:
    os.write(tell, b'alive')
    time.sleep(60)
    os._exit(0)
os.read(told, 5)
print(child, flush=True)
os.kill(os.getpid(), 9)
"""
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    dead_end = "http://127.0.0.1:9"
    with subprocess.Popen(
        [sys.executable, "-c", PRELUDE + body, str(spool), dead_end], stdout=subprocess.PIPE, cwd=ROOT, env=environment
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.wait()
        try:
            delivery = deliver(sink_for(dead_end))
            soon(lambda: delivery.counts["http://127.0.0.1:9/api/v1/lineage"].waiting == 1)
        finally:
            os.kill(child, signal.SIGKILL)


def test_it_starts_quickly() -> None:
    """The libraries behind HTTP and the store are not needed before an event is."""
    script = "import sys, headwater.capture.delivery\nprint(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert "headwater.capture.delivery.http" in loaded
    assert not {"requests", "urllib3", "ssl", "sqlalchemy", "openlineage", "pyspark"} & set(loaded)
    assert not any(name.startswith("headwater.store") for name in loaded)
