"""`./dev test`: the tests, in the environment that they need."""

from __future__ import annotations

import signal

from tools.arguments import take_option
from tools.console import DevError
from tools.environment import set_up_to_run
from tools.processes import run
from tools.venvs import MAIN, OTHER_SPARKS


def test_command(args: list[str]) -> int:
    spark = take_option(args, "--spark")
    if spark is not None and spark not in OTHER_SPARKS:
        raise DevError(f"There is no set-up for Spark {spark!r}. Others than the usual one: {', '.join(OTHER_SPARKS)}.")
    venv = MAIN if spark is None else OTHER_SPARKS[spark]
    env = set_up_to_run(venv, dbt=venv is MAIN)
    # A shell has what it starts in the background ignore Ctrl-C, and tests send it to what they start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    only = ["--only-spark"] if spark is not None else []
    return run([str(venv.python), "-m", "tests.harness", *only, *args], env)
