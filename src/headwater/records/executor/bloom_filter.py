"""Sieves: a few bits for each key of a file, by which nearly all files that do not hold a key are known not to.

A Bloom filter. Keys are hashes already, so their two halves give as many places as are wanted. Its bits are a power of
two, because such a sieve can be laid over a larger one: so those of the parts of a file are put together that several
tasks have read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

_KEY = 16
_BITS_A_KEY = 8
_PLACES = 5
_FEWEST, _MOST = 1 << 6, 1 << 24


def sieve_of(keys: Any) -> bytes:
    """Of keys as the rows of an array of bytes. One in fifty that are not among them falls through."""
    import numpy as np

    bits = min(max(_FEWEST, 1 << (len(keys) * _BITS_A_KEY - 1).bit_length()), _MOST)
    marked = np.zeros(bits, dtype=bool)
    for place in _places(keys, bits):
        marked[place] = True
    return np.packbits(marked).tobytes()


def falls_through(sieve: bytes, keys: Iterable[bytes]) -> bool:
    """Whether one of these may be among those that the sieve is of."""
    import numpy as np

    wanted = np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(-1, _KEY)
    marked = np.frombuffer(sieve, dtype=np.uint8)
    through = np.ones(len(wanted), dtype=bool)
    for place in _places(wanted, len(sieve) * 8):
        through &= (marked[place >> 3] >> (7 - (place & 7)) & 1).astype(bool)
    return bool(through.any())


def put_together(one: bytes, other: bytes) -> bytes:
    """The sieve of the keys of both."""
    import numpy as np

    size = max(len(one), len(other))
    both = [np.tile(np.frombuffer(each, dtype=np.uint8), size // len(each)) for each in (one, other)]
    return (both[0] | both[1]).tobytes()


def _places(keys: Any, bits: int) -> Iterable[Any]:
    import numpy as np

    halves = np.ascontiguousarray(keys).view(">u8").astype(np.uint64)
    for number in range(_PLACES):
        yield ((halves[:, 0] + np.uint64(number) * (halves[:, 1] | np.uint64(1))) & np.uint64(bits - 1)).astype(
            np.int64
        )
