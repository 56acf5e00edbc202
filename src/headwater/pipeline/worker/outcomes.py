"""The outcomes of the rows of one batch, as columns beside the results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from headwater.pipeline.worker.attempts import Attempts
    from headwater.pipeline.worker.function import RowFunction

OUTCOME_COLUMNS = (
    ("__hw_outcome", "int"),
    ("__hw_retries", "int"),
    ("__hw_error", "string"),
    ("__hw_place", "int"),
    ("__hw_emissions", "int"),
)
"""Outcome columns with their Spark types: they come after the tracking columns and before the result columns."""

# The flags of headwater.model.items.Outcome, which is not available on an executor.
EMITTED, FILTERED_OUT, RETRIED, ERROR, DEAD_LETTERED = 1, 2, 16, 32, 64

_FAILURE_FLAGS = {"fail": ERROR, "skip": FILTERED_OUT, "dead_letter": DEAD_LETTERED | ERROR}


def outcome_batch(
    function: RowFunction, tracking: dict[str, pa.Array], attempts: Attempts, results: list[pa.Array]
) -> pa.RecordBatch:
    """A row for each result row, and one for each input row without a result."""
    import pyarrow as pa

    count, number = len(attempts.rows), pa.int32()
    if not function.many and not attempts.has_empty_results:
        emissions = None
        emitted = pa.repeat(pa.scalar(1, number), count)
    else:
        emissions = attempts.emissions()
        emitted = pa.array(emissions, number)
    flags = _flags(function, attempts, emissions)
    items = {
        **tracking,
        "__hw_outcome": _sparse_column(EMITTED, flags, count, number),
        "__hw_retries": _sparse_column(0, attempts.retries, count, number),
        "__hw_error": _sparse_column(None, attempts.errors, count, pa.string()),
        "__hw_place": pa.repeat(pa.scalar(0, number), count),
        "__hw_emissions": emitted,
    }
    if emissions is not None:
        results = _take_all(results, _result_positions(emissions))
        if function.many and max(emissions, default=0) > 1:
            owners = [item for item, line_count in enumerate(emissions) for _ in range(line_count or 1)]
            items = dict(zip(items, _take_all(list(items.values()), pa.array(owners, pa.int64())), strict=True))
            items["__hw_place"] = pa.array(
                [position for line_count in emissions for position in range(line_count or 1)], number
            )
    names = [*items, *function.schema.names]
    return pa.RecordBatch.from_arrays([*items.values(), *results], names=names)


def _flags(function: RowFunction, attempts: Attempts, emissions: list[int] | None) -> dict[int, int]:
    """The outcome of each row whose outcome is not just EMITTED."""
    flags = {position: FILTERED_OUT for position, number in enumerate(emissions or ()) if not number}
    for position in attempts.retries:
        flags[position] = flags.get(position, EMITTED) | RETRIED
    for position in attempts.errors:
        flags[position] = _FAILURE_FLAGS[function.on_error]
    for position in range(attempts.attempt_count, len(attempts.rows)):
        flags[position] = 0
    return flags


def _result_positions(emissions: list[int]) -> pa.Array:
    """For each output row the position of its result row; null for an input row without one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    has_result = pa.array([number > 0 for number in emissions for _ in range(number or 1)], pa.bool_())
    positions = pc.subtract(pc.cumulative_sum(has_result.cast(pa.int64())), 1)
    return pc.if_else(has_result, positions, pa.scalar(None, pa.int64()))


def _take_all(arrays: list[pa.Array], positions: pa.Array) -> list[pa.Array]:
    return [array.take(positions) for array in arrays]


def _sparse_column(usual: object, others: Mapping[int, object], count: int, kind: pa.DataType) -> pa.Array:
    import pyarrow as pa

    if not others:
        return pa.nulls(count, kind) if usual is None else pa.repeat(pa.scalar(usual, kind), count)
    values = [usual] * count
    for position, value in others.items():
        values[position] = value
    return pa.array(values, kind)
