"""Follows docs/tutorial.md: writes its files and runs its commands one after the other, on real Spark.

One process runs all commands, so that Java starts once; `./dev test --all` starts a process for each, as a user does.
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
from tests.docs.shell import CommandProcess
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
    """Runs the commands of the page in one shell."""

    def __init__(self, folder: Path, commands: CommandProcess | None) -> None:
        """Programs run in the process ``commands``, or, without it, in processes of their own."""
        self.folder = folder
        tools = folder / "tools"
        tools.mkdir()
        for name, what in (("headwater", "-m headwater "), ("python", "")):
            own_process = f'exec {sys.executable} {what}"$@"'
            (tools / name).write_text(
                f"#!/bin/sh\n{own_process if commands is None else commands.sending_script(name)}\n"
            )
            (tools / name).chmod(0o755)
        (folder / "work").mkdir()
        self.work = folder / "work"
        settings = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", "HOME": str(folder)}
        self.environment = {**bare_environment(), **settings, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
        if commands is not None:
            self.environment |= short_job_environment()
            commands.open(self.work, self.environment)
        with (folder / "stderr").open("wb") as stderr:
            self.shell = subprocess.Popen(
                ["bash"],
                cwd=self.work,
                env=self.environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
            )

    def run(self, command: str) -> str:
        assert self.shell.stdin is not None
        assert self.shell.stdout is not None
        self.shell.stdin.write(f"{command} </dev/null\necho '{DONE}'\n")
        self.shell.stdin.flush()
        output = ""
        for line in self.shell.stdout:
            if line == f"{DONE}\n":
                return output
            output += line
        raise AssertionError(f"The shell ended at: {command}")

    def check_server(self) -> None:
        """Checks `headwater serve` on a free port."""
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
                output = connection.getresponse()
                assert output.status == 200
                return output.read().decode()
            except ConnectionRefusedError:
                assert time.monotonic() < deadline
                time.sleep(0.1)
            finally:
                connection.close()

    def close(self) -> None:
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
    with closing(CommandProcess()) as commands:
        yield Reader(tmp_path, commands)


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
                        reader.check_server()
                    elif not agrees(shown, output := reader.run(command)):
                        wrong.append(f"$ {command}\n{output}")
            else:
                assert block.language == "sh", "only the installation does not run here"
                assert "./dev demo" in block.text
    finally:
        reader.close()
    assert wrong == [], "\n".join([*wrong, (tmp_path / "stderr").read_text()[-3000:]])


def change(file: Path, difference: str) -> None:
    """Inserts the lines that begin with `+` after the line above them."""
    context, *added = difference.splitlines()
    lines = file.read_text().splitlines()
    place = lines.index(context.removeprefix(" ")) + 1
    assert all(line.startswith("+") for line in added)
    lines[place:place] = [line.removeprefix("+") for line in added]
    file.write_text("\n".join(lines) + "\n")
