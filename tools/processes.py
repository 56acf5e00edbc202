"""Processes that `./dev` starts, and the environment variables they get."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

from tools.console import DevError
from tools.paths import ROOT
from tools.venvs import Venv

# A Spark or a Python environment of the user's must not mix with the ones in .venv.
FOREIGN_VARIABLES = (
    "PYSPARK_DRIVER_PYTHON",
    "PYSPARK_DRIVER_PYTHON_OPTS",
    "PYSPARK_SUBMIT_ARGS",
    "PYTHONHOME",
    "PYTHONPATH",
    "SPARK_CONF_DIR",
    "SPARK_HOME",
)

Environment = dict[str, str]


def run(command: list[str], env: Environment) -> int:
    """Run in the foreground. A signal to us reaches the child, and we wait until it has cleaned up."""
    interrupted = False
    with subprocess.Popen(command, cwd=ROOT, env=env, close_fds=False) as child:
        previous = signal.signal(signal.SIGTERM, lambda _number, _frame: child.terminate())
        try:
            while child.returncode is None:
                try:
                    child.wait()
                except KeyboardInterrupt:  # the terminal sent it to the child as well
                    interrupted = True
        finally:
            signal.signal(signal.SIGTERM, previous)
    if interrupted:
        raise KeyboardInterrupt
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


def run_or_fail(command: list[str], what_failed: str) -> None:
    code = run(command, tool_environment())
    if code:
        raise DevError(f"{what_failed} (exit {code}; the lines above say why)")


def answer_of(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, env=tool_environment(), text=True, capture_output=True, check=False)


def tool_environment() -> Environment:
    return {name: value for name, value in os.environ.items() if name not in FOREIGN_VARIABLES}


def child_environment(venv: Venv, java_home: Path | None, missing: dict[str, str]) -> Environment:
    """What demo, tests and benchmarks run in."""
    env = tool_environment()
    search_path = [str(venv.bin), env.get("PATH", os.defpath)]
    if java_home is not None:
        env["JAVA_HOME"] = str(java_home)
        search_path.insert(1, str(java_home / "bin"))
    env["PATH"] = os.pathsep.join(search_path)
    env["VIRTUAL_ENV"] = str(venv.folder)
    env["PYSPARK_PYTHON"] = str(venv.python)
    env["SPARK_LOCAL_IP"] = "127.0.0.1"
    # Where it is set, every process that a test starts compiles all of our modules again.
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    env["HEADWATER_DEV_MISSING"] = json.dumps(missing, sort_keys=True)
    return env
