"""From leaves back to where they came from: every ancestor of every leaf, and the longest way between the two.

Three walks find the same. Where nobody has more than one parent the way is a path, and needs neither sorting nor
comparing. Elsewhere all leaves walk together, level by level, so that each (leaf, ancestor) is met once. And what is
deep and narrow is walked by hand, because a step of numpy costs the same for one node as for a thousand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
import pyarrow as pa

from headwater.records.tracing.graph import Adjacency, Flags, Ints, RecordGraph, as_memoryview, relation

_NARROW = 16
_DEEP, _FEW = 64, 64
_MOST_PAIRS = 1_000_000
"""So many (leaf, ancestor) are held at once, as far as leaves can be parted."""


@dataclass(frozen=True)
class LeafAncestors:
    """All ancestors of some leaves, and the leaves themselves; ``leaf`` says whose, by the position in ``leaves``.

    Where ``sorted`` they are in their order, one leaf after the other; else ``distance`` has to make it.
    """

    leaves: Ints
    leaf: Ints
    unit: Ints
    distance: Ints
    sorted: bool


def leaf_ancestors(graph: RecordGraph) -> Iterator[LeafAncestors]:
    """All leaves of all roots, in pieces. A leaf is a unit that nothing was made of."""
    known = graph.unit == np.arange(len(graph.unit))
    leaves = np.flatnonzero(known & (graph.children.counts == 0))
    if not len(leaves):
        return
    roots = int(graph.root[-1]) + 1
    branching = np.zeros(roots, dtype=bool)
    branching[graph.root[graph.parents.counts > 1]] = True
    branching[graph.root[graph.on_cycle]] = True
    simple = ~branching[graph.root[leaves]]
    for some in _parted(leaves[simple], graph.depth[leaves[simple]] + 1):
        yield _paths(graph, some)
    tangled = leaves[~simple]
    size = np.bincount(graph.root, minlength=roots)
    by_hand = _deep_and_narrow(graph, tangled, size)
    for some in _parted(tangled[~by_hand], size[graph.root[tangled[~by_hand]]]):
        yield _levels(graph, some)
    for some in _parted(tangled[by_hand], size[graph.root[tangled[by_hand]]]):
        yield _by_hand(graph, some)


def ancestor_distances(child: Ints, parent: Ints) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Of links without a cycle, given by the numbers of the nodes: leaf, ancestor or itself, and how far, in pieces."""
    nodes, numbered = np.unique(np.concatenate([child, parent]), return_inverse=True)
    count = len(nodes)
    parents, children, depth = relation(count, numbered[: len(child)], numbered[len(child) :])
    zeros, none = np.zeros(count, dtype=np.int64), np.zeros(0, dtype=np.int64)
    unmarked, every = np.zeros(count, dtype=bool), np.arange(count)
    nothing, names = Adjacency.of(count, none, none), pa.array([], pa.string())
    graph = RecordGraph(every, zeros, zeros, unmarked, nothing, names, unmarked, every, parents, children, depth)
    for some in leaf_ancestors(graph):
        ends = np.cumsum(np.bincount(some.leaf, minlength=len(some.leaves)))
        distance = ends[some.leaf] - 1 - np.arange(len(some.leaf)) if some.sorted else some.distance
        yield nodes[some.leaves[some.leaf]], nodes[some.unit], distance


def _parted(leaves: Ints, weights: Ints) -> Iterator[Ints]:
    """Pieces of at most so many ancestors, but never less than one leaf."""
    if not len(leaves):
        return
    piece = (np.cumsum(weights) - weights) // _MOST_PAIRS
    yield from np.split(leaves, np.flatnonzero(np.diff(piece)) + 1)


def _deep_and_narrow(graph: RecordGraph, leaves: Ints, size: Ints) -> Flags:
    """By root: more than a few levels, and hardly anything on each of them."""
    deepest = np.zeros(len(size), dtype=np.int64)
    np.maximum.at(deepest, graph.root, graph.depth)
    count = np.bincount(graph.root[leaves], minlength=len(size))
    narrow = (deepest > _DEEP) & (count * size < _FEW * deepest)
    return narrow[graph.root[leaves]]


