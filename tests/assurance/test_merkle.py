"""The tree of RFC 6962: published vectors, and every size up to 130 against the definition itself."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from hashlib import sha256

import pytest

from headwater.proof.merkle import (
    EMPTY_ROOT,
    CompactRange,
    leaf_hash,
    perfect_root,
    root_of,
    verify_consistency,
    verify_inclusion,
)
from headwater.proof.tiles import WIDTH, Tiles, completed_tiles

LARGEST = 130

# The eight leaves and the hashes that implementations of Certificate Transparency test themselves with.
LEAVES = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
LEFT_FOUR = ROOTS[4]
PAIR_01, PAIR_23 = ROOTS[2], "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e"
PAIR_67 = "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0"
RIGHT_FOUR = "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4"
LEAF_0, LEAF_1 = ROOTS[1], "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7"
LEAF_4 = "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b"
PAIR_45 = "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a"
INCLUSION = {
    (0, 8): [LEAF_1, PAIR_23, RIGHT_FOUR],
    (5, 8): [LEAF_4, PAIR_67, LEFT_FOUR],
    (2, 3): [PAIR_01],
    (1, 5): [LEAF_0, PAIR_23, LEAF_4],
    (0, 1): [],
}
CONSISTENCY = {
    (1, 8): [LEAF_1, PAIR_23, RIGHT_FOUR],
    (6, 8): [PAIR_45, PAIR_67, LEFT_FOUR],
    (2, 5): [PAIR_23, LEAF_4],
    (1, 1): [],
    (0, 5): [],
}


def tiles_over(leaves: Sequence[bytes]) -> Tiles:
    """With the inner levels computed on demand, as nothing stores them here."""

    def fetch(level: int, start: int, stop: int) -> list[bytes]:
        assert 0 <= start < stop <= len(leaves) // WIDTH**level
        unit = WIDTH**level
        return [perfect_root(leaves[i * unit : (i + 1) * unit]) for i in range(start, stop)]

    return Tiles(fetch)


def hexes(hashes: Sequence[bytes]) -> list[str]:
    return [one.hex() for one in hashes]


class TestPublished:
    leaves = tuple(leaf_hash(bytes.fromhex(leaf)) for leaf in LEAVES)

    def test_roots(self) -> None:
        assert [root_of(self.leaves[:size]).hex() for size in range(9)] == ROOTS
        assert [tiles_over(self.leaves).root(size).hex() for size in range(9)] == ROOTS
        assert [CompactRange(self.leaves[:size]).root().hex() for size in range(9)] == ROOTS
        assert EMPTY_ROOT.hex() == ROOTS[0]

    @pytest.mark.parametrize(("index", "size"), INCLUSION)
    def test_inclusion(self, index: int, size: int) -> None:
        proof = tiles_over(self.leaves).inclusion(index, size)
        assert hexes(proof) == INCLUSION[index, size]
        assert verify_inclusion(self.leaves[index], index, size, proof, bytes.fromhex(ROOTS[size]))

    @pytest.mark.parametrize(("old", "new"), CONSISTENCY)
    def test_consistency(self, old: int, new: int) -> None:
        proof = tiles_over(self.leaves).consistency(old, new)
        assert hexes(proof) == CONSISTENCY[old, new]
        assert verify_consistency(old, new, proof, bytes.fromhex(ROOTS[old]), bytes.fromhex(ROOTS[new]))


# -- the definition, as section 2.1 of the RFC writes it ---------------------------------------------------------------

DATA = tuple(f"leaf {i}".encode() for i in range(LARGEST))
HASHES = tuple(map(leaf_hash, DATA))


def largest_power_below(n: int) -> int:
    k = 1
    while k * 2 < n:
        k *= 2
    return k


@cache
def mth(start: int, stop: int) -> bytes:
    if start == stop:
        return sha256().digest()
    if stop - start == 1:
        return sha256(b"\x00" + DATA[start]).digest()
    k = largest_power_below(stop - start)
    return sha256(b"\x01" + mth(start, start + k) + mth(start + k, stop)).digest()


def path(m: int, start: int, stop: int) -> list[bytes]:
    if stop - start == 1:
        return []
    k = largest_power_below(stop - start)
    if m < k:
        return [*path(m, start, start + k), mth(start + k, stop)]
    return [*path(m - k, start + k, stop), mth(start, start + k)]


def subproof(m: int, start: int, stop: int, whole: bool) -> list[bytes]:
    if m == stop - start:
        return [] if whole else [mth(start, stop)]
    k = largest_power_below(stop - start)
    if m <= k:
        return [*subproof(m, start, start + k, whole), mth(start + k, stop)]
    return [*subproof(m - k, start + k, stop, False), mth(start, start + k)]


SIZES = range(1, LARGEST + 1)


def test_the_root_of_every_size() -> None:
    growing = CompactRange()
    for size in range(LARGEST + 1):
        assert root_of(HASHES[:size]) == growing.root() == tiles_over(HASHES).root(size) == mth(0, size)
        assert len(growing.roots) == size.bit_count()
        if size < LARGEST:
            growing.append(HASHES[size])


def test_inclusion_of_every_leaf_in_every_size() -> None:
    for size in SIZES:
        tiles = tiles_over(HASHES)
        for index in range(size):
            proof = tiles.inclusion(index, size)
            assert proof == path(index, 0, size)
            assert verify_inclusion(HASHES[index], index, size, proof, mth(0, size))


def test_consistency_of_every_pair_of_sizes() -> None:
    for new in range(LARGEST + 1):
        tiles = tiles_over(HASHES)
        for old in range(new + 1):
            proof = tiles.consistency(old, new)
            assert proof == (subproof(old, 0, new, True) if old else [])
            assert verify_consistency(old, new, proof, mth(0, old), mth(0, new))


# -- what does not hold ------------------------------------------------------------------------------------------------


def flipped(data: bytes) -> list[bytes]:
    """Every byte, once in its lowest and once in its highest bit."""
    return [data[:i] + bytes([data[i] ^ bit]) + data[i + 1 :] for i in range(len(data)) for bit in (1, 0x80)]


def damaged(proof: Sequence[bytes]) -> list[list[bytes]]:
    """Every byte flipped; one hash too many, too few, too long, too short, or exchanged with another."""
    found = [[*proof[:i], other, *proof[i + 1 :]] for i, one in enumerate(proof) for other in flipped(one)]
    found += [[*proof[:i], *proof[i + 1 :]] for i in range(len(proof))]
    found += [[*proof[:i], bytes(32), *proof[i:]] for i in range(len(proof) + 1)]
    found += [[*proof[:i], other, *proof[i + 1 :]] for i in range(len(proof)) for other in (proof[i][:-1], b"")]
    found += [[*proof[:i], proof[i + 1], proof[i], *proof[i + 2 :]] for i in range(len(proof) - 1)]
    return found


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 13, 64, 65, 130])
def test_a_changed_inclusion_proof_is_refused(size: int) -> None:
    root = mth(0, size)
    for index in {0, size // 2, size - 1}:
        proof = tiles_over(HASHES).inclusion(index, size)
        for wrong in damaged(proof):
            assert not verify_inclusion(HASHES[index], index, size, wrong, root)
        for wrong_hash in (*flipped(HASHES[index]), b"", HASHES[index] + b"\0"):
            assert not verify_inclusion(wrong_hash, index, size, proof, root)
        for wrong_hash in (*flipped(root), b""):
            assert not verify_inclusion(HASHES[index], index, size, proof, wrong_hash)
        for other in {*range(-1, size + 2)} - {index}:
            assert not verify_inclusion(HASHES[index], other, size, proof, root)


@pytest.mark.parametrize(("old", "new"), [(1, 2), (3, 7), (4, 8), (6, 8), (13, 64), (64, 65), (77, 130), (5, 5)])
def test_a_changed_consistency_proof_is_refused(old: int, new: int) -> None:
    roots = mth(0, old), mth(0, new)
    proof = tiles_over(HASHES).consistency(old, new)
    for wrong in damaged(proof):
        assert not verify_consistency(old, new, wrong, *roots)
    for wrong_root in (*flipped(roots[0]), b""):
        assert not verify_consistency(old, new, proof, wrong_root, roots[1])
    for wrong_root in (*flipped(roots[1]), b""):
        assert not verify_consistency(old, new, proof, roots[0], wrong_root)
    assert not verify_consistency(new + 1, new, proof, *roots)
    assert not verify_consistency(-1, new, proof, *roots)


def test_nothing_is_consistent_with_another_beginning() -> None:
    assert verify_consistency(0, 5, [], EMPTY_ROOT, mth(0, 5))
    assert not verify_consistency(0, 5, [], mth(0, 1), mth(0, 5))
    assert not verify_consistency(0, 5, [mth(0, 1)], EMPTY_ROOT, mth(0, 5))


# -- tiles -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [255, 256, 257, 511, 512, 65_535, 65_536, 65_537, 66_000, 131_400])
def test_proofs_from_tiles_of_larger_trees(size: int) -> None:
    leaves = [leaf_hash(str(i).encode()) for i in range(size)]
    kept: dict[tuple[int, int], bytes] = {}
    for level, number in completed_tiles(0, size):
        below = leaves if level == 1 else [kept[level - 1, i] for i in range(number * WIDTH, (number + 1) * WIDTH)]
        kept[level, number] = perfect_root(below[number * WIDTH : (number + 1) * WIDTH] if level == 1 else below)
    reads = []

    def fetch(level: int, start: int, stop: int) -> Sequence[bytes]:
        reads.append(stop - start)
        return leaves[start:stop] if level == 0 else [kept[level, i] for i in range(start, stop)]

    root = root_of(leaves)
    for index in {0, 1, 255, size // 3, size // 2, size - 2, size - 1} & set(range(size)):
        reads.clear()
        proof = Tiles(fetch).inclusion(index, size)
        assert verify_inclusion(leaves[index], index, size, proof, root)
        assert max(reads) <= WIDTH
        assert len(reads) <= 6
    for old in {1, 255, min(256, size), size // 2, size - 1}:
        assert verify_consistency(old, size, Tiles(fetch).consistency(old, size), root_of(leaves[:old]), root)


def test_which_tiles_a_growing_tree_completes() -> None:
    assert list(completed_tiles(0, 255)) == []
    assert list(completed_tiles(255, 256)) == [(1, 0)]
    assert list(completed_tiles(256, 511)) == []
    assert list(completed_tiles(200, 800)) == [(1, 0), (1, 1), (1, 2)]
    assert list(completed_tiles(65_535, 65_536)) == [(1, 255), (2, 0)]
    assert list(completed_tiles(65_536, 65_537)) == []
    assert list(completed_tiles(65_000, 131_072))[-2:] == [(2, 0), (2, 1)]
    grown = [tile for size in range(0, 140_000, 7) for tile in completed_tiles(size, min(size + 7, 140_000))]
    assert sorted(grown) == sorted(completed_tiles(0, 140_000))
