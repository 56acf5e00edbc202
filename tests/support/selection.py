"""Which cases of a family run in `./dev test`, and which only in `./dev test --all`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pytest


def short_and_long(cases: Mapping[str, Any], long: Collection[str]) -> list[Any]:
    """Parameters named as the cases are. ``long`` are those whose every part another case of the family has as well."""
    assert set(long) < cases.keys(), f"not among the cases: {set(long) - cases.keys()}"
    return [
        pytest.param(case, id=name, marks=[pytest.mark.long] if name in long else []) for name, case in cases.items()
    ]
