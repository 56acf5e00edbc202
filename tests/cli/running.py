"""Runs commands, in this process or as processes of their own, and lists all commands."""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import typer.main

from headwater.cli.app import app
from headwater.cli.failures import run_app


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Result]

CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e]")
"""What a terminal would act on. A newline is ours; within a name it has to be escaped, too."""

OUR_VARIABLES = ("HEADWATER_STORE", "HEADWATER_DEBUG", "FORCE_COLOR", "NO_COLOR", "COLUMNS", "TTY_COMPATIBLE")
"""What of the environment could change an output."""


def bare_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in OUR_VARIABLES}


def process(*arguments: str, cwd: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command as its own process, the way a shell does."""
    environment = bare_environment() | options.pop("env", {})
    return subprocess.run(
        [sys.executable, "-m", "headwater", *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
        **options,
    )


@functools.cache
def command_tree() -> Any:
    """All commands. `app` builds them again for each call, which takes longer than most commands."""
    return typer.main.get_command(app)


def run_here(arguments: list[str]) -> int:
    """Run a command in this process; its exit code."""
    return run_app(cast("typer.Typer", command_tree()), arguments)


def commands() -> list[tuple[str, Any]]:
    """Every command by its full name: `upstream`, `db upgrade`."""

    def walk(group: Any, prefix: str) -> Iterator[tuple[str, Any]]:
        for name, command in group.commands.items():
            if hasattr(command, "commands"):
                yield from walk(command, f"{prefix}{name} ")
            else:
                yield prefix + name, command

    return list(walk(command_tree(), ""))


def top_level_commands() -> list[str]:
    return list(dict.fromkeys(name.split()[0] for name, _ in commands()))
