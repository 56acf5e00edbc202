"""The links of whole roots, one root after the other, and the ways to their leaves."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


def walk_by_roots(
    distances: Callable[[Any, Any], Iterable[tuple[Any, Any, Any]]],
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """For `mapInArrow` over (root, child, parent), in which a root's rows lie together."""

    def walk(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for child, parent in _roots(batches):
            for columns in distances(child, parent):
                arrays = [pa.array(column, pa.int64()) for column in columns]
                yield pa.RecordBatch.from_arrays(arrays, ["leaf", "component", "distance"])

    return walk


def _roots(batches: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """The links of each root. No more is held than those of one, and the batch that goes on beyond it."""
    import numpy as np

    held: list[Any] = []
    at: Any = None
    for batch in batches:
        if not batch.num_rows:
            continue
        root, *ends = (np.asarray(column, dtype=np.int64) for column in batch.columns)
        cuts = [0, *(np.flatnonzero(np.diff(root)) + 1).tolist(), len(root)]
        for begin, end in pairwise(cuts):
            if held and root[begin] != at:
                yield _concatenate(held)
                held = []
            at = root[begin]
            held.append([each[begin:end] for each in ends])
    if held:
        yield _concatenate(held)


def _concatenate(held: list[Any]) -> tuple[Any, Any]:
    import numpy as np

    child, parent = (np.concatenate(parts) for parts in zip(*held, strict=True))
    return child, parent
