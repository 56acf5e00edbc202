"""docs/tutorial.md is done as it says: its files written, its commands run one after the other, on real Spark.

One process does all its commands, so that Java starts once; `./dev test --all` starts one for each, as a person does.
"""

from __future__ import annotations

import http.client
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.running import bare_environment
from tests.docs.shell import Desk
from tests.server.running import free_port
from tests.support import why_missing
from tests.support.console import agrees, blocks
from tests.support.spark import short_job_environment

pytestmark = pytest.mark.spark

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial.md"
DONE = "-- done --"


@pytest.fixture(autouse=True)
def _java() -> None:
    if (reason := why_missing("java")) is not None:
        pytest.skip(f"not run: no Java 17 or 21: {reason}")


class Reader:
    """Somebody who does what the page says, in one shell from beginning to end."""

    def __init__(self, folder: Path, desk: Desk | None) -> None:
        """Whose programs are processes of their own, or done by the ``desk``."""
        self.folder = folder
        tools = folder / "tools"
        tools.mkdir()
        for name, what in (("headwater", "-m headwater "), ("python", "")):
            real = f'exec {sys.executable} {what}"$@"'
            (tools / name).write_text(f"#!/bin/sh\n{real if desk is None else desk.handed(name)}\n")
            (tools / name).chmod(0o755)
        (folder / "work").mkdir()
        self.work = folder / "work"
        ours = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", "HOME": str(folder)}
        self.environment = {**bare_environment(), **ours, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
        if desk is not None:
            self.environment |= short_job_environment()
            desk.open(self.work, self.environment)
        with (folder / "stderr").open("wb") as aside:
            self.shell = subprocess.Popen(
                ["bash"],
                cwd=self.work,
                env=self.environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=aside,
                text=True,
            )

    def types(self, command: str) -> str:
        assert self.shell.stdin is not None
        assert self.shell.stdout is not None
        self.shell.stdin.write(f"{command} </dev/null\necho '{DONE}'\n")
        self.shell.stdin.flush()
        answer = ""
        for line in self.shell.stdout:
            if line == f"{DONE}\n":
                return answer
            answer += line
        raise AssertionError(f"The shell ended at: {command}")

    def serves(self) -> None:
        """What `headwater serve` does, at a port that is free here."""
        port = free_port()
        server = subprocess.Popen(
            [sys.executable, "-m", "headwater", "serve", "--port", str(port)],
            cwd=self.work,
            env=self.environment,
            stderr=subprocess.DEVNULL,
        )
        try:
            assert "<html" in self._page(port).lower()
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(180)

    @staticmethod
    def _page(port: int) -> str:
        deadline = time.monotonic() + 60
        while True:
            try:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
                connection.request("GET", "/", headers={"Accept": "text/html"})
                answer = connection.getresponse()
                assert answer.status == 200
                return answer.read().decode()
            except ConnectionRefusedError:
                assert time.monotonic() < deadline
                time.sleep(0.1)
            finally:
                connection.close()

    def leaves(self) -> None:
        assert self.shell.stdin is not None
        assert self.shell.stdout is not None
        self.shell.stdin.close()
        self.shell.wait(180)
        self.shell.stdout.close()


@pytest.fixture(params=["one process", pytest.param("a process each", marks=pytest.mark.long)])
def reader(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Reader]:
    if request.param == "a process each":
        yield Reader(tmp_path, None)
        return
    with closing(Desk()) as desk:
        yield Reader(tmp_path, desk)


def test_the_tutorial(reader: Reader, tmp_path: Path) -> None:
    wrong = []
    try:
        for block in blocks(TUTORIAL.read_text()):
            names = re.findall(r"`([\w.]+\.(?:csv|py))`", block.before)
            if block.language in ("csv", "python"):
                (reader.work / names[-1]).write_text(block.text)
            elif block.language == "diff":
                change(reader.work / names[-1], block.text)
            elif block.language == "console":
                for command, shown in block.commands():
                    if command == "headwater serve":
                        reader.serves()
                    elif not agrees(shown, answer := reader.types(command)):
                        wrong.append(f"$ {command}\n{answer}")
            else:
                assert block.language == "sh", "only the installation is not done here"
                assert "./dev demo" in block.text
    finally:
        reader.leaves()
    assert wrong == [], "\n".join([*wrong, (tmp_path / "stderr").read_text()[-3000:]])


def change(file: Path, difference: str) -> None:
    """Lines that begin with `+`, put behind the one above them."""
    context, *added = difference.splitlines()
    lines = file.read_text().splitlines()
    place = lines.index(context.removeprefix(" ")) + 1
    assert all(line.startswith("+") for line in added)
    lines[place:place] = [line.removeprefix("+") for line in added]
    file.write_text("\n".join(lines) + "\n")
