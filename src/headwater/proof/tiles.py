"""A Merkle tree whose inner hashes are stored in tiles: a proof reads a few hundred hashes, for any number of leaves.

Level 0 are the leaves. A hash of level 1 is the root over 256 leaves, one of level 2 the root over 256 of those, and so
on; only complete tiles are stored. Hashes in between are recomputed from the level below.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from headwater.proof.merkle import combined_root, perfect_root, perfect_sizes, split

WIDTH = 256
_BITS = 8

Fetch = Callable[[int, int, int], Sequence[bytes]]
"""The hashes of a level, from the second argument up to the third, which is exclusive."""


class Tiles:
    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self._read: dict[tuple[int, int], Sequence[bytes]] = {}

    def root(self, size: int) -> bytes:
        return self._range(0, size, size)

    def inclusion(self, index: int, size: int) -> list[bytes]:
        """Return the siblings on the path from leaf ``index`` to the root over ``size`` leaves (RFC 6962, 2.1.1)."""
        path: list[bytes] = []
        start, stop = 0, size
        while stop - start > 1:
            middle = start + split(stop - start)
            if index < middle:
                path.append(self._range(middle, stop, size))
                stop = middle
            else:
                path.append(self._range(start, middle, size))
                start = middle
        return path[::-1]

    def consistency(self, old: int, new: int) -> list[bytes]:
        """Return the proof that the tree of ``new`` leaves starts with that of ``old`` leaves (RFC 6962, 2.1.2)."""
        if old in (0, new):
            return []
        path: list[bytes] = []
        start, stop, on_the_edge = 0, new, True
        while old < stop:
            middle = start + split(stop - start)
            if old <= middle:
                path.append(self._range(middle, stop, new))
                stop = middle
            else:
                path.append(self._range(start, middle, new))
                start, on_the_edge = middle, False
        if not on_the_edge:
            path.append(self._range(start, stop, new))
        return path[::-1]

    def _range(self, start: int, stop: int, size: int) -> bytes:
        """The root over leaves ``start`` to ``stop``: one perfect tree, or the row of them at the end of the tree."""
        roots = []
        for perfect in perfect_sizes(stop - start):
            roots.append(self._perfect(start, perfect, size))
            start += perfect
        return combined_root(roots)

    def _perfect(self, start: int, count: int, size: int) -> bytes:
        level = (count.bit_length() - 1) // _BITS
        unit = WIDTH**level
        first, wanted = start // unit, count // unit
        tile, offset = divmod(first, WIDTH)
        return perfect_root(self._tile(level, tile, size // unit)[offset : offset + wanted])

    def _tile(self, level: int, tile: int, count: int) -> Sequence[bytes]:
        key = level, tile
        if key not in self._read:
            self._read[key] = self._fetch(level, tile * WIDTH, min((tile + 1) * WIDTH, count))
        return self._read[key]


def completed_tiles(size_before: int, size: int) -> Iterator[tuple[int, int]]:
    """Return the tiles that a growing tree completed: level and number, lower levels first."""
    level, before, now = 1, size_before // WIDTH, size // WIDTH
    while now > before or now >= WIDTH:
        for number in range(before, now):
            yield level, number
        level, before, now = level + 1, before // WIDTH, now // WIDTH
