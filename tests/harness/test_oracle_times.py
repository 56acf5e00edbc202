"""The table of oracles in CONTRIBUTING.md names existing tests and their recorded times."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness.grouping import recorded_seconds
from tests.harness.oracle_times import HEADER, PAGE, ROOT, named_tests, oracle_rows, with_times

ROWS = list(oracle_rows(PAGE.read_text()))
TABLE = f"{HEADER}\n| --- | --- | --- | --- | --- |\n| fold (`tests/a.py`, `tests/b`) | all | 2 | | 9 |\n"


def test_every_row_names_existing_tests() -> None:
    assert len(ROWS) > 15
    assert [row for row in ROWS if not named_tests(row)] == []
    missing = [name for row in ROWS for name in named_tests(row) if not (ROOT / name).exists()]
    assert missing == []
    files = [name for row in ROWS for name in named_tests(row) if (ROOT / name).is_file()]
    assert [name for name in files if "/test_" not in name] == []


def test_every_oracle_of_the_store_has_a_row() -> None:
    oracles = {str(path.relative_to(ROOT)) for path in (ROOT / "tests" / "oracles").glob("test_*.py")}
    assert oracles - {name for row in ROWS for name in named_tests(row)} == {"tests/oracles/test_model.py"}


def test_no_file_is_in_two_rows() -> None:
    """Its time would be counted twice."""
    names = [name for row in ROWS for name in named_tests(row)]
    within = [(a, b) for a in names for b in names if b.startswith(f"{a}/")]
    assert (sorted(names), within) == (sorted(set(names)), [])


def test_the_times_are_the_recorded_ones() -> None:
    page = PAGE.read_text()
    assert with_times(page, recorded_seconds()["files"]) == page, "python -m tests.harness.oracle_times"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "tests" / "b").mkdir(parents=True)
    for name in ("test_c.py", "test_d.py", "helpers.py"):
        (tmp_path / "tests" / "b" / name).write_text("")
    return tmp_path


def test_a_time_is_the_sum_over_files(root: Path) -> None:
    recorded = {"tests/a.py": 1.2, "tests/b/test_c.py": 30.5, "tests/b/test_d.py": 4.0, "tests/bb.py": 100.0}
    assert "| 2 | 36 s | 9 |" in with_times(TABLE, recorded, root)


def test_a_missing_time_is_named(root: Path) -> None:
    with pytest.raises(LookupError, match=r"no time of tests/b/test_d\.py: HEADWATER_RECORD_SECONDS=1"):
        with_times(TABLE, {"tests/a.py": 1.2, "tests/b/test_c.py": 30.5}, root)
