"""Totals of the archive's files: rows, sums over them that neither order nor splitting changes, and their keys."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from headwater.records.executor.bloom_filter import BloomFilter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Keys = NDArray[np.uint8]
    """Keys of 16 bytes each, a row for each key."""

TOTALS_SCHEMA = (
    "file string, rows long, digest binary, high long, low long, first binary, last binary, roots binary, nodes binary"
)
_DIGEST_WORDS = 4
_KEY_BYTES = 16
_MODULUS = 1 << 128


class FileTotals(NamedTuple):
    """A row of :data:`TOTALS_SCHEMA`: the totals of one file, or of the part of it that one task has read."""

    file: str
    rows: int
    digest: bytes
    """The sum of the digests of the rows."""
    high: int
    low: int
    """The sums of the two halves of a hash of the rows."""
    first: bytes
    last: bytes
    """The least and the greatest root key."""
    roots: bytes
    nodes: bytes | None
    """Bloom filters of the keys."""


@dataclass
class _FileSums:
    rows: int = 0
    digest: int = 0
    high: int = 0
    low: int = 0
    roots: list[Keys] = field(default_factory=list)
    nodes: list[Keys] = field(default_factory=list)


def total_files(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One row for each file, from rows (file, digest, high, low, root key, node key). For `mapInArrow`."""
    import numpy as np
    import pyarrow as pa

    files: dict[str, _FileSums] = {}
    for batch in batches:
        file = batch.column(0).dictionary_encode()
        words = _key_array(batch.column(1)).view(">u4")
        halves = [np.asarray(column, dtype=np.int64) for column in batch.columns[2:4]]
        roots = _key_array(batch.column(4))
        nodes = _key_array(batch.column(5)) if not batch.column(5).null_count else None
        codes = np.asarray(file.indices)
        for code, name in enumerate(file.dictionary.to_pylist()):
            in_file, file_sums = codes == code, files.setdefault(name, _FileSums())
            parts = words[in_file].sum(axis=0, dtype=np.uint64)
            file_sums.rows += int(in_file.sum())
            file_sums.digest += sum(int(part) << (32 * (_DIGEST_WORDS - 1 - index)) for index, part in enumerate(parts))
            file_sums.high, file_sums.low = (
                total + int(half[in_file].sum())
                for total, half in zip((file_sums.high, file_sums.low), halves, strict=True)
            )
            file_sums.roots.append(_drop_repeats(roots[in_file]))
            if nodes is not None:
                file_sums.nodes.append(nodes[in_file])
    rows = [_totals_row(name, sums) for name, sums in files.items()]
    binary, number = pa.binary(), pa.int64()
    types = (pa.string(), number, binary, number, number, binary, binary, binary, binary)
    names = [column.split()[0] for column in TOTALS_SCHEMA.split(", ")]
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    arrays = [pa.array(values, type) for values, type in zip(columns, types, strict=True)]
    yield pa.RecordBatch.from_arrays(arrays, names)


def merge_totals(one: FileTotals, other: FileTotals) -> FileTotals:
    """The totals of one file that two tasks have read in parts."""
    digest_sum = (int.from_bytes(one.digest, "big") + int.from_bytes(other.digest, "big")) % _MODULUS
    return FileTotals(
        file=one.file,
        rows=one.rows + other.rows,
        digest=digest_sum.to_bytes(16, "big"),
        high=one.high + other.high,
        low=one.low + other.low,
        first=min(one.first, other.first),
        last=max(one.last, other.last),
        roots=_merge_filters(one.roots, other.roots),
        nodes=None if one.nodes is None or other.nodes is None else _merge_filters(one.nodes, other.nodes),
    )


def _merge_filters(one: bytes, other: bytes) -> bytes:
    return BloomFilter(one).union(BloomFilter(other)).bits


def _key_array(column: pa.Array) -> Keys:
    """Values of 16 bytes each as the rows of an array."""
    import numpy as np
    import pyarrow as pa

    fixed = column.cast(pa.binary(_KEY_BYTES))
    return np.frombuffer(fixed.buffers()[1], dtype=np.uint8).reshape(-1, _KEY_BYTES)[fixed.offset :][: len(fixed)]


def _drop_repeats(keys: Keys) -> Keys:
    """Drops keys that equal the one before: the rows of a root are mostly adjacent."""
    import numpy as np

    return keys[np.append(True, (keys[1:] != keys[:-1]).any(axis=1))] if len(keys) else keys


def _totals_row(name: str, sums: _FileSums) -> tuple[object, ...]:
    import numpy as np

    roots = np.concatenate(sums.roots)
    nodes = BloomFilter.of_keys(np.concatenate(sums.nodes)).bits if sums.nodes else None
    digest = (sums.digest % _MODULUS).to_bytes(16, "big")
    return (
        name,
        sums.rows,
        digest,
        sums.high,
        sums.low,
        *_least_and_greatest(roots),
        BloomFilter.of_keys(roots).bits,
        nodes,
    )


def _least_and_greatest(keys: Keys) -> tuple[bytes, bytes]:
    """The least and the greatest key."""
    halves = keys.view(">u8").astype("u8")
    first, then = halves[:, 0], halves[:, 1]
    least, greatest = first == first.min(), first == first.max()
    low, high = keys[least][then[least].argmin()], keys[greatest][then[greatest].argmax()]
    return low.tobytes(), high.tobytes()
