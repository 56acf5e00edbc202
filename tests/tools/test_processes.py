"""Processes that `./dev` starts: exit codes and environment variables."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tools.console import DevError
from tools.java import VECTOR_MODULE, ask_java, write_java_shim
from tools.paths import MAIN_LOCK
from tools.processes import FOREIGN_VARIABLES, child_environment, run, run_or_fail, tool_environment
from tools.venvs import Venv

SIGNALLED = """
import sys
from tools.processes import run, tool_environment
sys.exit(run([sys.executable, "-c", sys.argv[1]], tool_environment()))
"""
CHILD = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
print("up", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize(
    ("code", "expected"),
    [("", 0), ("raise SystemExit(3)", 3), ("import os; os.kill(os.getpid(), 15)", 128 + signal.SIGTERM)],
)
def test_the_exit_code_is_the_childs(code: str, expected: int) -> None:
    assert run([sys.executable, "-c", code], tool_environment()) == expected


def test_a_step_that_fails_is_named_with_its_exit_code() -> None:
    with pytest.raises(DevError, match=r"^pip could not install a\.lock \(exit 3; the lines above say why\)$"):
        run_or_fail([sys.executable, "-c", "raise SystemExit(3)"], "pip could not install a.lock")


def test_a_signal_reaches_the_child_which_is_waited_for() -> None:
    command = [sys.executable, "-c", SIGNALLED, CHILD]
    with subprocess.Popen(command, cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "up\n"
        parent.terminate()
        assert parent.wait(timeout=60) == 7


def test_variables_of_another_spark_or_python_are_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in FOREIGN_VARIABLES:
        monkeypatch.setenv(name, "/of/the/user")
    monkeypatch.setenv("LANG", "C.UTF-8")
    assert tool_environment().keys() & set(FOREIGN_VARIABLES) == set()
    assert tool_environment()["LANG"] == "C.UTF-8"


def test_the_environment_of_demo_and_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    venv = Venv(tmp_path / ".venv", MAIN_LOCK)
    environment = child_environment(venv, tmp_path / "java", {"page": "npm does not reach its packages"})
    assert environment["PATH"].split(os.pathsep) == [str(venv.bin), str(tmp_path / "java" / "bin"), "/usr/bin"]
    assert environment["JAVA_HOME"] == str(tmp_path / "java")
    assert environment["PYSPARK_PYTHON"] == str(venv.python)
    assert json.loads(environment["HEADWATER_DEV_MISSING"]) == {"page": "npm does not reach its packages"}
    assert "PYTHONDONTWRITEBYTECODE" not in environment


# -- Java -----------------------------------------------------------------------------------------


def program(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_java_reports_its_version_and_home(tmp_path: Path) -> None:
    answer = "    java.home = /opt/jdk 21 \n    java.specification.version = 21"
    java = program(tmp_path / "java", f"echo '{answer}' >&2")
    assert ask_java(java) == (21, Path("/opt/jdk 21"))


def test_the_java_of_these_tests_is_valid() -> None:
    home = os.environ.get("JAVA_HOME")
    if home is None:
        pytest.skip("not run: no JAVA_HOME")
    answer = ask_java(str(Path(home) / "bin" / "java"))
    assert answer is not None
    assert answer[0] in (17, 21)


@pytest.mark.parametrize("text", ["exit 1", "echo version 21", "echo '  java.home = /opt' >&2"])
def test_another_program_is_not_a_java(text: str, tmp_path: Path) -> None:
    assert ask_java(program(tmp_path / "java", text)) is None
    assert ask_java(str(tmp_path / "nowhere")) is None


def test_the_shim_hides_the_vector_module_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "with a space"
    folder.mkdir()
    java = program(folder / "real java", 'for a; do echo "[$a]"; done')
    shim = tmp_path / "java" / "bin" / "java"
    write_java_shim(shim, Path(java))
    command = [str(shim), "-Xmx1g", VECTOR_MODULE, "--add-modules=java.sql", "a b", "", "*"]
    answer = subprocess.run(command, text=True, capture_output=True, check=True)
    assert answer.stdout.splitlines() == ["[-Xmx1g]", "[--add-modules=java.sql]", "[a b]", "[]", "[*]"]
    assert [path.name for path in shim.parent.iterdir()] == ["java"]
