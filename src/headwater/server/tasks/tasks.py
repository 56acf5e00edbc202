"""Tasks: each has a process and a folder. All workers of a server share the folder, so any can report any task.

<workspace>/tasks/<id>/
    input.json       the kind, the owner and the input that it was started with
    process          its process id
    progress.json    written by the process repeatedly
    result.json      written by the process at its end; or problem.json
    errors           stderr of the process
    scratch/         where a confined task writes; removed at its end
    cancelled        written by the worker that cancelled it
    ended            written by the worker that started it, after the process has exited
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, TypedDict
from uuid import UUID, uuid4

from headwater.errors import HeadwaterError
from headwater.model.tasks import Progress, Task, TaskState
from headwater.server.app.problems import HttpProblem, problem_of
from headwater.server.tasks.confinement import (
    SCRATCH,
    LimitCheck,
    StoreChannelServer,
    TaskLimits,
    environment,
    remove_scratch,
)

STORE_VARIABLE = "HEADWATER_STORE"
"""The variable that passes the URL of the store to a task."""
_MAX_RUNNING = 2
_POLL_SECONDS = 1.0  # seconds between two checks of the limits
_MAX_FINISHED = 100
_MAX_STDERR_BYTES = 4000
"""Bytes at the end of a failed task's stderr that are logged: the error is the last thing there."""
_log = logging.getLogger("headwater.server")
_FAILED = {"code": "failed", "detail": "The task failed. See the server's log."}


class _TaskHead(TypedDict):
    """The content of `input.json`."""

    kind: str
    owner: str
    started_at: str
    input: dict[str, object]


