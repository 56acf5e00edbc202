"""Runs the commands of a page line by line and compares their output with what the page shows."""

from __future__ import annotations

import re
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.docs.shell import BackgroundCommandFailed, CommandResult, Shell
from tests.server.running import free_port
from tests.support.console import agrees, blocks

ROOT = Path(__file__).parents[2]
SHELL_LANGUAGES = ("sh", "bash", "shell")
"""Blocks in which every line is a command; in a `console` these are the lines with a `$`."""
OPTIONAL_PROGRAMS = ("createdb", "curl", "dbt-ol", "openssl")
"""Programs that may be missing on a machine."""


@dataclass(frozen=True)
class Command:
    page: str
    text: str
    shown: str

    @property
    def without_comment(self) -> str:
        return without_comment(self.text)


def without_comment(line: str) -> str:
    """The line without the comment behind it."""
    return re.sub(r"\s+# .*$", "", line)


def commands(page: Path) -> Iterator[Command]:
    name = str(page.relative_to(ROOT))
    for block in blocks(page.read_text()):
        if block.language == "console":
            assert block.text.startswith("$ "), f"{name}: a console begins with a command:\n{block.text}"
            for text, shown in block.commands():
                yield Command(name, text, shown)
        elif block.language in SHELL_LANGUAGES:
            for line in block.text.splitlines():
                if line and not line.startswith("#"):
                    yield Command(name, line, "")


class Values(dict[str, "str | Callable[[], str]"]):
    """Values of placeholders; a callable is called whenever its value is needed."""

    def __getitem__(self, name: str) -> Any:
        value = super().__getitem__(name)
        return value() if callable(value) else value


StepsBefore = Mapping[str, "str | Callable[[Reader], None]"]


class Reader:
    """``replacements``: values for the examples of the pages.

    ``cached``: commands with such a prefix run once, and their result is reused, because several pages have the same
    Spark commands.
    """

    def __init__(self, shell: Shell, replacements: Mapping[str, str], cached: tuple[str, ...] = ()) -> None:
        self.shell = shell
        self.values = Values(folder=str(shell.folder))
        self.results: dict[str, CommandResult] = {}
        self._cached = cached
        self._cached_results: dict[str, CommandResult] = {}
        self._replacements = replacements
        self._examples = re.compile("|".join(sorted(map(re.escape, replacements), key=len, reverse=True)))
        self._server = ExitStack()

    @property
    def folder(self) -> Path:
        return self.shell.folder

    def run_page(
        self,
        commands_of_page: list[Command],
        steps: StepsBefore,
        until_interrupted: Mapping[str, Callable[[Reader], bool]],
    ) -> list[str]:
        """Runs the commands and returns those that could not run, because a program is missing.

        ``steps``: what runs before a command with such a prefix. ``until_interrupted``: commands that do not end, each
        with the check that it is ready.
        """
        wrong, missing = [], []
        with self._server:
            for command in commands_of_page:
                if (program := self._missing_program(command)) is not None:
                    missing.append(f"{command.without_comment}: {program} is not installed")
                    continue
                try:
                    self._run_steps_before(command, steps)
                    failure = self._failure(command, until_interrupted.get(command.without_comment))
                except pytest.skip.Exception as skipped:
                    missing.append(f"{command.without_comment}: {skipped}")
                    continue
                if failure is not None:
                    wrong.append(failure)
        assert wrong == [], "\n".join(wrong)
        return missing

    def with_replacements(self, text: str) -> str:
        """The text with the examples of the page replaced."""
        return self._examples.sub(lambda found: self._replacements[found[0]].format_map(self.values), text)

    def run(self, line: str) -> str:
        """Runs a command that the page assumes; it must succeed."""
        result = self.shell.run(line)
        assert result.code == 0, f"$ {line}\n{result.err}"
        return result.out

    def run_or_cached(self, line: str) -> CommandResult:
        if not line.startswith(self._cached):
            return self.shell.run(line)
        command = without_comment(line)
        if command not in self._cached_results:
            self._cached_results[command] = self.shell.run(line)
        return self._cached_results[command]

    def add_cached_result(self, line: str, result: CommandResult) -> None:
        self._cached_results[line] = result

    def _run_steps_before(self, command: Command, steps: StepsBefore) -> None:
        for prefix, step in steps.items():
            if command.text.startswith(prefix):
                self.run(step) if isinstance(step, str) else step(self)

    def _missing_program(self, command: Command) -> str | None:
        program = re.sub(r"^(\w+=\S+ )+", "", command.text).split()[0]
        return program if program in OPTIONAL_PROGRAMS and not self.shell.has_program(program) else None

    def _failure(self, command: Command, until: Callable[[Reader], bool] | None) -> str | None:
        try:
            if command.without_comment.startswith("headwater serve"):
                self._start_server(command)
                return None
            if until is not None:
                with self.shell.run_in_background(self.with_replacements(command.text), lambda: until(self)):
                    return None
        except BackgroundCommandFailed as why:
            return f"{command.page}: $ {command.text}\n{why}"
        line, shown = self.with_replacements(command.text), self.with_replacements(command.shown)
        result = self.run_or_cached(line)
        self.results[command.without_comment] = result
        output = result.err + result.out if command.without_comment.startswith("headwater") else result.out
        is_error = command.shown.startswith("Error: ")
        if result.code != int(is_error) or (shown and not agrees(shown, output)):
            return f"{command.page}: $ {line}\n{result.out}{result.err}[{result.code}]"
        return None

    def _start_server(self, command: Command) -> None:
        """Starts the server, which runs until the page ends or starts another."""
        self._server.close()
        port = free_port()
        address = f"http://127.0.0.1:{port}"
        self.values |= {"port": str(port), "server": address}
        self._server.enter_context(
            self.shell.run_in_background(self.with_replacements(command.text), lambda: is_ready(address))
        )


def is_ready(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/health/ready", timeout=5) as result:
            return bool(result.status == 200)
    except OSError:
        return False