def _paths(graph: RecordGraph, leaves: Ints) -> LeafAncestors:
    lengths = graph.depth[leaves] + 1
    ends = np.cumsum(lengths)
    parent = np.full(len(graph.unit), -1)
    has_one = graph.parents.counts == 1
    parent[has_one] = graph.parents.to[graph.parents.start[:-1][has_one]]
    units = np.empty(ends[-1], dtype=np.int64)
    at, node = ends - 1, leaves
    while len(node) >= _NARROW:
        units[at] = node
        node = parent[node]
        goes_on = node >= 0
        at, node = at[goes_on] - 1, node[goes_on]
    filled, up = as_memoryview(units), as_memoryview(parent)
    for place, one in zip(at.tolist(), node.tolist(), strict=True):
        while one >= 0:
            filled[place] = one
            place, one = place - 1, up[one]  # noqa: PLW2901 (a walk)
    leaf = np.repeat(np.arange(len(leaves)), lengths)
    return LeafAncestors(leaves, leaf, units, np.empty(0, dtype=np.int64), sorted=True)


def _levels(graph: RecordGraph, leaves: Ints) -> LeafAncestors:
    """From the deepest level up. What is met on a level is final: whatever leads to it lies deeper."""
    count = len(graph.unit)
    waiting: dict[int, list[tuple[Ints, Ints]]] = {}
    _put(waiting, graph.depth[leaves], np.arange(len(leaves)) * count + leaves, np.zeros(len(leaves), dtype=np.int64))
    found: list[tuple[Ints, Ints]] = []
    for level in range(max(waiting), -1, -1):
        parts = waiting.pop(level, None)
        if parts is None:
            continue
        pair = np.concatenate([part[0] for part in parts])
        distance = np.concatenate([part[1] for part in parts])
        order = np.argsort(pair, kind="stable")
        firsts = np.flatnonzero(np.diff(pair[order], prepend=-1))
        pair, distance = pair[order][firsts], np.maximum.reduceat(distance[order], firsts)
        found.append((pair, distance))
        origin, parent = graph.parents.follow(pair % count)
        _put(waiting, graph.depth[parent], pair[origin] // count * count + parent, distance[origin] + 1)
    pairs = np.concatenate([part[0] for part in found])
    return LeafAncestors(
        leaves, pairs // count, pairs % count, np.concatenate([part[1] for part in found]), sorted=False
    )


def _put(waiting: dict[int, list[tuple[Ints, Ints]]], level: Ints, pair: Ints, distance: Ints) -> None:
    order = np.argsort(level, kind="stable")
    level, pair, distance = level[order], pair[order], distance[order]
    cuts = np.flatnonzero(np.diff(level)) + 1
    starts = [0, *cuts.tolist()] if len(level) else []
    for one, some, far in zip(
        level[starts].tolist(), np.split(pair, cuts), np.split(distance, cuts), strict=bool(starts)
    ):
        waiting.setdefault(one, []).append((some, far))


def _by_hand(graph: RecordGraph, leaves: Ints) -> LeafAncestors:
    depth, starts, up = as_memoryview(graph.depth), as_memoryview(graph.parents.start), as_memoryview(graph.parents.to)
    leaf: list[int] = []
    unit: list[int] = []
    distance: list[int] = []
    for position, first in enumerate(leaves.tolist()):
        far = {first: 0}
        deepest = [(-depth[first], first)]
        while deepest:
            node = heappop(deepest)[1]
            beyond = far[node] + 1
            for parent in up[starts[node] : starts[node + 1]]:
                if parent not in far:
                    heappush(deepest, (-depth[parent], parent))
                    far[parent] = beyond
                elif far[parent] < beyond:
                    far[parent] = beyond
        leaf += [position] * len(far)
        unit += far.keys()
        distance += far.values()
    return LeafAncestors(leaves, np.array(leaf), np.array(unit), np.array(distance), sorted=False)
