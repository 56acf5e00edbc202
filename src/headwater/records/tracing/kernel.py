"""The kernel: records of whole roots become the trace of every leaf. numpy and pyarrow alone, any number of roots.

Shipped to executors by value together with what it imports of ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headwater.model.records import DATA_COMPACTION, FINISHED, micros_of
from headwater.records.archive.schemas import DAY, MICROS, STEP, TRACES
from headwater.records.tracing.graph import Ints, RecordGraph, build_graph, one_array
from headwater.records.tracing.walks import LeafAncestors, leaf_ancestors

TRACED = TRACES.append(DAY)
_DAY_MICROS = 86_400_000_000


@dataclass(frozen=True, slots=True)
class FinalStep:
    """The step that every trace ends with: when, and where the archive is."""

    recorded_at: datetime
    storage_location: str


def trace_table(records: pa.Table, *, finished: FinalStep) -> pa.Table:
    """The traces of all leaves, with the day of each, of whole roots (RECORDS). Rows of a root lie together."""
    return pa.Table.from_batches(trace_batches(records, finished=finished), schema=TRACED)


def trace_batches(records: pa.Table, *, finished: FinalStep) -> Iterator[pa.RecordBatch]:
    """The same in pieces, so that a root with very many steps in all needs no memory for all of them at once."""
    graph = build_graph(records)
    source = _Source(records.take(pa.array(graph.held)), finished)
    for some in leaf_lineages(graph, source.node_id):
        yield source.batch(graph, some)


@dataclass(frozen=True)
class LeafLineages:
    """Of some leaves, given as nodes: ``node`` are all their lineages in order, ``leaf`` says whose it is."""

    leaves: Ints
    leaf: Ints
    node: Ints

    @property
    def ends(self) -> Ints:
        """Where the lineage of each leaf ends."""
        return np.cumsum(np.bincount(self.leaf, minlength=len(self.leaves)))


def leaf_lineages(graph: RecordGraph, node_ids: pa.Array) -> Iterator[LeafLineages]:
    """The lineages of all leaves, in pieces; ``node_ids`` are those of the nodes."""
    members = _Members(graph, node_ids)
    for some in leaf_ancestors(graph):
        leaf, node = (some.leaf, some.unit) if some.sorted else _in_order(graph, members, some)
        yield LeafLineages(members.standing_for(some.leaves), leaf, node)


def orphan_parents(graph: RecordGraph, some: LeafLineages) -> tuple[Ints, Ints]:
    """Whose lineages name which parents that nobody recorded, by their number in ``graph.names``."""
    lacking = graph.missing.counts[some.node] > 0
    origin, code = graph.missing.follow(some.node[lacking])
    return some.leaf[lacking][origin], code


class _Members:
    """The nodes of each unit that lies on a cycle."""

    def __init__(self, graph: RecordGraph, node_ids: pa.Array) -> None:
        self.recorded_at, self.node_ids = graph.recorded_at, node_ids
        many = np.flatnonzero(graph.on_cycle)
        order = np.argsort(graph.unit[many], kind="stable")
        self.nodes = many[order]
        self.units, starts = np.unique(graph.unit[self.nodes], return_index=True)
        self.ends = np.append(starts, len(self.nodes))

    def expand(self, leaf: Ints, unit: Ints, distance: Ints) -> tuple[Ints, Ints, Ints]:
        """Each unit by all of its nodes."""
        if not len(self.units):
            return leaf, unit, distance
        place = np.minimum(np.searchsorted(self.units, unit), len(self.units) - 1)
        turning = self.units[place] == unit
        counts = (self.ends[place + 1] - self.ends[place])[turning]
        origin = np.repeat(np.flatnonzero(turning), counts)
        within = np.arange(len(origin)) - np.repeat(np.cumsum(counts) - counts, counts)
        nodes = self.nodes[self.ends[place[origin]] + within]
        plain = ~turning
        return (
            np.concatenate([leaf[plain], leaf[origin]]),
            np.concatenate([unit[plain], nodes]),
            np.concatenate([distance[plain], distance[origin]]),
        )

    def standing_for(self, leaves: Ints) -> Ints:
        """The node that each leaf is called by: of a cycle that nothing leaves, the latest recorded one."""
        named = leaves.copy()
        for position in np.flatnonzero(np.isin(leaves, self.units)).tolist():
            place = int(np.searchsorted(self.units, leaves[position]))
            nodes = self.nodes[self.ends[place] : self.ends[place + 1]]
            named[position] = max(
                nodes.tolist(), key=lambda node: (self.recorded_at[node], self.node_ids[node].as_py())
            )
        return named


def _in_order(graph: RecordGraph, members: _Members, some: LeafAncestors) -> tuple[Ints, Ints]:
    """The farthest first; of equally far ones the earliest recorded, then by id."""
    leaf, node, distance = members.expand(some.leaf, some.unit, some.distance)
    nodes, place = np.unique(node, return_inverse=True)
    named = pa.table({"at": graph.recorded_at[nodes], "id": members.node_ids.take(pa.array(nodes))})
    sort_keys: Any = [("at", "ascending"), ("id", "ascending")]
    rank = np.empty(len(nodes), dtype=np.int64)
    rank[np.asarray(pc.sort_indices(named, sort_keys=sort_keys))] = np.arange(len(nodes))
    order = np.lexsort((rank[place], -distance, leaf))
    return leaf[order], node[order]


class _Source:
    """What steps are taken from: a row for each node, and what every trace ends with."""

    def __init__(self, held: pa.Table, finished: FinalStep) -> None:
        self.node_id = one_array(held["node_id"])
        self.root_id = one_array(held["root_id"])
        self._finished = finished
        parents = one_array(held["parent_ids"])
        self._columns = {
            "node_id": self.node_id,
            "parent_id": pc.list_element(parents, 0),
            "parent_ids": parents,
            "action_taken": one_array(held["action_taken"]),
            "recordedAt": one_array(held["recordedAt"]),
            "recorded_at": one_array(held["recorded_at"]).cast(MICROS),
            "storage_location": one_array(held["storage_location"]),
        }

    def batch(self, graph: RecordGraph, some: LeafLineages) -> pa.RecordBatch:
        """A row for each leaf."""
        leaves, leaf, node = some.leaves, some.leaf, some.node
        ends = some.ends + np.arange(1, len(leaves) + 1)  # with the last step of each
        orphans = _texts(graph.names, len(leaves), *orphan_parents(graph, some))
        cycle = _texts(self.node_id, len(leaves), leaf[graph.on_cycle[node]], node[graph.on_cycle[node]])
        conflicts = _texts(self.node_id, len(leaves), leaf[graph.conflicted[node]], node[graph.conflicted[node]])
        complete = pc.and_(pc.equal(pc.list_value_length(orphans), 0), pc.equal(pc.list_value_length(cycle), 0))
        days = (graph.recorded_at[leaves] // _DAY_MICROS).astype(np.int32)
        columns = [
            self.node_id.take(pa.array(leaves)),
            self.root_id.take(pa.array(leaves)),
            pa.ListArray.from_arrays(_offsets(ends), self._steps(leaves, node, ends)),
            orphans,
            cycle,
            conflicts,
            complete,
            pa.array(days, pa.int32()).cast(pa.date32()),
        ]
        return pa.RecordBatch.from_arrays(columns, schema=TRACED)

    def _steps(self, leaves: Ints, node: Ints, ends: Ints) -> pa.StructArray:
        """The nodes, and after those of each leaf the step that ends it."""
        last = self._ends(self.node_id.take(pa.array(leaves)))
        index = np.empty(len(node) + len(leaves), dtype=np.int64)
        is_end = np.zeros(len(index), dtype=bool)
        is_end[ends - 1] = True
        index[~is_end] = node
        index[is_end] = len(self.node_id) + np.arange(len(leaves))
        taken = pa.array(index)
        arrays = [pa.concat_arrays([self._columns[field.name], last[field.name]]).take(taken) for field in STEP]
        return pa.StructArray.from_arrays(arrays, fields=list(STEP))

    def _ends(self, leaf_ids: pa.Array) -> dict[str, pa.Array]:
        micros = micros_of(self._finished.recorded_at)
        count = len(leaf_ids)
        return {
            "node_id": pa.repeat(pa.scalar(FINISHED), count),
            "parent_id": leaf_ids,
            "parent_ids": pa.ListArray.from_arrays(pa.array(np.arange(count + 1), pa.int32()), leaf_ids),
            "action_taken": pa.repeat(pa.scalar(DATA_COMPACTION), count),
            "recordedAt": pa.repeat(pa.scalar(micros // 1_000_000, pa.int64()), count),
            "recorded_at": pa.repeat(pa.scalar(micros, pa.int64()), count).cast(MICROS),
            "storage_location": pa.repeat(pa.scalar(self._finished.storage_location), count),
        }


def _texts(names: pa.Array, count: int, leaf: Ints, name: Ints) -> pa.ListArray:
    """A list for each of ``count`` leaves: the texts that belong to it, each once, in their order."""
    used, place = np.unique(name, return_inverse=True)
    texts = names.take(pa.array(used))
    in_order = np.asarray(pc.sort_indices(texts), dtype=np.int64)
    rank = np.empty(len(used), dtype=np.int64)
    rank[in_order] = np.arange(len(used))
    pairs = np.unique(leaf * max(len(used), 1) + rank[place])
    owner, ranked = pairs // max(len(used), 1), pairs % max(len(used), 1)
    ends = np.cumsum(np.bincount(owner, minlength=count))
    return pa.ListArray.from_arrays(_offsets(ends), texts.take(pa.array(in_order[ranked])))


def _offsets(ends: Ints) -> pa.Array:
    return pa.array(np.concatenate([[0], ends]), pa.int32())
