"""Traces of whole roots, batch by batch: as many roots at a time as make a good piece of work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_PIECE = 50_000
"""Rows at which a piece is cut, at the end of the root that is at hand."""


def trace_by_roots(trace: Callable[[Any], Iterable[Any]]) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """For `mapInArrow` over rows whose roots lie together; ``trace`` gets tables of whole roots."""

    def traced(batches: Iterable[Any]) -> Iterator[Any]:
        for table in whole_root_tables(batches):
            yield from trace(table)

    return traced


def whole_root_tables(batches: Iterable[Any]) -> Iterator[Any]:
    """Tables of whole roots. No more is held than a piece and the root that goes on beyond it."""
    import pyarrow as pa

    held: list[Any] = []
    count = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        held.append(batch)
        count += batch.num_rows
        if count < _PIECE:
            continue
        table = pa.Table.from_batches(held)
        whole = _where_the_last_root_begins(table, batch)
        if whole:
            yield table.slice(0, whole)
            held = table.slice(whole).to_batches()
            count -= whole
    if held:
        yield pa.Table.from_batches(held)


def _where_the_last_root_begins(table: Any, last: Any) -> int:
    """0 where all of it is one root."""
    import numpy as np
    import pyarrow.compute as pc

    name = last.schema.get_field_index("root_id")
    roots = last.column(name)
    changed = np.flatnonzero(np.asarray(pc.not_equal(roots, roots[-1])))
    begins = int(changed[-1]) + 1 if len(changed) else 0
    if begins:
        return int(table.num_rows - last.num_rows + begins)
    # The root of the whole batch may have begun in a batch before.
    others = np.flatnonzero(np.asarray(pc.not_equal(table.column(name), roots[-1])))
    return int(others[-1]) + 1 if len(others) else 0
