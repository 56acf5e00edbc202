"""The input rows that a function gave up, from which dead letters are replayed.

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
    columns: Sequence[pa.Array], names: Sequence[str], count: int, places: Collection[int]
) -> pa.Array:
    """The rows at ``places``, and null for the others of the ``count`` rows."""
    import pyarrow as pa

    fields = [pa.field(name, column.type) for name, column in zip(names, columns, strict=True)]
    if not places or not fields:
        return pa.nulls(count, pa.struct(fields))
    rows = pa.StructArray.from_arrays(list(columns), fields=fields)
    return rows.take(pa.array([place if place in places else None for place in range(count)], pa.int64()))
