"""docs/security.md names a test for each threat, and those tests exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "security.md"


def last_cells() -> list[str]:
    """The tests of each threat; threats without protection have none."""
    rows = [line for line in PAGE.read_text().splitlines() if line.count(" | ") == 3 and line.startswith("| ")]
    return [row.rsplit(" | ", 1)[1].removesuffix(" |") for row in rows]


def test_named_tests_exist() -> None:
    files = list((ROOT / "tests").rglob("test_*.py"))
    functions = {name for file in files for name in re.findall(r"def (test_\w+)", file.read_text())}
    cells = " ".join(last_cells())
    named = set(re.findall(r"\b(test_\w+)(?![\w.…])", cells))
    beginnings = set(re.findall(r"\b(test_\w+)…", cells))
    paths = set(re.findall(r"\b(?:tests/)?(?:\w+/)*test_\w+\.py", cells))
    assert len(named) > 30
    assert named - functions == set()
    assert [text for text in beginnings if not any(name.startswith(text) for name in functions)] == []
    assert [path for path in paths if not any(str(file).endswith(f"/{path}") for file in files)] == []
