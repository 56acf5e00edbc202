"""64-bit hashes of the values that lead from one block to the next.

Two groups of the n in a block share a number with a chance of n² / 2⁶⁵, and the answer about one row is wrong with a
chance of n / 2⁶⁴: for a thousand million groups, one in 2·10¹⁰ answers has rows of another group in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headwater.rows.identity import id_halves

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def hash_columns(frame: DataFrame, names: Sequence[str]) -> Column:
    """Equal for values that SQL takes for equal, null for null."""
    return id_halves(frame, names, exact=False)[0]
