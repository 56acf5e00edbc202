"""A Bloom filter of the keys of a file: nearly all files that do not hold a key are ruled out without opening them.

Keys are hashes already, so their two halves give as many bit positions as needed. The number of bits is a power of two,
because such a filter can be repeated to the size of a larger one: that is how the filters of the parts of a file are
merged when several tasks have read it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np
    from numpy.typing import NDArray

_KEY_BYTES = 16
_BITS_PER_KEY = 8
_HASHES = 5
_MIN_BITS, _MAX_BITS = 1 << 6, 1 << 24


class BloomFilter:
    """``bits`` is how the store keeps a filter."""

    def __init__(self, bits: bytes) -> None:
        self.bits = bits

    @classmethod
    def of_keys(cls, keys: NDArray[np.uint8]) -> BloomFilter:
        """``keys`` are the rows of an array of bytes. One in fifty other keys is a false positive."""
        import numpy as np

        size = min(max(_MIN_BITS, 1 << (len(keys) * _BITS_PER_KEY - 1).bit_length()), _MAX_BITS)
        marked = np.zeros(size, dtype=bool)
        for positions in _bit_positions(keys, size):
            marked[positions] = True
        return cls(np.packbits(marked).tobytes())

    def might_contain(self, keys: Iterable[bytes]) -> bool:
        """Whether one of the keys may be in the filter; False is certain."""
        import numpy as np

        wanted = np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(-1, _KEY_BYTES)
        marked = np.frombuffer(self.bits, dtype=np.uint8)
        possible = np.ones(len(wanted), dtype=bool)
        for positions in _bit_positions(wanted, len(self.bits) * 8):
            possible &= (marked[positions >> 3] >> (7 - (positions & 7)) & 1).astype(bool)
        return bool(possible.any())

    def union(self, other: BloomFilter) -> BloomFilter:
        """The filter of the keys of both."""
        import numpy as np

        size = max(len(self.bits), len(other.bits))
        one, two = (np.tile(np.frombuffer(bits, dtype=np.uint8), size // len(bits)) for bits in (self.bits, other.bits))
        return BloomFilter((one | two).tobytes())


def _bit_positions(keys: NDArray[np.uint8], size: int) -> Iterator[NDArray[np.int64]]:
    """For each hash function, the position of every key."""
    import numpy as np

    halves = np.ascontiguousarray(keys).view(">u8").astype(np.uint64)
    for number in range(_HASHES):
        position = halves[:, 0] + np.uint64(number) * (halves[:, 1] | np.uint64(1))
        yield (position & np.uint64(size - 1)).astype(np.int64)
