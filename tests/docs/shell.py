"""A shell for whoever does what a page says: a folder of their own, and the programs that pages speak of."""

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

DESK = Path(__file__).with_name("desk.py")


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str


class NotAtWork(Exception):
    """What should go on until Ctrl-C ended by itself, never began, or did not end well."""


@dataclass(frozen=True)
class Typed:
    process: subprocess.Popen[bytes]
    said: Path

    def answer(self) -> Answer:
        out, err = ((self.said / name).read_text(errors="replace") for name in ("out", "err"))
        return Answer(self.process.returncode, out, err)


class Desk:
    """The process of desk.py, and the line by which a program of a shell hands over to it."""

    def __init__(self) -> None:
        # The path of a socket has to be short, and that of a test's folder is not.
        self._place = Path(tempfile.mkdtemp(prefix="headwater-desk-", dir="/tmp"))
        self._process: subprocess.Popen[bytes] | None = None

    def handed(self, program: str) -> str:
        return f'exec {sys.executable} -I -S {DESK} hand {self._place / "socket"} {program} "$@"'

    def open(self, folder: Path, environment: dict[str, str]) -> None:
        if self._process is not None:
            return
        self._process = subprocess.Popen(
            [sys.executable, str(DESK), "open", str(self._place / "socket")],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 180
        while not (self._place / "socket").exists():
            assert self._process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()  # Spark's Java ends with it
            self._process.wait()
        shutil.rmtree(self._place)


class Shell:
    """`bash`, a process a line; what one line exports the next one has.

    ``at_hand`` are the programs that the desk does. `headwater serve` and `headwater exec` become other processes, and
    so are processes here.
    """

    def __init__(self, folder: Path, at_hand: tuple[str, ...] = ("headwater",)) -> None:
        self.folder = folder / "work"
        self._aside = folder / "aside"  # what is no part of what a page speaks of
        self._tools = self._aside / "tools"
        self.home = self._aside / "home"
        for new in (self.folder, self._tools, self.home):
            new.mkdir(parents=True)
        (self._aside / "exported").write_text("")
        self._desk = Desk()
        for name, how in (("headwater", f"{sys.executable} -m headwater"), ("python", sys.executable)):
            real = f'exec {how} "$@"'
            handed = f'case "$1" in serve | exec) {real} ;; esac\n{self._desk.handed(name)}'
            self.tool(name, handed if name in at_hand else real)
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
        self._desk.close()

    def tool(self, name: str, script: str) -> None:
        (self._tools / name).write_text(f"#!/bin/sh\n{script}\n")
        (self._tools / name).chmod(0o755)

    def has(self, program: str) -> bool:
        return shutil.which(program, path=self._environment["PATH"]) is not None

    def types(self, line: str) -> Answer:
        exported = self._aside / "exported"
        # What follows is behind a new line: what is typed may end with a comment.
        with self._typed(f"{{\n{line}\n}}\ncode=$?\nexport -p > {exported}\nexit $code") as typed:
            typed.process.wait(600)
        return typed.answer()

    @contextmanager
    def goes_on(self, line: str, until: Callable[[], bool]) -> Iterator[None]:
        """What does not end by itself: it is there once ``until`` says so, and gets Ctrl-C when the block is left."""
        with self._typed(line) as typed:
            deadline = time.monotonic() + 300
            while not until():
                if typed.process.poll() is not None or time.monotonic() > deadline:
                    raise NotAtWork(typed.answer())
                time.sleep(0.1)
            yield
            os.killpg(typed.process.pid, signal.SIGINT)
            typed.process.wait(180)
            if typed.answer().code != 0:
                raise NotAtWork(typed.answer())

    @contextmanager
    def _typed(self, script: str) -> Iterator[Typed]:
        self._desk.open(self.folder, self._environment)
        # Files, and not pipes: Spark's Java holds on to what it has inherited.
        said = Path(tempfile.mkdtemp(dir=self._aside))
        with (said / "out").open("wb") as out, (said / "err").open("wb") as err:
            process = subprocess.Popen(
                ["bash", "-c", f". {self._aside / 'exported'}\n{script}"],
                cwd=self.folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        try:
            yield Typed(process, said)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
