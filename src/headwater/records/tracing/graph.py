"""Records as a graph of numbers: the row in effect for each node, its parents, and cycles.

Everything is done for all roots of a table at once. Nodes that reach each other are one *component*, so that the
graph of components has no cycles; a component is known by one of its nodes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from headwater.records.tracing.components import strongly_connected_components

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_WIDE_LEVEL = 16
"""Fewer nodes than this are handled one by one: a numpy call has a fixed cost that is higher."""


@dataclass(frozen=True)
class Adjacency:
    """A relation in compressed rows: ``to[start[i]:start[i + 1]]`` are the nodes that i is linked to."""

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
        """The links of ``sources``: for each the position of its source in ``sources``, and its target."""
        counts = self.start[sources + 1] - self.start[sources]
        origin = np.repeat(np.arange(len(sources)), counts)
        within = np.arange(len(origin)) - np.repeat(np.cumsum(counts) - counts, counts)
        return origin, self.to[self.start[sources][origin] + within]


@dataclass(frozen=True)
class RecordGraph:
    """Nodes are numbered root by root; ``row`` is the row in effect for each.

    A component is a node, or all nodes of a cycle, and is known by one of them.
    """

    row: Ints
    root: Ints
    recorded_at: Ints
    conflicted: Flags
    missing: Adjacency  # node -> number in ``names`` of a parent without a record
    names: pa.Array
    on_cycle: Flags
    component: Ints  # node -> the node that its component is known by
    parents: Adjacency  # component -> components
    children: Adjacency
    depth: Ints  # component -> the length of the longest path to it


def build_graph(records: pa.Table) -> RecordGraph:
    """The graph of whole roots; the rows of a root are adjacent."""
    root_of = _root_numbers(records["root_id"])
    firsts = np.flatnonzero(np.diff(root_of, prepend=-1))
    child_row = np.asarray(pc.list_parent_indices(records["parent_ids"]).combine_chunks(), dtype=np.int64)
    parent_ids = one_array(pc.list_flatten(records["parent_ids"]))
    node_ids = one_array(records["node_id"])
    root_ids = one_array(records["root_id"]).take(pa.array(firsts))
    encoded = pa.concat_arrays([node_ids, parent_ids, root_ids]).dictionary_encode()
    codes = np.asarray(encoded.indices, dtype=np.int64)
    size = max(len(encoded.dictionary), 1)
    node_code, parent_code = codes[: len(node_ids)], codes[len(node_ids) : len(codes) - len(firsts)]
    root_code = codes[len(codes) - len(firsts) :]

    keys = root_of * size + node_code
    rows, conflicted = _rows_in_effect(records, keys)
    count = len(rows)
    number = np.full(len(keys), -1)
    number[rows] = np.arange(count)

    child = number[child_row]
    in_effect = child >= 0  # parents of rows that are not in effect do not count
    child, parent_of, its_root = child[in_effect], parent_code[in_effect], root_of[child_row[in_effect]]
    node_keys = keys[rows]
    wanted = its_root * size + parent_of
    parent = np.minimum(np.searchsorted(node_keys, wanted), max(count - 1, 0))
    is_recorded = node_keys[parent] == wanted if count else np.zeros(0, dtype=bool)
    is_root = parent_of == root_code[its_root]
    missing = ~is_recorded & ~is_root
    # A root names itself as its parent: that is no link.
    edge = is_recorded & ~(is_root & (parent == child))
    component, on_cycle, parents, children, depth = _components(count, child[edge], parent[edge])
    recorded_at = np.asarray(one_array(records["recorded_at"]).cast(pa.int64()), dtype=np.int64)[rows]
    return RecordGraph(
        row=rows,
        root=root_of[rows],
        recorded_at=recorded_at,
        conflicted=conflicted,
        missing=Adjacency.of(count, child[missing], parent_of[missing]),
        names=encoded.dictionary,
        on_cycle=on_cycle,
        component=component,
        parents=parents,
        children=children,
        depth=depth,
    )


def _root_numbers(root_ids: pa.ChunkedArray) -> Ints:
    """The number of each row's root, in the order of the table."""
    ids = one_array(root_ids)
    if not len(ids):
        return np.zeros(0, dtype=np.int64)
    changes = np.asarray(pc.not_equal(ids[1:], ids[:-1]), dtype=np.int64)
    return np.concatenate([[0], np.cumsum(changes)])


