"""A task that runs content of an event: what it gets from the server, and its limits."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from headwater.model.tasks import Task, TaskState
from headwater.server.tasks.confinement import INHERITED_VARIABLES, StoreChannelServer, TaskLimits
from headwater.server.tasks.tasks import Confinement, Tasks
from headwater.store.store import Store
from tests.support.events import run_event, used

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="not run: limits and /proc are Linux's")

CHILD = "tests.server.confined_task"
FACET = {"replayable": False, "needs": ["nothing"], "text": "ü" * 100_000}


@pytest.fixture
def tasks(tmp_path: Path) -> Tasks:
    return Tasks(tmp_path)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(f"sqlite:///{tmp_path}/lineage.db")
    store.ingest(run_event(inputs=["a"], outputs=[{**used("x"), "outputFacets": {"headwater_rows": FACET}}]))
    return store


def ended(tasks: Tasks, number: str) -> Task:
    for _ in range(1_200):
        task = tasks.task(number)
        if task.state is not TaskState.RUNNING and (tasks._folder / number / "ended").exists():
            return task
        time.sleep(0.05)
    raise AssertionError("the task does not end")


Start = Callable[..., Task]


@pytest.fixture
def start(tasks: Tasks, store: Store) -> Start:
    def started(limits: TaskLimits, **asked: Any) -> Task:
        confined = Confinement(StoreChannelServer(store), limits)
        return tasks.start("test", CHILD, {**asked, "limits": asdict(limits)}, "me", confined=confined)

    return started


def test_what_a_task_can_access(tasks: Tasks, store: Store, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HEADWATER_STORE", "HEADWATER_SERVER", "HEADWATER_KEY", "PGPASSWORD", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "canary-secret")
    store.capture_keys.trust("vc0l7ZkZSoXgfGgXUYDvFYpeiMFzL8RUk0f1p+jB5r0=")
    with socket.socket() as listening:
        os.set_inheritable(listening.fileno(), True)
        limits = TaskLimits(seconds=60, megabytes=512, disk_megabytes=2)
        started = start(limits, dataset="x", run=store.runs()[0].run_id, source="a")
        task = ended(tasks, started.id)
    assert task.state is TaskState.SUCCEEDED, task
    found: Any = task.result
    assert set(found["environment"]) <= {
        *INHERITED_VARIABLES,
        "TMPDIR",
        "SPARK_LOCAL_DIRS",
        "SPARK_SUBMIT_OPTS",
        "LC_CTYPE",
    }
    assert "canary-secret" not in str(found)
    assert "lineage.db" not in str(found)
    kinds = {descriptor.partition(":")[0] for descriptor in found["descriptors"]}
    assert "socket" not in kinds
    assert {kind for kind in kinds if kind.startswith("/")} <= {"/dev/null", str(tasks._folder / started.id / "errors")}
    assert found["keys"] == ["vc0l7ZkZSoXgfGgXUYDvFYpeiMFzL8RUk0f1p+jB5r0="]
    assert found["facets"] == [FACET]
    assert [name.rpartition("/")[2] for name in found["run"]] == ["x"]
    assert [name.rpartition("/")[2] for name in found["downstream"]] == ["x"]
    assert found["unknown"][0] == "UnknownDataset"
    assert found["refused"] == "Unknown request."
    assert found["limits"] == [[(512 + 3 * 1024) * 2**20] * 2, [2 * 2**20] * 2]
    assert found["large"] == "File too large"
    assert not (tasks._folder / started.id / "scratch").exists()
    assert "what Spark prints" in (tasks._folder / started.id / "errors").read_text()


@pytest.mark.parametrize(
    ("limits", "asked", "detail"),
    [
        (TaskLimits(seconds=1), {"child": True}, "The task took longer than 1 s."),
        (TaskLimits(seconds=600, disk_megabytes=3), {"write": 5}, "The task wrote more than 3 MB."),
    ],
)
def test_the_limits_of_a_task(
    tasks: Tasks, start: Start, limits: TaskLimits, asked: dict[str, Any], detail: str
) -> None:
    task = ended(tasks, start(limits, **asked).id)
    assert task.problem == {"code": "task_limit", "detail": detail}
    child = tasks._folder / task.id / "child"
    if child.exists():
        for _ in range(400):  # init takes it in a moment
            try:
                os.kill(int(child.read_text()), 0)
            except ProcessLookupError:
                break
            stat = Path(f"/proc/{child.read_text()}/stat")
            if not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z":
                break
            time.sleep(0.05)
        else:
            raise AssertionError("a process of the task goes on")
