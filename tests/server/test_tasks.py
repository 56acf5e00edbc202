"""Tasks: a process each, observed and cancelled through any worker; and row lookups without a task."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from headwater.engines import values as conditions
from headwater.model.tasks import Task, TaskState
from headwater.server.app.logs import JsonLogFormatter
from headwater.server.app.problems import HttpProblem
from headwater.server.tasks.tasks import Tasks
from tests.server.api import API, ask

CHILD = "tests.server.slow_task"


def ended(tasks: Tasks, number: str) -> Task:
    for _ in range(400):
        task = tasks.task(number)
        if task.state is not TaskState.RUNNING:
            return task
        time.sleep(0.05)
    raise AssertionError("the task does not end")


def test_the_life_of_a_task(tmp_path: Path) -> None:
    tasks, of_another_worker = Tasks(tmp_path), Tasks(tmp_path)
    started = tasks.start("test", CHILD, {"seconds": 0.5, "answer": 42}, "somebody")
    assert (started.state, started.owner) == (TaskState.RUNNING, "somebody")
    done = ended(of_another_worker, started.id)
    assert (done.state, done.result, done.problem) == (TaskState.SUCCEEDED, {"answer": 42}, None)
    assert done.progress is not None
    assert done.progress.total == 5


def test_a_failing_task_and_a_killed_one(tmp_path: Path) -> None:
    tasks = Tasks(tmp_path)
    refused = ended(tasks, tasks.start("test", CHILD, {"refuse": "no such rows"}, "me").id)
    assert refused.problem == {"code": "rows_error", "detail": "no such rows"}
    died = ended(tasks, tasks.start("test", CHILD, {"die": True}, "me").id)
    assert died.state is TaskState.FAILED
    assert died.problem is not None
    assert "secret" not in str(died.problem)


def test_a_task_cancelled_by_another_worker(tmp_path: Path) -> None:
    tasks, of_another_worker = Tasks(tmp_path), Tasks(tmp_path)
    started = tasks.start("test", CHILD, {"seconds": 60}, "me")
    process = int((tmp_path / "tasks" / started.id / "process").read_text())
    assert of_another_worker.cancel(started.id).state is TaskState.CANCELLED
    for _ in range(200):
        if (tmp_path / "tasks" / started.id / "ended").exists():
            break
        time.sleep(0.02)
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
    assert of_another_worker.cancel(started.id).state is TaskState.CANCELLED


def test_the_number_of_tasks_is_limited(tmp_path: Path) -> None:
    tasks = Tasks(tmp_path)
    for _ in range(2):
        tasks.start("test", CHILD, {"seconds": 60}, "me")
    with pytest.raises(HttpProblem, match="2 tasks are already running"):
        tasks.start("test", CHILD, {}, "me")
    tasks.close()
    assert tasks.running() == []


def test_an_exclusive_kind_runs_once(tmp_path: Path) -> None:
    tasks = Tasks(tmp_path)
    tasks.start("test", CHILD, {"seconds": 60}, "me", alone=True)
    with pytest.raises(HttpProblem, match="A test task is already running"):
        tasks.start("test", CHILD, {}, "me", alone=True)
    tasks.start("other", CHILD, {}, "me", alone=True)
    tasks.close()


def test_the_stderr_of_a_failed_task_is_one_line_of_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    tasks = Tasks(tmp_path)
    died = ended(tasks, tasks.start("test", CHILD, {"die": True}, "me").id)
    tasks.cancel(tasks.start("test", CHILD, {"seconds": 60}, "me").id)
    tasks.close()
    [record] = [record for record in caplog.records if record.getMessage() == "a task failed"]
    line = json.loads(JsonLogFormatter().format(record))
    assert (line["task"], line["exit"], line["level"]) == (died.id, 1, "error")
    assert line["stderr"].rstrip().endswith("RuntimeError: secret")
    assert capfd.readouterr().err == "", "it has written into the server's own log"


def keyed(client: TestClient, **keys: Any) -> dict[str, tuple[str, dict[str, str]]]:
    """By name: the id of a key and its Authorization header."""
    assert isinstance(client.app, FastAPI)
    made = {name: client.app.state.service.store.access.add(name, **about) for name, about in keys.items()}
    return {name: (one.key.key_id, {"Authorization": f"Bearer {one.secret}"}) for name, one in made.items()}


def test_tasks_are_visible_to_their_owner_and_full_admins(client: TestClient) -> None:
    scopes = ["read", "admin"]
    keys = keyed(client, mine={}, other={}, admin={"scopes": scopes}, part={"scopes": scopes, "namespaces": ["open"]})
    assert isinstance(client.app, FastAPI)
    tasks: Tasks = client.app.state.service.tasks
    task = tasks.start("test", CHILD, {"seconds": 60}, keys["mine"][0])
    for name, sees in (("mine", True), ("admin", True), ("other", False), ("part", False)):
        headers = keys[name][1]
        listed = client.get(f"{API}/tasks", headers=headers).json()["items"]
        assert [one["id"] for one in listed] == ([task.id] if sees else []), name
        assert client.get(f"{API}/tasks/{task.id}", headers=headers).status_code == (200 if sees else 404), name
        if not sees:
            assert client.delete(f"{API}/tasks/{task.id}", headers=headers).status_code == 404
    assert tasks.task(task.id).state is TaskState.RUNNING
    called_off = client.delete(f"{API}/tasks/{task.id}", headers=keys["mine"][1])
    assert called_off.json()["state"] == "cancelled"


def test_starting_and_cancelling_a_task_is_audited(client: TestClient) -> None:
    keys = keyed(client, starter={}, admin={"scopes": ["read", "admin"]})
    assert isinstance(client.app, FastAPI)
    store = client.app.state.service.store
    headers = {**keys["starter"][1], "User-Agent": "curl"}
    started = client.post(f"{API}/log/verify", headers=headers).json()["id"]
    for _ in range(2):  # the second time there is nothing left to call off
        client.delete(f"{API}/tasks/{started}", headers={**keys["admin"][1], "User-Agent": "page"})
    entries = store.audit(resource=started)
    assert [entry.event_type for entry in entries] == ["task.cancelled", "task.started"]
    last, first = entries
    assert (first.actor_id, first.actor_type) == (f"starter ({keys['starter'][0]})", "key")
    assert (first.client_ip, first.user_agent, first.action) == ("testclient", "curl", "started")
    assert first.details["owner"] == keys["starter"][0]
    assert first.details["kind"]
    assert (last.actor_id, last.user_agent) == (f"admin ({keys['admin'][0]})", "page")


@pytest.mark.parametrize("number", ["", "%2E%2E", "%2E%2E%2F%2E%2E", "a", "0" * 36])
def test_an_unknown_task(client: TestClient, number: str) -> None:
    assert client.get(f"{API}/tasks/{number.replace('/', '%2F')}").status_code == 404
    assert ask(client, "/tasks") == {"items": [], "next": None}


@pytest.mark.parametrize(
    "values",
    [
        {"a": 1},
        {"a": None},
        {"a": True},
        {"a": 1.5},
        {"a": "x"},
        {'"; DROP': "'; --"},
        {"a`b": "\\' OR 1=1"},
        {"é": "💧"},
    ],
)
def test_values_become_exact_conditions(values: conditions.Values) -> None:
    """DuckDB confirms it; Spark's form contains no text of a value that Spark could parse."""
    import duckdb

    [(name, value)] = values.items()
    quoted = '"' + name.replace('"', '""') + '"'
    condition = conditions.duckdb_condition(values)
    assert condition is not None
    found = duckdb.execute(
        f"SELECT count(*) FROM (SELECT unnest([?, NULL]) AS {quoted}) WHERE {condition.text}",
        [value, *condition.values],
    ).fetchone()
    assert found == ((2 if value is None else 1),)
    spark = conditions.spark_condition(values)
    assert spark is not None
    assert not isinstance(value, str) or value not in spark or not set("'\\$") & set(value)
    assert spark.startswith("`" + name.replace("`", "``") + "`")
