"""Records as a graph of numbers: which row holds for each node, who is whose parent, what goes round in a circle.

Everything is done for all roots of a table at once. Nodes that reach each other are one *unit*, so that what is left
has no cycles; a unit is known by one of its nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from headwater.records.tracing.components import strongly_connected_components

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_WIDE = 16
"""Fewer nodes than this are gone through one by one: quicker than a step of numpy, which always costs the same."""


@dataclass(frozen=True)
class Adjacency:
    """A relation: ``to[start[i]:start[i + 1]]`` is what i is linked to."""

    start: Ints
    to: Ints

    @classmethod
    def of(cls, count: int, left: Ints, right: Ints) -> Adjacency:
        order = np.argsort(left, kind="stable")
        return cls(np.concatenate([[0], np.cumsum(np.bincount(left, minlength=count))]), right[order])

    @property
    def counts(self) -> Ints:
        return np.diff(self.start)

    def follow(self, sources: Ints) -> tuple[Ints, Ints]:
        """Where ``sources`` lead: for each link the position in ``sources`` that it comes from, and where it goes."""
        counts = self.start[sources + 1] - self.start[sources]
        origin = np.repeat(np.arange(len(sources)), counts)
        within = np.arange(len(origin)) - np.repeat(np.cumsum(counts) - counts, counts)
        return origin, self.to[self.start[sources][origin] + within]


@dataclass(frozen=True)
class RecordGraph:
    """Nodes are numbered root by root. ``held`` is the row that holds for each."""

    held: Ints
    root: Ints
    recorded_at: Ints
    conflicted: Flags
    missing: Adjacency  # node -> number in ``names`` of a parent that nobody recorded
    names: pa.Array
    on_cycle: Flags
    unit: Ints  # node -> the node that its unit is known by
    parents: Adjacency  # unit -> units
    children: Adjacency
    depth: Ints  # of a unit: the longest way that leads to it


def build_graph(records: pa.Table) -> RecordGraph:
    """Of whole roots, each of whose rows lie together."""
    root_of = _numbered(records["root_id"])
    firsts = np.flatnonzero(np.diff(root_of, prepend=-1))
    named_by = np.asarray(pc.list_parent_indices(records["parent_ids"]).combine_chunks(), dtype=np.int64)
    parent_ids = one_array(pc.list_flatten(records["parent_ids"]))
    node_ids = one_array(records["node_id"])
    root_ids = one_array(records["root_id"]).take(pa.array(firsts))
    encoded = pa.concat_arrays([node_ids, parent_ids, root_ids]).dictionary_encode()
    codes = np.asarray(encoded.indices, dtype=np.int64)
    size = max(len(encoded.dictionary), 1)
    node_code, parent_code = codes[: len(node_ids)], codes[len(node_ids) : len(codes) - len(firsts)]
    root_code = codes[len(codes) - len(firsts) :]

    keys = root_of * size + node_code
    held, conflicted = _held(records, keys)
    count = len(held)
    number = np.full(len(keys), -1)
    number[held] = np.arange(count)

    child = number[named_by]
    counts = child >= 0  # what rows say that do not hold leads nowhere
    child, code, its_root = child[counts], parent_code[counts], root_of[named_by[counts]]
    held_keys = keys[held]
    wanted = its_root * size + code
    parent = np.minimum(np.searchsorted(held_keys, wanted), max(count - 1, 0))
    found = held_keys[parent] == wanted if count else np.zeros(0, dtype=bool)
    is_root = code == root_code[its_root]
    lost = ~found & ~is_root
    # The root as its own parent is how a root says that it is one.
    edge = found & ~(is_root & (parent == child))
    unit, on_cycle, parents, children, depth = _units(count, child[edge], parent[edge])
    recorded_at = np.asarray(one_array(records["recorded_at"]).cast(pa.int64()), dtype=np.int64)[held]
    return RecordGraph(
        held,
        root_of[held],
        recorded_at,
        conflicted,
        Adjacency.of(count, child[lost], code[lost]),
        encoded.dictionary,
        on_cycle,
        unit,
        parents,
        children,
        depth,
    )


def _numbered(root_ids: pa.ChunkedArray) -> Ints:
    """Roots by number, in the order of the table."""
    ids = one_array(root_ids)
    if not len(ids):
        return np.zeros(0, dtype=np.int64)
    changes = np.asarray(pc.not_equal(ids[1:], ids[:-1]), dtype=np.int64)
    return np.concatenate([[0], np.cumsum(changes)])


def _held(records: pa.Table, keys: Ints) -> tuple[Ints, Flags]:
    """The row that holds for each node, in the order of ``keys``, and whether another row says otherwise.

    Of several contents the first to be loaded holds, and of those the one with the least digest.
    """
    order = np.argsort(keys, kind="stable")
    first = np.diff(keys[order], prepend=-1) != 0
    if first.all():
        return order, np.zeros(len(order), dtype=bool)
    digests = one_array(records["digest"])
    ranked = pa.table({"key": keys, "load": one_array(records["load"]), "digest": digests})
    sort_keys: Any = [(name, "ascending") for name in ranked.column_names]
    order = np.asarray(pc.sort_indices(ranked, sort_keys=sort_keys), dtype=np.int64)
    group = np.cumsum(first) - 1
    held = order[first]
    other = digests.take(pa.array(order))
    differs = np.asarray(pc.not_equal(other, digests.take(pa.array(held[group]))), dtype=bool)
    return held, np.bincount(group, weights=differs, minlength=len(held)) > 0


def _units(count: int, child: Ints, parent: Ints) -> tuple[Ints, Flags, Adjacency, Adjacency, Ints]:
    unit = np.arange(count)
    on_cycle = np.zeros(count, dtype=bool)
    parents, children, depth = relation(count, child, parent)
    turning = depth < 0  # on a cycle, or made of what is
    if turning.any():
        inner = turning[child] & turning[parent]
        for node, least in strongly_connected_components(child[inner], parent[inner]).items():
            unit[node] = least
            on_cycle[node] = True
        on_cycle[child[child == parent]] = True
        child, parent = unit[child], unit[parent]
        between = child != parent
        parents, children, depth = relation(count, child[between], parent[between])
    return unit, on_cycle, parents, children, depth


def relation(count: int, child: Ints, parent: Ints) -> tuple[Adjacency, Adjacency, Ints]:
    """The parents and the children of each, and its depth (see :func:`_depths`)."""
    pairs = np.unique(child * max(count, 1) + parent)
    child, parent = pairs // max(count, 1), pairs % max(count, 1)
    parents, children = Adjacency.of(count, child, parent), Adjacency.of(count, parent, child)
    return parents, children, _depths(parents, children)


def _depths(parents: Adjacency, children: Adjacency) -> Ints:
    """The longest way to each node from one without parents; -1 for those that a cycle keeps from having one."""
    waiting = parents.counts
    depth = np.full(len(waiting), -1)
    ready = np.flatnonzero(waiting == 0)
    left, starts, onward = as_memoryview(waiting), as_memoryview(children.start), as_memoryview(children.to)
    level = 0
    while len(ready):
        depth[ready] = level
        level += 1
        if len(ready) >= _WIDE:
            reached, times = np.unique(children.follow(ready)[1], return_counts=True)
            waiting[reached] -= times
            ready = reached[waiting[reached] == 0]
            continue
        following: list[int] = []
        for node in ready.tolist():
            for other in onward[starts[node] : starts[node + 1]]:
                left[other] -= 1
                if not left[other]:
                    following.append(other)
        ready = np.array(following, dtype=np.int64)
    return depth


def as_memoryview(numbers: Ints) -> memoryview[int]:
    """The same numbers, to be read and set one by one: several times quicker than through numpy."""
    return memoryview(numbers)  # type: ignore[arg-type, unused-ignore]


def one_array(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """In one piece, whatever it came in."""
    combined = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return pa.concat_arrays(combined.chunks) if isinstance(combined, pa.ChunkedArray) else combined
