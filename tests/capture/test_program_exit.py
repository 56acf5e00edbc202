"""How a program ended, as its capture learns it at the end of the process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BEGINNING = """
import atexit, sys, threading
from headwater.capture.listener.program_exit import ProgramExit
program = ProgramExit()
atexit.register(lambda: print(getattr(program.failure(), "message", "by itself")))
"""
CAUGHT = "try:\n    sys.exit(3)\nexcept SystemExit:\n    pass"
SEVEN = "SystemExit: the program ended with exit code 7."


@pytest.mark.parametrize(
    ("ending", "message"),
    [
        ("pass", "by itself"),
        ("sys.exit(7)", SEVEN),
        ("quit(7)", SEVEN),
        ("def main():\n    sys.exit(7)\nmain()", SEVEN),
        (f"{CAUGHT}\nsys.exit(7)", SEVEN),
        ("sys.exit('no input')", "SystemExit: the program ended with exit code 1: no input"),
        ("sys.exit(0)", "by itself"),
        ("sys.exit()", "by itself"),
        (CAUGHT, "by itself"),
        ("threading.Thread(target=sys.exit, args=(7,)).start()", "by itself"),
        ("raise KeyError('lost')", "KeyError: 'lost'"),
    ],
)
def test_endings(ending: str, message: str) -> None:
    assert _output_of(f"{BEGINNING}\n{ending}\n") == message


def test_an_error_in_a_shell_is_not_the_end_of_the_program() -> None:
    assert _output_of(f"{BEGINNING}\n1 / 0\nprint('goes on')\n", "-i").endswith("by itself")


def test_a_code_that_is_raised_is_known_where_headwater_runs_the_program(tmp_path: Path) -> None:
    script = tmp_path / "job.py"
    script.write_text(f"{BEGINNING}\nraise SystemExit(7)\n")
    command = [sys.executable, "-m", "headwater.capture.autostart", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout.strip()) == (7, SEVEN)


def _output_of(program: str, *options: str) -> str:
    """Of a program that Python reads from its standard input."""
    done = subprocess.run(
        [sys.executable, *options, "-"], input=program, capture_output=True, text=True, timeout=60, check=False
    )
    return done.stdout.strip()
