"""`HEADWATER_RECORD_SECONDS=1` records how long tests take, and nothing of a run that leaves out tests of a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.harness.test_grouping import run_tests

RECORDED = {"files": {"tests/gone.py": 9.0, "tests/test_x.py": 9.0}, "groups": {"other": 9.0}, "slow_functions": ["f"]}
RECORD_HERE = """
from pathlib import Path
from tests.harness import grouping, summary
grouping.SECONDS_FILE = summary.SECONDS_FILE = Path(__file__).parents[1] / "seconds.json"
"""
SLOW = "import time\ndef test_a(): time.sleep(0.7)\ndef test_b(): pass\n"
SHORT_RUN = ("-m", "not long")


def recorded_by(folder: Path, *arguments: str) -> tuple[dict[str, Any], str]:
    (folder / "seconds.json").write_text(json.dumps(RECORDED))
    files = {"conftest.py": RECORD_HERE, "test_x.py": SLOW, "test_y.py": SLOW}
    output = run_tests(folder, files, *arguments, HEADWATER_RECORD_SECONDS="1")
    return json.loads((folder / "seconds.json").read_text()), output


def test_a_whole_run_replaces_what_was_recorded(tmp_path: Path) -> None:
    recorded, output = recorded_by(tmp_path, *SHORT_RUN)
    assert set(recorded["files"]) == set(recorded["groups"]) == {"tests/test_x.py", "tests/test_y.py"}
    assert recorded["slow_functions"] == ["tests/test_x.py::test_a", "tests/test_y.py::test_a"]
    assert 0.7 <= recorded["files"]["tests/test_x.py"] < 9
    assert "Seconds of 2 files are recorded" in output


def test_files_by_name_are_recorded_alone(tmp_path: Path) -> None:
    recorded, _ = recorded_by(tmp_path, *SHORT_RUN, "tests/test_x.py")
    assert recorded["files"].pop("tests/test_x.py") < 9
    assert recorded == {**RECORDED, "files": {"tests/gone.py": 9.0}}


@pytest.mark.parametrize(
    "selection",
    [["-k", "test_"], ["tests/test_x.py::test_a", "tests/test_y.py"], ["--quick"], ["--repeat=2"], ["-m", "not spark"]],
    ids=" ".join,
)
def test_nothing_of_a_selection(selection: list[str], tmp_path: Path) -> None:
    recorded, output = recorded_by(tmp_path, *SHORT_RUN, *selection)
    assert recorded == RECORDED
    assert "Seconds are not recorded" in output
