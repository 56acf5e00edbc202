"""Which cases of a family run in `./dev test`, and which only in `./dev test --all`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pytest


def short_and_long(cases: Mapping[str, Any], long: Collection[str]) -> list[Any]:
    """Parameters with the names of the cases. ``long`` are cases that other cases of the family cover completely."""
    assert set(long) < cases.keys(), f"not among the cases: {set(long) - cases.keys()}"
    return [
        pytest.param(case, id=name, marks=[pytest.mark.long] if name in long else []) for name, case in cases.items()
    ]
