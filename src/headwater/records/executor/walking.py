"""Groups the links of whole roots, one root after the other, for the walk from leaves to ancestors."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


def walk_by_roots(
    distances: Callable[[Ints, Ints], Iterable[tuple[Ints, Ints, Ints]]],
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """For `mapInArrow` over (root, child, parent), sorted by root."""

    def walk(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for child, parent in _roots(batches):
            for columns in distances(child, parent):
                arrays = [pa.array(column, pa.int64()) for column in columns]
                yield pa.RecordBatch.from_arrays(arrays, ["leaf", "component", "distance"])

    return walk


def _roots(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[Ints, Ints]]:
    """The links of each root. Memory holds the links of one root and the rest of the last batch."""
    import numpy as np

    parts: list[list[Ints]] = []
    current_root: np.int64 | None = None
    for batch in batches:
        if not batch.num_rows:
            continue
        root, *ends = (np.asarray(column, dtype=np.int64) for column in batch.columns)
        cuts = [0, *(np.flatnonzero(np.diff(root)) + 1).tolist(), len(root)]
        for begin, end in pairwise(cuts):
            if parts and root[begin] != current_root:
                yield _concatenate(parts)
                parts = []
            current_root = root[begin]
            parts.append([column[begin:end] for column in ends])
    if parts:
        yield _concatenate(parts)


def _concatenate(parts: list[list[Ints]]) -> tuple[Ints, Ints]:
    import numpy as np

    child, parent = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return child, parent
