"""The reference says what the code says."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES: dict[str, str] = runpy.run_path(str(ROOT / "docs" / "generate.py"))["pages"]()


@pytest.mark.parametrize("page", PAGES)
def test_the_reference_is_that_of_this_code(page: str) -> None:
    there = (ROOT / "docs" / "reference" / page).read_text()
    assert there == PAGES[page], "python docs/generate.py writes it anew"
    assert " at 0x" not in there


def test_what_can_be_imported_is_in_it() -> None:
    import headwater as hw

    told = PAGES["python.md"]
    missing = [name for name in hw.__all__ if f"def {name}(" not in told and f"`hw.{name}`" not in told]
    assert missing == ["rules"], "which has a chapter of its own"