class Tasks:
    def __init__(self, workspace: Path) -> None:
        self._folder = workspace / "tasks"
        self._folder.mkdir(parents=True, exist_ok=True)
        self._children: dict[str, subprocess.Popen[bytes]] = {}

    def start(
        self,
        kind: str,
        module: str,
        task_input: Mapping[str, object],
        owner: str,
        *,
        alone: bool = False,
        confined: Confinement | None = None,
        **environment: str,
    ) -> Task:
        """Run ``module`` with the folder as its argument. Secrets are passed in the environment, not in the folder.

        ``alone``: only if no other task of the kind is running. ``confined``: a task that runs untrusted code gets
        nothing from the server but answers to its requests.
        """
        running = self.running()
        if len(running) >= _MAX_RUNNING:
            raise _busy(f"{_MAX_RUNNING} tasks are already running.")
        if alone and any(task.kind == kind for task in running):
            raise _busy(f"A {kind} task is already running.")
        self._remove_old()
        number = str(uuid4())
        folder = self._folder / number
        folder.mkdir()
        head = _TaskHead(kind=kind, owner=owner, started_at=datetime.now(UTC).isoformat(), input=dict(task_input))
        write_json(folder / "input.json", head)
        # Not to the server's stderr: that is the log, where every line is JSON.
        with (folder / "errors").open("wb") as errors:
            if confined is None:
                process = _start_process(module, folder, errors, env={**os.environ, **environment})
            else:
                process = confined.open(module, folder, errors)
        (folder / "process").write_text(str(process.pid))
        self._children[number] = process
        arguments = (number, process, confined)
        threading.Thread(target=self._await, args=arguments, name=f"task {number}", daemon=True).start()
        return self.task(number)

    def _await(self, number: str, process: subprocess.Popen[bytes], confined: Confinement | None) -> None:
        folder = self._folder / number
        code = process.wait() if confined is None else confined.wait(folder, process)
        with suppress(OSError):  # the folder is removed with the server
            if code != 0 and not (folder / "cancelled").exists():
                stderr = _tail_of(folder / "errors")
                _log.error("a task failed", extra={"task": number, "exit": code, "stderr": stderr})
            (folder / "ended").touch()
        self._children.pop(number, None)

    def task(self, number: str) -> Task:
        folder = self._folder / number
        head: _TaskHead | None = read_json(folder / "input.json") if _is_task_id(number) else None
        if head is None:
            raise HttpProblem(404, "unknown_task", "No such task.")
        # In this order: a process writes its result before it exits.
        ended = (folder / "ended").exists()
        problem, progress = read_json(folder / "problem.json"), read_json(folder / "progress.json")
        state = _state(folder, ended, problem is not None)
        return Task(
            id=number,
            kind=head["kind"],
            owner=head["owner"],
            state=state,
            started_at=datetime.fromisoformat(head["started_at"]),
            progress=Progress(**progress) if progress is not None else None,
            result=read_json(folder / "result.json") if state is TaskState.SUCCEEDED else None,
            problem=(problem or _FAILED) if state is TaskState.FAILED else None,
        )

    def input(self, number: str) -> Mapping[str, object]:
        """Return the input that the task was started with."""
        self.task(number)  # refuses an unknown id
        head: _TaskHead = read_json(self._folder / number / "input.json")
        return head["input"]

    def all(self) -> list[Task]:
        """Return all tasks, newest first."""
        tasks = []
        for folder in self._folder.iterdir():
            with suppress(HttpProblem):  # its folder may be incomplete, or just being removed
                tasks.append(self.task(folder.name))
        return sorted(tasks, key=lambda task: task.started_at, reverse=True)

    def running(self) -> list[Task]:
        return [task for task in self.all() if task.state is TaskState.RUNNING]

    def cancel(self, number: str) -> Task:
        task = self.task(number)
        if task.state is TaskState.RUNNING:
            folder = self._folder / number
            (folder / "cancelled").touch()
            _kill_group(int((folder / "process").read_text()))
        return self.task(number)

    def close(self) -> None:
        """Cancel the tasks that this process started."""
        for number in list(self._children):
            self.cancel(number)

    def _remove_old(self) -> None:
        old = [task for task in self.all() if task.state is not TaskState.RUNNING][_MAX_FINISHED:]
        for task in old:
            shutil.rmtree(self._folder / task.id, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class Confinement:
    """How a task is confined: its limits, and the server of its channel to the store."""

    answers: StoreChannelServer
    limits: TaskLimits

    def open(self, module: str, folder: Path, errors: IO[bytes]) -> subprocess.Popen[bytes]:
        scratch = folder / SCRATCH
        scratch.mkdir(mode=0o700)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        process = _start_process(module, folder, errors, env=environment(scratch), **pipes)
        pipes_of_task = (process.stdout, process.stdin)
        name = f"task {folder.name} channel"
        threading.Thread(target=self.answers.serve, args=pipes_of_task, name=name, daemon=True).start()
        return process

    def wait(self, folder: Path, process: subprocess.Popen[bytes]) -> int:
        limit_check = LimitCheck(folder, self.limits)
        while True:
            try:
                code = process.wait(_POLL_SECONDS)
                break
            except subprocess.TimeoutExpired:
                reason = limit_check.violation()
                if reason is not None:
                    with suppress(OSError):  # the folder is removed with the server
                        write_json(folder / "problem.json", {"code": "task_limit", "detail": reason})
                    _kill_group(process.pid)
        _kill_group(process.pid)  # processes that it left behind in its group
        remove_scratch(folder)
        return code


def _start_process(
    module: str,
    folder: Path,
    errors: IO[bytes],
    *,
    env: Mapping[str, str],
    stdin: int = subprocess.DEVNULL,
    stdout: int = subprocess.DEVNULL,
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", module, str(folder)],
        env=env,
        stdin=stdin,
        stdout=stdout,
        stderr=errors,
        close_fds=True,
        start_new_session=True,  # its own group: Spark's Java ends with it
    )


def _state(folder: Path, ended: bool, failed: bool) -> TaskState:
    if (folder / "cancelled").exists():
        return TaskState.CANCELLED
    if (folder / "result.json").exists():
        return TaskState.SUCCEEDED
    return TaskState.FAILED if failed or ended else TaskState.RUNNING


def _tail_of(file: Path) -> str:
    with file.open("rb") as content:
        content.seek(max(0, file.stat().st_size - _MAX_STDERR_BYTES))
        return content.read().decode(errors="replace")


def _is_task_id(text: str) -> bool:
    """Whether the text is a task id; checked before it becomes part of a path."""
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


def _kill_group(process: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)


def _busy(reason: str) -> HttpProblem:
    return HttpProblem(429, "tasks_busy", f"{reason} Retry later.", {"Retry-After": "10"})


# -- for the processes ------------------------------------------------------------------------------------------------


def write_progress(folder: Path, text: str, done: int = 0, total: int = 0) -> None:
    write_json(folder / "progress.json", {"text": text, "done": done, "total": total})


def write_problem(folder: Path, error: HeadwaterError) -> None:
    problem = problem_of(error)
    write_json(folder / "problem.json", {"code": problem.code, "detail": problem.detail, **problem.more})


def write_json(file: Path, value: object) -> None:
    """Write atomically, so that a concurrent reader sees the old or the new file."""
    unfinished = file.with_suffix(".new")
    unfinished.write_text(json.dumps(value))
    unfinished.replace(file)


def read_json(file: Path) -> Any:
    """Parsed JSON, whose type is named where it is taken; None if there is no such file."""
    try:
        return json.loads(file.read_text())
    except FileNotFoundError:
        return None
