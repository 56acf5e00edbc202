"""Cuts batches of records at the end of a root, so that the kernel traces whole roots, many at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import pyarrow as pa

_TABLE_ROWS = 50_000
"""Rows after which a table ends with the current root."""


def trace_by_roots(
    trace: Callable[[pa.Table], Iterable[pa.RecordBatch]],
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """For `mapInArrow` over rows sorted by root; ``trace`` receives tables of whole roots."""

    def trace_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in whole_root_tables(batches):
            yield from trace(table)

    return trace_batches


def whole_root_tables(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Tables of whole roots. Memory holds one table and the rest of the root that continues beyond it."""
    import pyarrow as pa

    pending: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        pending.append(batch)
        count += batch.num_rows
        if count < _TABLE_ROWS:
            continue
        table = pa.Table.from_batches(pending)
        whole_rows = _start_of_last_root(table, batch)
        if whole_rows:
            yield table.slice(0, whole_rows)
            pending = table.slice(whole_rows).to_batches()
            count -= whole_rows
    if pending:
        yield pa.Table.from_batches(pending)


def _start_of_last_root(table: pa.Table, last: pa.RecordBatch) -> int:
    """The row at which the last root of the table begins: 0 if the table has one root."""
    import numpy as np
    import pyarrow.compute as pc

    name = last.schema.get_field_index("root_id")
    roots = last.column(name)
    changed = np.flatnonzero(np.asarray(pc.not_equal(roots, roots[-1])))
    start = int(changed[-1]) + 1 if len(changed) else 0
    if start:
        return int(table.num_rows - last.num_rows + start)
    # The batch is all one root, which may have begun in an earlier batch.
    others = np.flatnonzero(np.asarray(pc.not_equal(table.column(name), roots[-1])))
    return int(others[-1]) + 1 if len(others) else 0
