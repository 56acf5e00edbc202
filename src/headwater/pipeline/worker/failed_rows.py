"""The rows that a function gave up, as they came: what a dead letter is replayed from.

They stay in Arrow, as a struct of the columns they had. JSON, which is easier on the eye, would not bring all of them
back: it has no maps but by text, no time that a clock shows twice in a night, and nothing that Python has no value for.
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
    """For the rows at ``places`` themselves, for the others of the ``count`` rows null."""
    import pyarrow as pa

    fields = [pa.field(name, column.type) for name, column in zip(names, columns, strict=True)]
    if not places or not fields:
        return pa.nulls(count, pa.struct(fields))
    rows = pa.StructArray.from_arrays(list(columns), fields=fields)
    return rows.take(pa.array([place if place in places else None for place in range(count)], pa.int64()))
