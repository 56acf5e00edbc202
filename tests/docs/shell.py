"""A shell that runs the commands of a page in its own folder, with the programs that pages use."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.cli.running import bare_environment
from tests.support.spark import short_job_environment

PROGRAM = Path(__file__).with_name("command_process.py")


@dataclass(frozen=True)
class CommandResult:
    code: int
    out: str
    err: str


class BackgroundCommandFailed(Exception):
    """A command that should run until Ctrl-C exited early, was never ready, or failed at its end."""


@dataclass(frozen=True)
class RunningCommand:
    process: subprocess.Popen[bytes]
    output: Path

    def result(self) -> CommandResult:
        out, err = ((self.output / name).read_text(errors="replace") for name in ("out", "err"))
        return CommandResult(self.process.returncode, out, err)


class CommandProcess:
    """The process of command_process.py, and the script by which a program of the shell sends its command to it."""

    def __init__(self) -> None:
        # The path of a socket must be short, and that of a test's folder is not.
        self._folder = Path(tempfile.mkdtemp(prefix="headwater-commands-", dir="/tmp"))
        self._process: subprocess.Popen[bytes] | None = None

    def sending_script(self, program: str) -> str:
        return f'exec {sys.executable} -I -S {PROGRAM} send {self._folder / "socket"} {program} "$@"'

    def open(self, folder: Path, environment: dict[str, str]) -> None:
        if self._process is not None:
            return
        self._process = subprocess.Popen(
            [sys.executable, str(PROGRAM), "serve", str(self._folder / "socket")],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 180
        while not (self._folder / "socket").exists():
            assert self._process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()  # Spark's Java ends with it
            self._process.wait()
        shutil.rmtree(self._folder)


class Shell:
    """`bash`, one process per line; a line gets the variables that earlier lines exported.

    The programs ``in_one_process`` run in the command process. `headwater serve` and `headwater exec` start other
    programs, so each gets a process of its own.
    """

    def __init__(self, folder: Path, in_one_process: tuple[str, ...] = ("headwater",)) -> None:
        self.folder = folder / "work"
        self._private = folder / "aside"  # files that are not part of the page's examples
        self._tools = self._private / "tools"
        self.home = self._private / "home"
        for new in (self.folder, self._tools, self.home):
            new.mkdir(parents=True)
        (self._private / "exported").write_text("")
        self._commands = CommandProcess()
        for name, program in (("headwater", f"{sys.executable} -m headwater"), ("python", sys.executable)):
            own_process = f'exec {program} "$@"'
            sending_script = f'case "$1" in serve | exec) {own_process} ;; esac\n{self._commands.sending_script(name)}'
            self.add_program(name, sending_script if name in in_one_process else own_process)
        self._environment = {
            **{name: value for name, value in bare_environment().items() if not name.startswith("HEADWATER_")},
            **short_job_environment(),
            "HOME": str(self.home),
            "PATH": f"{self._tools}{os.pathsep}{os.environ['PATH']}",
        }
        self._environment.pop("XDG_CONFIG_HOME", None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._commands.close()

    def add_program(self, name: str, script: str) -> None:
        (self._tools / name).write_text(f"#!/bin/sh\n{script}\n")
        (self._tools / name).chmod(0o755)

    def has_program(self, program: str) -> bool:
        return shutil.which(program, path=self._environment["PATH"]) is not None

    def run(self, line: str) -> CommandResult:
        exported = self._private / "exported"
        # The closing brace is on a new line, because the line may end with a comment.
        with self._started(f"{{\n{line}\n}}\ncode=$?\nexport -p > {exported}\nexit $code") as command:
            command.process.wait(600)
        return command.result()

    @contextmanager
    def run_in_background(self, line: str, until: Callable[[], bool]) -> Iterator[None]:
        """Runs an endless command. It is ready when ``until`` is true, and gets Ctrl-C at the end."""
        with self._started(line) as command:
            deadline = time.monotonic() + 300
            while not until():
                if command.process.poll() is not None or time.monotonic() > deadline:
                    raise BackgroundCommandFailed(command.result())
                time.sleep(0.1)
            yield
            os.killpg(command.process.pid, signal.SIGINT)
            command.process.wait(180)
            if command.result().code != 0:
                raise BackgroundCommandFailed(command.result())

    @contextmanager
    def _started(self, script: str) -> Iterator[RunningCommand]:
        self._commands.open(self.folder, self._environment)
        # Files, not pipes: Spark's JVM keeps inherited descriptors open.
        output = Path(tempfile.mkdtemp(dir=self._private))
        with (output / "out").open("wb") as out, (output / "err").open("wb") as err:
            process = subprocess.Popen(
                ["bash", "-c", f". {self._private / 'exported'}\n{script}"],
                cwd=self.folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        try:
            yield RunningCommand(process, output)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
