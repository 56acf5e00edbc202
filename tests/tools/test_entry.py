"""`dev` is the only entry point: its help, its errors, and one line for an old Python."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools.cli import COMMANDS

ROOT = Path(__file__).parents[2]
DEV = ROOT / "dev"

WITH_PYTHON_36 = """
import collections, runpy, sys
Version = collections.namedtuple("Version", "major minor micro releaselevel serial")
sys.version_info, sys.version = Version(3, 6, 9, "final", 0), "3.6.9 (default)"
sys.argv = ["dev", "check"]
try:
    runpy.run_path("dev", run_name="__main__")
finally:
    print([name for name in sys.modules if name.split(".")[0] == "tools"])
"""


def dev(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(DEV), *arguments], text=True, capture_output=True, check=False)


def usage() -> str:
    return dev("--help").stdout


def commands_of_usage() -> set[str]:
    return set(re.findall(r"^  \./dev (\w+)", usage(), re.MULTILINE))


def test_python_3_6_can_parse_it() -> None:
    ast.parse(DEV.read_text(), feature_version=(3, 6))
    with pytest.raises(SyntaxError):  # the check itself notices newer syntax
        ast.parse("if code := 1: pass", feature_version=(3, 6))


def test_an_old_python_gets_one_line_and_imports_no_tools() -> None:
    answer = subprocess.run(
        [sys.executable, "-c", WITH_PYTHON_36], cwd=ROOT, text=True, capture_output=True, check=False
    )
    assert answer.returncode == 1
    assert answer.stderr == f"Headwater needs Python 3.11 or newer; this is 3.6.9 ({sys.executable}).\n"
    assert answer.stdout == "[]\n"


@pytest.mark.parametrize(("arguments", "code"), [(["help"], 0), (["-h"], 0), (["--help"], 0), ([], 2)], ids=str)
def test_help(arguments: list[str], code: int) -> None:
    answer = dev(*arguments)
    assert (answer.returncode, answer.stderr) == (code, "")
    assert answer.stdout.startswith("Everything a developer of Headwater runs")


def test_help_names_every_command() -> None:
    assert commands_of_usage() == COMMANDS.keys()


def test_every_command_is_in_contributing_or_the_readme() -> None:
    pages = (ROOT / "CONTRIBUTING.md").read_text() + (ROOT / "README.md").read_text()
    assert commands_of_usage() - set(re.findall(r"^\./dev (\w+)", pages, re.MULTILINE)) == set()


def test_every_option_of_the_tests_is_in_contributing() -> None:
    options = set(re.findall(r"^  \./dev test (--\w+)", usage(), re.MULTILINE))
    assert len(options) == 5
    assert options - set(re.findall(r"^\./dev test (--\w+)", (ROOT / "CONTRIBUTING.md").read_text(), re.M)) == set()


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["chek"], f"There is no command 'chek'. Commands: {', '.join(COMMANDS)}."),
        (["check", "--fast"], "Not understood: --fast. See ./dev help."),
        (["setup", "now"], "Not understood: now. See ./dev help."),
        (["describe", "all"], "Not understood: all. See ./dev help."),
        (["lock", "--upgrade", "pip"], "Not understood: pip. See ./dev help."),
        (["test", "--spark"], "--spark needs a value. See ./dev help."),
        (
            ["test", "--spark", "2.4"],
            "There is no set-up for Spark '2.4'. Others than the usual one: 3.5, 4.1.",
        ),
    ],
    ids=" ".join,
)
def test_wrong_usage_is_one_line(arguments: list[str], error: str) -> None:
    answer = dev(*arguments)
    assert (answer.returncode, answer.stdout, answer.stderr) == (2, "", f"./dev: {error}\n")


def test_an_unknown_benchmark_lists_the_benchmarks() -> None:
    answer = dev("bench", "grahp")
    assert answer.returncode == 2
    assert answer.stderr.startswith("./dev: There is no benchmark 'grahp'. Benchmarks: ")
    known = {path.stem for path in (ROOT / "benchmarks").glob("*.py") if "__main__" in path.read_text()}
    assert set(answer.stderr.strip(".\n").partition("Benchmarks: ")[2].split(", ")) == known


def test_it_runs_from_any_folder_and_with_safe_paths(tmp_path: Path) -> None:
    command = [sys.executable, "-P", str(DEV), "--help"]
    assert subprocess.run(command, cwd=tmp_path, text=True, capture_output=True, check=True).stdout == usage()
