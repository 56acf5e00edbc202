"""`./dev test --changed` runs the tests that a change can affect, and skips the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness.changes import reached_by

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("changed", "reached", "left_out"),
    [
        ("src/headwater/proof/merkle.py", "tests/assurance/test_merkle.py", "tests/plan/test_trees.py"),
        ("src/headwater/plan/tree.py", "tests/plan/test_trees.py", "tests/assurance/test_merkle.py"),
        ("src/headwater/cli/app.py", "tests/cli/test_pipes_and_terminals.py", "tests/plan/test_trees.py"),
        ("tests/store/test_runs.py", "tests/store/test_runs.py", "tests/store/test_lookup.py"),
        ("tests/plan/conftest.py", "tests/plan", "tests/store/test_lookup.py"),
        ("tests/plan/cases/joins.txt", "tests/plan", "tests/rows"),
        ("docs/rows.md", "tests/docs", "tests/plan"),
        ("ui/src/app/places.ts", "tests/page", "tests/docs"),
        ("tools/demo.py", "tests/tools", "tests/plan"),
        ("tools/compile_locks.py", "tests/tools", "tests/plan"),
    ],
)
def test_tests_affected_by_a_change(changed: str, reached: str, left_out: str) -> None:
    paths = reached_by(ROOT, [changed])
    assert reached in paths
    assert left_out not in paths


@pytest.mark.parametrize(
    "changed", ["dev", "pyproject.toml", "requirements.lock", "tests/conftest.py", "tools/testing.py", "tools/java.py"]
)
def test_a_change_of_shared_files_affects_all_tests(changed: str) -> None:
    assert reached_by(ROOT, [changed]) == ["tests"]


def test_nothing_changed() -> None:
    assert reached_by(ROOT, []) == []
