"""Whether the stored rows are the rows that were written: pair tables may need a second execution, which may differ.

The number of rows and order-independent sums over the ids of all rows are compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


@dataclass(frozen=True)
class Agreement:
    """``checked``: `read` if the rows were read from the output itself, `compared`, or `unchecked` with a reason."""

    checked: str
    reason: str = ""
    differs: bool = False

    def to_dict(self) -> dict[str, str]:
        return {"checked": self.checked, **({"reason": self.reason} if self.reason else {})}


def compare(
    stored: DataFrame, stored_id: tuple[Column, Column], output: DataFrame, id: tuple[Column, Column]
) -> Agreement:
    stored_sums, output_sums = _row_sums(stored, *stored_id), _row_sums(output, *id)
    if stored_sums == output_sums:
        return Agreement("compared")
    if stored_sums[0] != output_sums[0]:
        reason = f"the plan returned {stored_sums[0]:,} rows when it was run again, but {output_sums[0]:,} were written"
    else:
        reason = "the plan returned different rows when it was run again"
    return Agreement("compared", reason, differs=True)


def compare_sets(
    stored: DataFrame, stored_id: tuple[str, str], output: DataFrame, id: tuple[Column, Column]
) -> Agreement:
    """For tables of the output's own rows: checks that all of them were found."""
    missing = output.select(*(half.alias(name) for half, name in zip(id, stored_id, strict=True)))
    count = missing.distinct().join(stored, list(stored_id), "left_anti").count()
    if count == 0:
        return Agreement("compared")
    return Agreement("compared", f"the plan did not return {count:,} of the written rows again", differs=True)


def _row_sums(frame: DataFrame, hi: Column, lo: Column) -> tuple[int, ...]:
    """Sums the halves of numbers apart: a sum of 64-bit numbers would overflow."""
    from pyspark.sql import functions as F

    sums = [
        F.count(F.lit(1)),
        F.bit_xor(hi),
        F.sum(lo.bitwiseAND(F.lit(0xFFFFFFFF))),
        F.sum(F.shiftrightunsigned(lo, 32)),
    ]
    row = frame.agg(*sums).collect()[0]
    return tuple(value or 0 for value in row)
