"""Whether the rows that were kept are the rows that were written: an execution is repeated, and may not repeat itself.

Compared are the number of rows and a sum over the ids of all rows, which does not depend on their order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


@dataclass(frozen=True)
class Agreement:
    """``checked`` is how: `read`, the rows were read from the output itself; `compared`; or `unchecked`, and why."""

    checked: str
    reason: str = ""
    differs: bool = False

    def to_dict(self) -> dict[str, Any]:
        return {"checked": self.checked, **({"reason": self.reason} if self.reason else {})}


def compare(
    stored: DataFrame, stored_id: tuple[Column, Column], output: DataFrame, id: tuple[Column, Column]
) -> Agreement:
    stored_sums, output_sums = _row_sums(stored, *stored_id), _row_sums(output, *id)
    if stored_sums == output_sums:
        return Agreement("compared")
    if stored_sums[0] != output_sums[0]:
        reason = f"the plan gave {stored_sums[0]:,} rows when it was run again, and {output_sums[0]:,} were written"
    else:
        reason = "the plan gave other rows when it was run again than were written"
    return Agreement("compared", reason, differs=True)


def compare_sets(
    stored: DataFrame, stored_id: tuple[str, str], output: DataFrame, id: tuple[Column, Column]
) -> Agreement:
    """Where the output's rows were asked for, nothing else can have been kept; it remains that all were found."""
    missing = output.select(*(half.alias(name) for half, name in zip(id, stored_id, strict=True)))
    count = missing.distinct().join(stored, list(stored_id), "left_anti").count()
    if count == 0:
        return Agreement("compared")
    return Agreement("compared", f"the plan did not give {count:,} of the rows again that were written", differs=True)


def _row_sums(frame: DataFrame, hi: Column, lo: Column) -> tuple[int, ...]:
    """Halves of a number are summed apart: the sum of 64 bits would overflow."""
    from pyspark.sql import functions as F

    sums = [
        F.count(F.lit(1)),
        F.bit_xor(hi),
        F.sum(lo.bitwiseAND(F.lit(0xFFFFFFFF))),
        F.sum(F.shiftrightunsigned(lo, 32)),
    ]
    row = frame.agg(*sums).collect()[0]
    return tuple(value or 0 for value in row)
