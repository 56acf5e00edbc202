"""The input rows on which a function failed, from which dead letters are replayed.

They stay in Arrow, as a struct of their columns. JSON would lose some values: maps with keys that are not text,
ambiguous local times, and values that Python cannot represent.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

INPUT_ROW = "__hw_given"


def failed_row_structs(
    columns: Sequence[pa.Array], names: Sequence[str], count: int, positions: Collection[int]
) -> pa.Array:
    """The rows at ``positions``, and null for the others of the ``count`` rows."""
    import pyarrow as pa

    fields = [pa.field(name, column.type) for name, column in zip(names, columns, strict=True)]
    if not positions or not fields:
        return pa.nulls(count, pa.struct(fields))
    rows = pa.StructArray.from_arrays(list(columns), fields=fields)
    return rows.take(pa.array([position if position in positions else None for position in range(count)], pa.int64()))
