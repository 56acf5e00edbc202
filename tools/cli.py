"""The commands of `./dev`, and how each ends: its exit code and its one line of error."""

from __future__ import annotations

import sys
from collections.abc import Callable

from tools.arguments import no_more
from tools.benchmarks import bench_command
from tools.checks import check_command
from tools.compile_locks import lock_command
from tools.console import DevError, say
from tools.demo import demo_command
from tools.environment import set_up, set_up_to_run
from tools.processes import run, tool_environment
from tools.testing import test_command
from tools.venvs import MAIN


def setup_command(args: list[str]) -> int:
    no_more(args)
    set_up_to_run(MAIN, retry_missing=True)
    say("Ready: ./dev demo, ./dev test, ./dev check")
    return 0


def describe_command(args: list[str]) -> int:
    no_more(args)
    set_up()
    return run([str(MAIN.python), "-m", "headwater.server.describe", "ui/openapi.json"], tool_environment())


COMMANDS: dict[str, Callable[[list[str]], int]] = {
    "setup": setup_command,
    "demo": demo_command,
    "test": test_command,
    "check": check_command,
    "describe": describe_command,
    "bench": bench_command,
    "lock": lock_command,
}


def main(args: list[str], usage: str) -> int:
    if not args or args[0] in ("help", "-h", "--help"):
        say(usage)
        return 0 if args else 2
    name, *rest = args
    try:
        if name not in COMMANDS:
            raise DevError(f"There is no command {name!r}. Commands: {', '.join(COMMANDS)}.")
        return COMMANDS[name](rest)
    except DevError as error:
        print(f"./dev: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("./dev: interrupted", file=sys.stderr)
        return 130
