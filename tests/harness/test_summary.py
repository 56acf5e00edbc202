"""`HEADWATER_RECORD_SECONDS=1` records how long tests take, but not from a run that skips tests of a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.harness.test_grouping import run_tests

RECORDED: dict[str, Any] = {
    "files": {"tests/gone.py": 9.0, "tests/test_x.py": 9.0},
    "groups": {"other": 9.0},
    "slow_functions": ["tests/gone.py::test_f", "tests/test_x.py::test_gone"],
}
RECORD_HERE = """
from pathlib import Path
from tests.harness import grouping, summary
grouping.SECONDS_FILE = summary.SECONDS_FILE = Path(__file__).parents[1] / "seconds.json"
"""
SLOW = "import time\ndef test_a(): time.sleep(0.7)\ndef test_b(): pass\n"
OF_OTHER = f"import pytest\npytestmark = pytest.mark.xdist_group('other')\n{SLOW}"
SHORT_RUN = ("-m", "not long")


def recorded_by(folder: Path, *arguments: str) -> tuple[dict[str, Any], str]:
    (folder / "seconds.json").write_text(json.dumps(RECORDED))
    files = {"conftest.py": RECORD_HERE, "test_x.py": SLOW, "test_y.py": SLOW, "test_z.py": OF_OTHER}
    output = run_tests(folder, files, *arguments, HEADWATER_RECORD_SECONDS="1")
    return json.loads((folder / "seconds.json").read_text()), output


def test_a_full_run_replaces_all_times(tmp_path: Path) -> None:
    recorded, output = recorded_by(tmp_path, *SHORT_RUN)
    assert set(recorded["files"]) == {"tests/test_x.py", "tests/test_y.py", "tests/test_z.py"}
    assert set(recorded["groups"]) == {"tests/test_x.py", "tests/test_y.py", "other"}
    assert recorded["slow_functions"] == [f"tests/test_{name}.py::test_a" for name in "xyz"]
    assert 0.7 <= recorded["files"]["tests/test_x.py"] < 9
    assert "Seconds of 3 files are recorded" in output


def test_a_run_of_named_files_records_only_these(tmp_path: Path) -> None:
    recorded, _ = recorded_by(tmp_path, *SHORT_RUN, "tests/test_x.py")
    seconds = recorded["files"]["tests/test_x.py"]
    assert 0.7 <= seconds < 9
    assert recorded["files"] == {"tests/gone.py": 9.0, "tests/test_x.py": seconds}
    assert recorded["groups"] == {"other": 9.0, "tests/test_x.py": seconds}
    assert recorded["slow_functions"] == ["tests/gone.py::test_f", "tests/test_x.py::test_a"]


def test_a_part_of_a_group_is_not_recorded(tmp_path: Path) -> None:
    recorded, _ = recorded_by(tmp_path, *SHORT_RUN, "tests/test_z.py")
    assert recorded["files"].keys() == RECORDED["files"].keys() | {"tests/test_z.py"}
    assert recorded["groups"] == RECORDED["groups"]


@pytest.mark.parametrize(
    "selection",
    [["-k", "test_"], ["tests/test_x.py::test_a", "tests/test_y.py"], ["--quick"], ["--repeat=2"], ["-m", "not spark"]],
    ids=" ".join,
)
def test_a_selection_is_not_recorded(selection: list[str], tmp_path: Path) -> None:
    recorded, output = recorded_by(tmp_path, *SHORT_RUN, *selection)
    assert recorded == RECORDED
    assert "Seconds are not recorded" in output
