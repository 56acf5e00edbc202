"""Whether a row of Spark's and a row of DuckDB's are the same: exactly, but for what floating point may change."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

RELATIVE = 1e-9


def same_row(left: Sequence[Any], right: Sequence[Any]) -> bool:
    return len(left) == len(right) and all(map(same_value, left, right))


def same_value(left: Any, right: Any) -> bool:
    if left is None or right is None:
        return left is right
    if isinstance(left, float) or isinstance(right, float):
        return (
            isinstance(left, int | float | Decimal) and isinstance(right, int | float | Decimal) and _near(left, right)
        )
    if isinstance(left, list | tuple):
        return isinstance(right, list | tuple) and same_row(left, right)
    return bool(left == right)


def _near(left: float | Decimal, right: float | Decimal) -> bool:
    """One engine may round a mean to a decimal where the other has a double: half its last digit is no difference."""
    digit = max((_last_digit(value) for value in (left, right) if isinstance(value, Decimal)), default=0.0)
    return math.isclose(left, right, rel_tol=RELATIVE, abs_tol=0.51 * digit)


def _last_digit(value: Decimal) -> float:
    exponent = value.as_tuple().exponent
    return 10.0**exponent if isinstance(exponent, int) else 0.0


def copies_of(row: Sequence[Any], rows: Sequence[Sequence[Any]]) -> int:
    return sum(same_row(row, other) for other in rows)


def same_rows(left: Sequence[Sequence[Any]], right: Sequence[Sequence[Any]]) -> bool:
    """As multisets."""
    rest = list(right)
    for row in left:
        place = next((at for at, other in enumerate(rest) if same_row(row, other)), None)
        if place is None:
            return False
        del rest[place]
    return not rest
