"""What files hold: how many rows, sums over them that neither order nor cutting changes, and which keys."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headwater.records.executor import bloom_filter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

TOTALS_SCHEMA = (
    "file string, rows long, digest binary, high long, low long, first binary, last binary, roots binary, nodes binary"
)
"""``digest``: the sum of the rows' digests; ``high`` and ``low``: the sums of the two halves of a hash of them;
``first`` and ``last``: the least and the greatest key of a root; ``roots`` and ``nodes``: sieves of their keys."""
_WORDS = 4
_KEY = 16
_MODULUS = 1 << 128


@dataclass
class _File:
    rows: int = 0
    digest: int = 0
    high: int = 0
    low: int = 0
    roots: list[Any] = field(default_factory=list)
    nodes: list[Any] = field(default_factory=list)


def total_files(batches: Iterable[Any]) -> Iterator[Any]:
    """Of rows (file, digest, high, low, root key, node key), a row for each file. For `mapInArrow`."""
    import numpy as np
    import pyarrow as pa

    files: dict[str, _File] = {}
    for batch in batches:
        file = batch.column(0).dictionary_encode()
        words = _bytes(batch.column(1)).view(">u4")
        halves = [np.asarray(column, dtype=np.int64) for column in batch.columns[2:4]]
        roots = _bytes(batch.column(4))
        nodes = _bytes(batch.column(5)) if not batch.column(5).null_count else None
        codes = np.asarray(file.indices)
        for code, name in enumerate(file.dictionary.to_pylist()):
            here, its = codes == code, files.setdefault(name, _File())
            parts = words[here].sum(axis=0, dtype=np.uint64)
            its.rows += int(here.sum())
            its.digest += sum(int(part) << (32 * (_WORDS - 1 - place)) for place, part in enumerate(parts))
            its.high, its.low = (
                total + int(half[here].sum()) for total, half in zip((its.high, its.low), halves, strict=True)
            )
            its.roots.append(_without_repeats(roots[here]))
            if nodes is not None:
                its.nodes.append(nodes[here])
    rows = [_told(name, its) for name, its in files.items()]
    binary, number = pa.binary(), pa.int64()
    types = (pa.string(), number, binary, number, number, binary, binary, binary, binary)
    names = [each.split()[0] for each in TOTALS_SCHEMA.split(", ")]
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    arrays = [pa.array(values, type) for values, type in zip(columns, types, strict=True)]
    yield pa.RecordBatch.from_arrays(arrays, names)


def merge_totals(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Of one file that was read in two pieces."""
    sums = {name: one[name] + other[name] for name in ("rows", "high", "low")}
    digest = (int.from_bytes(one["digest"], "big") + int.from_bytes(other["digest"], "big")) % _MODULUS
    nodes = None if one["nodes"] is None else bloom_filter.put_together(one["nodes"], other["nodes"])
    return {
        **one,
        **sums,
        "digest": digest.to_bytes(16, "big"),
        "first": min(one["first"], other["first"]),
        "last": max(one["last"], other["last"]),
        "roots": bloom_filter.put_together(one["roots"], other["roots"]),
        "nodes": nodes,
    }


def _bytes(column: Any) -> Any:
    """Values of 16 bytes each, as the rows of an array."""
    import numpy as np
    import pyarrow as pa

    fixed = column.cast(pa.binary(_KEY))
    return np.frombuffer(fixed.buffers()[1], dtype=np.uint8).reshape(-1, _KEY)[fixed.offset :][: len(fixed)]


def _without_repeats(keys: Any) -> Any:
    """Rows of a root mostly lie together."""
    import numpy as np

    return keys[np.append(True, (keys[1:] != keys[:-1]).any(axis=1))] if len(keys) else keys


def _told(name: str, its: _File) -> tuple[Any, ...]:
    import numpy as np

    roots = np.concatenate(its.roots)
    nodes = bloom_filter.sieve_of(np.concatenate(its.nodes)) if its.nodes else None
    digest = (its.digest % _MODULUS).to_bytes(16, "big")
    return (name, its.rows, digest, its.high, its.low, *_ends(roots), bloom_filter.sieve_of(roots), nodes)


def _ends(keys: Any) -> tuple[bytes, bytes]:
    """The least and the greatest."""
    halves = keys.view(">u8").astype("u8")
    first, then = halves[:, 0], halves[:, 1]
    least, greatest = first == first.min(), first == first.max()
    low, high = keys[least][then[least].argmin()], keys[greatest][then[greatest].argmax()]
    return low.tobytes(), high.tobytes()
