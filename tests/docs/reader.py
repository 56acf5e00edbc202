"""Somebody who does what a page says, line by line, and looks whether it comes out as shown."""

from __future__ import annotations

import re
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.docs.shell import Answer, NotAtWork, Shell
from tests.server.running import free_port
from tests.support.console import agrees, blocks

ROOT = Path(__file__).parents[2]
TYPED = ("sh", "bash", "shell")
"""Blocks whose every line is typed; of a `console` it is those with a `$`."""
OF_OTHERS = ("createdb", "curl", "dbt-ol", "openssl")
"""Programs that a machine may be without."""


@dataclass(frozen=True)
class Command:
    page: str
    text: str
    shown: str

    @property
    def bare(self) -> str:
        return bare(self.text)


def bare(line: str) -> str:
    """Without what is said about it behind it."""
    return re.sub(r"\s+# .*$", "", line)


def commands(page: Path) -> Iterator[Command]:
    name = str(page.relative_to(ROOT))
    for block in blocks(page.read_text()):
        if block.language == "console":
            assert block.text.startswith("$ "), f"{name}: a console begins with a command:\n{block.text}"
            for text, shown in block.commands():
                yield Command(name, text, shown)
        elif block.language in TYPED:
            for line in block.text.splitlines():
                if line and not line.startswith("#"):
                    yield Command(name, line, "")


class Values(dict[str, "str | Callable[[], str]"]):
    """What a name stands for; it may be asked for when it is first needed."""

    def __getitem__(self, name: str) -> Any:
        value = super().__getitem__(name)
        return value() if callable(value) else value


Meanwhile = Mapping[str, "str | Callable[[Reader], None]"]


class Reader:
    """``stands_for``: what is an example on the pages, and what it is here.

    ``once``: what begins so is done once, and whoever does it again gets that answer. Several pages ask Spark the same.
    """

    def __init__(self, shell: Shell, stands_for: Mapping[str, str], once: tuple[str, ...] = ()) -> None:
        self.shell = shell
        self.values = Values(folder=str(shell.folder))
        self.answers: dict[str, Answer] = {}
        self._once = once
        self._asked: dict[str, Answer] = {}
        self._stands_for = stands_for
        self._examples = re.compile("|".join(sorted(map(re.escape, stands_for), key=len, reverse=True)))
        self._server = ExitStack()

    @property
    def folder(self) -> Path:
        return self.shell.folder

    def follows(
        self, told: list[Command], meanwhile: Meanwhile, endless: Mapping[str, Callable[[Reader], bool]]
    ) -> list[str]:
        """What could not be run for want of a program of others.

        ``meanwhile``: what happens before a command that begins so. ``endless``: how one sees that it is at work.
        """
        wrong, missing = [], []
        with self._server:
            for command in told:
                if (program := self._lacks(command)) is not None:
                    missing.append(f"{command.bare}: there is no {program} here")
                    continue
                try:
                    self._what_happens_before(command, meanwhile)
                    fault = self._fault(command, endless.get(command.bare))
                except pytest.skip.Exception as skipped:
                    missing.append(f"{command.bare}: {skipped}")
                    continue
                if fault is not None:
                    wrong.append(fault)
        assert wrong == [], "\n".join(wrong)
        return missing

    def here(self, text: str) -> str:
        """With what stands here for the examples of the page."""
        return self._examples.sub(lambda found: self._stands_for[found[0]].format_map(self.values), text)

    def types(self, line: str) -> str:
        """What the page takes for granted."""
        answer = self.shell.types(line)
        assert answer.code == 0, f"$ {line}\n{answer.err}"
        return answer.out

    def asks(self, line: str) -> Answer:
        if not line.startswith(self._once):
            return self.shell.types(line)
        question = bare(line)
        if question not in self._asked:
            self._asked[question] = self.shell.types(line)
        return self._asked[question]

    def knows(self, line: str, answer: Answer) -> None:
        self._asked[line] = answer

    def _what_happens_before(self, command: Command, meanwhile: Meanwhile) -> None:
        for beginning, happens in meanwhile.items():
            if command.text.startswith(beginning):
                self.types(happens) if isinstance(happens, str) else happens(self)

    def _lacks(self, command: Command) -> str | None:
        program = re.sub(r"^(\w+=\S+ )+", "", command.text).split()[0]
        return program if program in OF_OTHERS and not self.shell.has(program) else None

    def _fault(self, command: Command, until: Callable[[Reader], bool] | None) -> str | None:
        try:
            if command.bare.startswith("headwater serve"):
                self._serves(command)
                return None
            if until is not None:
                with self.shell.goes_on(self.here(command.text), lambda: until(self)):
                    return None
        except NotAtWork as why:
            return f"{command.page}: $ {command.text}\n{why}"
        typed, shown = self.here(command.text), self.here(command.shown)
        answer = self.asks(typed)
        self.answers[command.bare] = answer
        said = answer.err + answer.out if command.bare.startswith("headwater") else answer.out
        refused = command.shown.startswith("Error: ")
        if answer.code != int(refused) or (shown and not agrees(shown, said)):
            return f"{command.page}: $ {typed}\n{answer.out}{answer.err}[{answer.code}]"
        return None

    def _serves(self, command: Command) -> None:
        """It goes on while the page does, or until it tells of another."""
        self._server.close()
        port = free_port()
        address = f"http://127.0.0.1:{port}"
        self.values |= {"port": str(port), "server": address}
        self._server.enter_context(self.shell.goes_on(self.here(command.text), lambda: is_ready(address)))


def is_ready(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/health/ready", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