def _rows_in_effect(records: pa.Table, keys: Ints) -> tuple[Ints, Flags]:
    """The row in effect for each node, in the order of ``keys``, and whether another row has another content.

    Of several contents the first that was loaded is in effect, and of equals the one with the least digest.
    """
    order = np.argsort(keys, kind="stable")
    first = np.diff(keys[order], prepend=-1) != 0
    if first.all():
        return order, np.zeros(len(order), dtype=bool)
    digests = one_array(records["digest"])
    ranked = pa.table({"key": keys, "load": one_array(records["load"]), "digest": digests})
    sort_keys = [(name, "ascending") for name in ranked.column_names]
    order = np.asarray(pc.sort_indices(ranked, sort_keys=sort_keys), dtype=np.int64)
    group = np.cumsum(first) - 1
    rows = order[first]
    other = digests.take(pa.array(order))
    differs = np.asarray(pc.not_equal(other, digests.take(pa.array(rows[group]))), dtype=bool)
    return rows, np.bincount(group, weights=differs, minlength=len(rows)) > 0


def _components(count: int, child: Ints, parent: Ints) -> tuple[Ints, Flags, Adjacency, Adjacency, Ints]:
    component = np.arange(count)
    on_cycle = np.zeros(count, dtype=bool)
    parents, children, depth = relation(count, child, parent)
    unordered = depth < 0  # on a cycle, or made of nodes that are
    if unordered.any():
        inner = unordered[child] & unordered[parent]
        for node, least in strongly_connected_components(child[inner], parent[inner]).items():
            component[node] = least
            on_cycle[node] = True
        on_cycle[child[child == parent]] = True
        child, parent = component[child], component[parent]
        between = child != parent
        parents, children, depth = relation(count, child[between], parent[between])
    return component, on_cycle, parents, children, depth


def relation(count: int, child: Ints, parent: Ints) -> tuple[Adjacency, Adjacency, Ints]:
    """The parents and the children of each node, and its depth (see :func:`_depths`)."""
    pairs = np.unique(child * max(count, 1) + parent)
    child, parent = pairs // max(count, 1), pairs % max(count, 1)
    parents, children = Adjacency.of(count, child, parent), Adjacency.of(count, parent, child)
    return parents, children, _depths(parents, children)


def _depths(parents: Adjacency, children: Adjacency) -> Ints:
    """The longest path to each node from one without parents; -1 for nodes on cycles and those made of them."""
    waiting = parents.counts
    depth = np.full(len(waiting), -1)
    ready = np.flatnonzero(waiting == 0)
    remaining, starts, targets = as_memoryview(waiting), as_memoryview(children.start), as_memoryview(children.to)
    level = 0
    while len(ready):
        depth[ready] = level
        level += 1
        if len(ready) >= _WIDE_LEVEL:
            reached, times = np.unique(children.follow(ready)[1], return_counts=True)
            waiting[reached] -= times
            ready = reached[waiting[reached] == 0]
            continue
        next_level: list[int] = []
        for node in ready.tolist():
            for child in targets[starts[node] : starts[node + 1]]:
                remaining[child] -= 1
                if not remaining[child]:
                    next_level.append(child)
        ready = np.array(next_level, dtype=np.int64)
    return depth


def as_memoryview(numbers: Ints) -> memoryview[int]:
    """The same numbers for access one by one: several times faster than through numpy."""
    return memoryview(numbers)  # type: ignore[arg-type, unused-ignore]


def one_array(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """A column as one array."""
    combined = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return pa.concat_arrays(combined.chunks) if isinstance(combined, pa.ChunkedArray) else combined
