"""Packs pairs of numbers for the driver: a batch as one value, because rows are expensive in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray


def pack_pairs(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The bytes of two columns of numbers, one row for each batch. For `mapInArrow`."""
    import numpy as np
    import pyarrow as pa

    for batch in batches:
        both = [np.asarray(column, dtype=np.int64) for column in batch.columns]
        yield pa.RecordBatch.from_arrays([pa.array([np.concatenate(both).tobytes()], pa.binary())], ["pairs"])


def unpack_pairs(values: Iterable[bytes]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    import numpy as np

    pairs = [np.frombuffer(value, dtype=np.int64).reshape(2, -1) for value in values]
    both = np.concatenate([np.empty((2, 0), dtype=np.int64), *pairs], axis=1)
    return both[0], both[1]
