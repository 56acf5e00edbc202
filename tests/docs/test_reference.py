"""docs/reference equals what docs/generate.py generates."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES: dict[str, str] = runpy.run_path(str(ROOT / "docs" / "generate.py"))["pages"]()


@pytest.mark.parametrize("page", PAGES)
def test_the_reference_is_up_to_date(page: str) -> None:
    written = (ROOT / "docs" / "reference" / page).read_text()
    assert written == PAGES[page], "python docs/generate.py regenerates it"
    assert " at 0x" not in written


def test_the_reference_has_every_public_name() -> None:
    import headwater as hw

    page = PAGES["python.md"]
    missing = [name for name in hw.__all__ if f"def {name}(" not in page and f"`hw.{name}`" not in page]
    assert missing == ["rules"], "which has a chapter of its own"
