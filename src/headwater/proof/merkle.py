"""The Merkle tree of RFC 6962: roots, proofs, and checking them. Bytes in, bytes out.

The tree over ``n`` leaves splits them at the largest power of two below ``n``: to the left a perfect tree, to the right
again such a tree. So every tree is a row of perfect trees of decreasing height, its :class:`CompactRange`, and adding a
leaf changes only the end of the row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256

EMPTY_ROOT = sha256().digest()
HASH_SIZE = 32

_LEAF = b"\0"
_NODE = b"\1"


def leaf_hash(data: bytes) -> bytes:
    return sha256(_LEAF + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return sha256(_NODE + left + right).digest()


def perfect_root(hashes: Sequence[bytes]) -> bytes:
    """Return the root over 1, 2, 4, 8, … hashes, level by level, which is fastest."""
    while len(hashes) > 1:
        pairs = iter(hashes)
        hashes = [sha256(_NODE + left + right).digest() for left, right in zip(pairs, pairs, strict=True)]
    return hashes[0]


def perfect_sizes(size: int) -> list[int]:
    """Return the sizes of the perfect trees in a tree of ``size`` leaves, from the left: 13 is 8, 4, 1."""
    return [1 << bit for bit in range(size.bit_length() - 1, -1, -1) if size >> bit & 1]


def perfect_roots(hashes: Sequence[bytes]) -> list[bytes]:
    """Return the roots of those trees."""
    roots, start = [], 0
    for size in perfect_sizes(len(hashes)):
        roots.append(perfect_root(hashes[start : start + size]))
        start += size
    return roots


def combined_root(roots: Sequence[bytes]) -> bytes:
    """Return the root over a row of perfect trees of decreasing height."""
    if not roots:
        return EMPTY_ROOT
    root = roots[-1]
    for left in reversed(roots[:-1]):
        root = node_hash(left, root)
    return root


def root_of(leaf_hashes: Sequence[bytes]) -> bytes:
    return combined_root(perfect_roots(leaf_hashes))


class CompactRange:
    """The state of a tree that is needed to append to it: one hash for each 1 bit of its size."""

    def __init__(self, hashes: Iterable[bytes] = ()) -> None:
        self.size = 0
        self.roots: list[bytes] = []
        for hash_ in hashes:
            self.append(hash_)

    def append(self, leaf: bytes) -> None:
        """``leaf`` is the hash of a leaf, or the root of a perfect tree if all added ones have the same height."""
        size = self.size
        while size & 1:
            leaf = node_hash(self.roots.pop(), leaf)
            size >>= 1
        self.roots.append(leaf)
        self.size += 1

    def root(self, after: Sequence[bytes] = ()) -> bytes:
        """``after``: the perfect trees that follow, lower than all that were added."""
        return combined_root([*self.roots, *after])


def split(size: int) -> int:
    """Return the largest power of two below ``size``, at which a tree of two or more leaves splits."""
    return 1 << ((size - 1).bit_length() - 1)


# -- checking proofs -------------------------------------------------------------------------------------------------


def verify_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """Whether ``proof`` shows that the leaf with this hash has ``index`` (from 0) in the tree with this root."""
    if not 0 <= index < size or not _hashes([leaf, root, *proof]):
        return False
    steps = _sides(index, size)
    if len(proof) != len(steps):
        return False
    result = leaf
    for sibling_is_left, sibling in zip(steps, proof, strict=True):
        result = node_hash(sibling, result) if sibling_is_left else node_hash(result, sibling)
    return result == root


def _sides(index: int, size: int) -> list[bool]:
    """The side of the sibling at each step from the leaf to the root; True is left."""
    sides = []
    while size > 1:
        middle = split(size)
        if index < middle:
            sides.append(False)
            size = middle
        else:
            sides.append(True)
            index, size = index - middle, size - middle
    return sides[::-1]


def verify_consistency(old: int, new: int, proof: Sequence[bytes], old_root: bytes, new_root: bytes) -> bool:
    """Whether ``proof`` shows that the tree of ``new`` leaves starts with the tree of ``old`` leaves."""
    if not 0 <= old <= new or not _hashes([old_root, new_root, *proof]):
        return False
    if old == new:
        return not proof and old_root == new_root
    if old == 0:
        return not proof and old_root == EMPTY_ROOT
    # A perfect tree on the left edge is not in the proof: its root is ``old_root``.
    whole = old & (old - 1) == 0
    nodes = [old_root, *proof] if whole else list(proof)
    steps = _edges(old, new)
    if len(nodes) != len(steps) + 1:
        return False
    before = after = nodes[0]
    for in_both, node in zip(steps, nodes[1:], strict=True):
        if in_both:
            before, after = node_hash(node, before), node_hash(node, after)
        else:
            after = node_hash(after, node)
    return before == old_root and after == new_root


def _edges(old: int, new: int) -> list[bool]:
    """From the last perfect tree of the old one up to the new root: whether the sibling is a left one, which is in both
    trees, or a right one, which is only in the new."""
    in_both = []
    while old < new:
        middle = split(new)
        if old <= middle:
            in_both.append(False)
            new = middle
        else:
            in_both.append(True)
            old, new = old - middle, new - middle
    return in_both[::-1]


def _hashes(values: Sequence[bytes]) -> bool:
    return all(len(value) == HASH_SIZE for value in values)
