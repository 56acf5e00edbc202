"""The ancestors of every leaf, and the length of the longest path between the two.

Three walks compute the same. Where no node has more than one parent the ancestors form a path, which needs neither
sorting nor comparing. Elsewhere all leaves walk together, level by level, so that each (leaf, ancestor) is met once.
Deep and narrow roots are walked node by node in Python, because a numpy call costs the same for one node as for a
thousand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
import pyarrow as pa

from headwater.records.tracing.graph import Adjacency, Flags, Ints, RecordGraph, as_memoryview, relation

_NARROW = 16
_DEEP_LEVELS, _NARROW_FACTOR = 64, 64
_MAX_PAIRS = 1_000_000
"""(leaf, ancestor) pairs in memory at once, unless a single leaf has more."""


@dataclass(frozen=True)
class LeafAncestors:
    """All ancestors of some leaves, and the leaves themselves; ``leaf`` is the position in ``leaves``.

    If ``sorted`` they are in lineage order, one leaf after the other; else they have to be sorted by ``distance``.
    """

    leaves: Ints
    leaf: Ints
    component: Ints
    distance: Ints
    sorted: bool


def leaf_ancestors(graph: RecordGraph) -> Iterator[LeafAncestors]:
    """The ancestors of all leaves of all roots, in batches. A leaf is a component that nothing was made of."""
    is_component = graph.component == np.arange(len(graph.component))
    leaves = np.flatnonzero(is_component & (graph.children.counts == 0))
    if not len(leaves):
        return
    roots = int(graph.root[-1]) + 1
    branching = np.zeros(roots, dtype=bool)
    branching[graph.root[graph.parents.counts > 1]] = True
    branching[graph.root[graph.on_cycle]] = True
    simple = ~branching[graph.root[leaves]]
    for batch in _batches(leaves[simple], graph.depth[leaves[simple]] + 1):
        yield _paths(graph, batch)
    branched = leaves[~simple]
    size = np.bincount(graph.root, minlength=roots)
    is_narrow = _deep_and_narrow(graph, branched, size)
    for batch in _batches(branched[~is_narrow], size[graph.root[branched[~is_narrow]]]):
        yield _levels(graph, batch)
    for batch in _batches(branched[is_narrow], size[graph.root[branched[is_narrow]]]):
        yield _node_by_node(graph, batch)


def ancestor_distances(child: Ints, parent: Ints) -> Iterator[tuple[Ints, Ints, Ints]]:
    """For links without a cycle between numbered nodes: (leaf, ancestor or leaf, distance), in batches."""
    nodes, numbered = np.unique(np.concatenate([child, parent]), return_inverse=True)
    count = len(nodes)
    parents, children, depth = relation(count, numbered[: len(child)], numbered[len(child) :])
    zeros, none = np.zeros(count, dtype=np.int64), np.zeros(0, dtype=np.int64)
    unmarked, every = np.zeros(count, dtype=bool), np.arange(count)
    nothing, names = Adjacency.of(count, none, none), pa.array([], pa.string())
    graph = RecordGraph(
        row=every,
        root=zeros,
        recorded_at=zeros,
        conflicted=unmarked,
        missing=nothing,
        names=names,
        on_cycle=unmarked,
        component=every,
        parents=parents,
        children=children,
        depth=depth,
    )
    for ancestors in leaf_ancestors(graph):
        ends = np.cumsum(np.bincount(ancestors.leaf, minlength=len(ancestors.leaves)))
        distance = ends[ancestors.leaf] - 1 - np.arange(len(ancestors.leaf)) if ancestors.sorted else ancestors.distance
        yield nodes[ancestors.leaves[ancestors.leaf]], nodes[ancestors.component], distance


def _batches(leaves: Ints, weights: Ints) -> Iterator[Ints]:
    """Groups of leaves with at most :data:`_MAX_PAIRS` ancestors, but at least one leaf."""
    if not len(leaves):
        return
    piece = (np.cumsum(weights) - weights) // _MAX_PAIRS
    yield from np.split(leaves, np.flatnonzero(np.diff(piece)) + 1)


def _deep_and_narrow(graph: RecordGraph, leaves: Ints, size: Ints) -> Flags:
    """Which leaves are of roots with many levels and few nodes on each."""
    deepest = np.zeros(len(size), dtype=np.int64)
    np.maximum.at(deepest, graph.root, graph.depth)
    count = np.bincount(graph.root[leaves], minlength=len(size))
    narrow = (deepest > _DEEP_LEVELS) & (count * size < _NARROW_FACTOR * deepest)
    return narrow[graph.root[leaves]]


def _paths(graph: RecordGraph, leaves: Ints) -> LeafAncestors:
    lengths = graph.depth[leaves] + 1
    ends = np.cumsum(lengths)
    parent = np.full(len(graph.component), -1)
    has_one = graph.parents.counts == 1
    parent[has_one] = graph.parents.to[graph.parents.start[:-1][has_one]]
    components = np.empty(ends[-1], dtype=np.int64)
    at, node = ends - 1, leaves
    while len(node) >= _NARROW:
        components[at] = node
        node = parent[node]
        has_node = node >= 0
        at, node = at[has_node] - 1, node[has_node]
    filled, up = as_memoryview(components), as_memoryview(parent)
    for position, current in zip(at.tolist(), node.tolist(), strict=True):
        while current >= 0:
            filled[position] = current
            position, current = position - 1, up[current]  # noqa: PLW2901 (a walk)
    leaf = np.repeat(np.arange(len(leaves)), lengths)
    return LeafAncestors(leaves, leaf, components, np.empty(0, dtype=np.int64), sorted=True)


def _levels(graph: RecordGraph, leaves: Ints) -> LeafAncestors:
    """From the deepest level up. Pairs met on a level are final: everything that leads to it is deeper."""
    count = len(graph.component)
    waiting: dict[int, list[tuple[Ints, Ints]]] = {}
    _add_to_levels(
        waiting, graph.depth[leaves], np.arange(len(leaves)) * count + leaves, np.zeros(len(leaves), dtype=np.int64)
    )
    levels: list[tuple[Ints, Ints]] = []
    for level in range(max(waiting), -1, -1):
        parts = waiting.pop(level, None)
        if parts is None:
            continue
        pair = np.concatenate([part[0] for part in parts])
        distance = np.concatenate([part[1] for part in parts])
        order = np.argsort(pair, kind="stable")
        firsts = np.flatnonzero(np.diff(pair[order], prepend=-1))
        pair, distance = pair[order][firsts], np.maximum.reduceat(distance[order], firsts)
        levels.append((pair, distance))
        origin, parent = graph.parents.follow(pair % count)
        _add_to_levels(waiting, graph.depth[parent], pair[origin] // count * count + parent, distance[origin] + 1)
    pairs = np.concatenate([part[0] for part in levels])
    return LeafAncestors(
        leaves, pairs // count, pairs % count, np.concatenate([part[1] for part in levels]), sorted=False
    )


def _add_to_levels(waiting: dict[int, list[tuple[Ints, Ints]]], level: Ints, pair: Ints, distance: Ints) -> None:
    order = np.argsort(level, kind="stable")
    level, pair, distance = level[order], pair[order], distance[order]
    cuts = np.flatnonzero(np.diff(level)) + 1
    starts = [0, *cuts.tolist()] if len(level) else []
    for depth, pairs, distances in zip(
        level[starts].tolist(), np.split(pair, cuts), np.split(distance, cuts), strict=bool(starts)
    ):
        waiting.setdefault(depth, []).append((pairs, distances))


def _node_by_node(graph: RecordGraph, leaves: Ints) -> LeafAncestors:
    depth, starts, up = as_memoryview(graph.depth), as_memoryview(graph.parents.start), as_memoryview(graph.parents.to)
    leaf: list[int] = []
    component: list[int] = []
    distance: list[int] = []
    for position, first in enumerate(leaves.tolist()):
        distances = {first: 0}
        heap = [(-depth[first], first)]
        while heap:
            node = heappop(heap)[1]
            parent_distance = distances[node] + 1
            for parent in up[starts[node] : starts[node + 1]]:
                if parent not in distances:
                    heappush(heap, (-depth[parent], parent))
                    distances[parent] = parent_distance
                elif distances[parent] < parent_distance:
                    distances[parent] = parent_distance
        leaf += [position] * len(distances)
        component += distances.keys()
        distance += distances.values()
    return LeafAncestors(leaves, np.array(leaf), np.array(component), np.array(distance), sorted=False)
