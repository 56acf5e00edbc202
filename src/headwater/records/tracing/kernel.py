"""The kernel: computes the trace of every leaf from the records of whole roots, with numpy and pyarrow alone.

Shipped to executors by value, together with the modules of headwater that it imports.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headwater.model.record_schema import STEP as STEP_FIELDS
from headwater.model.record_schema import arrow_type
from headwater.model.records import final_record, micros_of
from headwater.records.archive.schemas import DAY, MICROS, STEP, TRACES
from headwater.records.tracing.graph import Ints, RecordGraph, build_graph, one_array
from headwater.records.tracing.walks import LeafAncestors, leaf_ancestors

TRACE_SCHEMA = TRACES.append(DAY)
_DAY_MICROS = 86_400_000_000


@dataclass(frozen=True, slots=True)
class FinalStep:
    """Time and storage location of the step that every trace ends with: the location of the archive."""

    recorded_at: datetime
    storage_location: str


def trace_table(records: pa.Table, *, finished: FinalStep) -> pa.Table:
    """The traces of all leaves, each with its day. ``records`` are whole roots; the rows of a root are adjacent."""
    return pa.Table.from_batches(trace_batches(records, finished=finished), schema=TRACE_SCHEMA)


def trace_batches(records: pa.Table, *, finished: FinalStep) -> Iterator[pa.RecordBatch]:
    """The same in batches, so that a root with very many steps does not need memory for all of them at once."""
    graph = build_graph(records)
    source = _StepSource(records.take(pa.array(graph.row)), finished)
    for lineages in leaf_lineages(graph, source.node_id):
        yield source.batch(graph, lineages)


@dataclass(frozen=True)
class LeafLineages:
    """The lineages of some leaves, one after the other: ``node`` has their nodes in order, ``leaf`` whose they are.

    ``leaf`` is a position in ``leaves``, which are nodes.
    """

    leaves: Ints
    leaf: Ints
    node: Ints

    @property
    def ends(self) -> Ints:
        """Where the lineage of each leaf ends."""
        return np.cumsum(np.bincount(self.leaf, minlength=len(self.leaves)))


def leaf_lineages(graph: RecordGraph, node_ids: pa.Array) -> Iterator[LeafLineages]:
    """The lineages of all leaves, in batches; ``node_ids`` are the ids of the nodes."""
    members = _CycleMembers(graph, node_ids)
    for ancestors in leaf_ancestors(graph):
        leaf, node = (ancestors.leaf, ancestors.component) if ancestors.sorted else _in_order(graph, members, ancestors)
        yield LeafLineages(members.leaf_nodes(ancestors.leaves), leaf, node)


def orphan_parents(graph: RecordGraph, lineages: LeafLineages) -> tuple[Ints, Ints]:
    """The parents without a record: the position of the leaf, and the number of the parent in ``graph.names``."""
    lacking = graph.missing.counts[lineages.node] > 0
    origin, code = graph.missing.follow(lineages.node[lacking])
    return lineages.leaf[lacking][origin], code


class _CycleMembers:
    """The nodes of each component that is a cycle."""

    def __init__(self, graph: RecordGraph, node_ids: pa.Array) -> None:
        self.recorded_at, self.node_ids = graph.recorded_at, node_ids
        many = np.flatnonzero(graph.on_cycle)
        order = np.argsort(graph.component[many], kind="stable")
        self.nodes = many[order]
        self.components, starts = np.unique(graph.component[self.nodes], return_index=True)
        self.ends = np.append(starts, len(self.nodes))

    def expand(self, leaf: Ints, component: Ints, distance: Ints) -> tuple[Ints, Ints, Ints]:
        """Replaces each component by all of its nodes."""
        if not len(self.components):
            return leaf, component, distance
        position = np.minimum(np.searchsorted(self.components, component), len(self.components) - 1)
        is_cycle = self.components[position] == component
        counts = (self.ends[position + 1] - self.ends[position])[is_cycle]
        origin = np.repeat(np.flatnonzero(is_cycle), counts)
        within = np.arange(len(origin)) - np.repeat(np.cumsum(counts) - counts, counts)
        nodes = self.nodes[self.ends[position[origin]] + within]
        plain = ~is_cycle
        return (
            np.concatenate([leaf[plain], leaf[origin]]),
            np.concatenate([component[plain], nodes]),
            np.concatenate([distance[plain], distance[origin]]),
        )

    def leaf_nodes(self, leaves: Ints) -> Ints:
        """The node that names each leaf: of a cycle that nothing was made of, the latest recorded one."""
        nodes_of_leaves = leaves.copy()
        for position in np.flatnonzero(np.isin(leaves, self.components)).tolist():
            cycle = int(np.searchsorted(self.components, leaves[position]))
            nodes = self.nodes[self.ends[cycle] : self.ends[cycle + 1]]
            nodes_of_leaves[position] = max(
                nodes.tolist(), key=lambda node: (self.recorded_at[node], self.node_ids[node].as_py())
            )
        return nodes_of_leaves


def _in_order(graph: RecordGraph, members: _CycleMembers, ancestors: LeafAncestors) -> tuple[Ints, Ints]:
    """The farthest first; of equally far nodes the earliest recorded, then by id."""
    leaf, node, distance = members.expand(ancestors.leaf, ancestors.component, ancestors.distance)
    nodes, place = np.unique(node, return_inverse=True)
    named = pa.table({"at": graph.recorded_at[nodes], "id": members.node_ids.take(pa.array(nodes))})
    sort_keys = [("at", "ascending"), ("id", "ascending")]
    rank = np.empty(len(nodes), dtype=np.int64)
    rank[np.asarray(pc.sort_indices(named, sort_keys=sort_keys))] = np.arange(len(nodes))
    order = np.lexsort((rank[place], -distance, leaf))
    return leaf[order], node[order]


class _StepSource:
    """The values of the steps: a row for each node, and the final step of every trace."""

    def __init__(self, nodes: pa.Table, finished: FinalStep) -> None:
        self.node_id = one_array(nodes["node_id"])
        self.root_id = one_array(nodes["root_id"])
        self._finished = finished
        self._columns = {"parent_id": pc.list_element(one_array(nodes["parent_ids"]), 0)}
        for field in STEP_FIELDS:
            if field.name != "parent_id":
                self._columns[field.name] = one_array(nodes[field.name]).cast(arrow_type(field))

    def batch(self, graph: RecordGraph, lineages: LeafLineages) -> pa.RecordBatch:
        """A row for each leaf."""
        leaves, leaf, node = lineages.leaves, lineages.leaf, lineages.node
        ends = lineages.ends + np.arange(1, len(leaves) + 1)  # with the last step of each
        orphans = _texts(graph.names, len(leaves), *orphan_parents(graph, lineages))
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
        return pa.RecordBatch.from_arrays(columns, schema=TRACE_SCHEMA)

    def _steps(self, leaves: Ints, node: Ints, ends: Ints) -> pa.StructArray:
        """The steps of all lineages, each followed by its final step."""
        last = self._final_steps(self.node_id.take(pa.array(leaves)))
        index = np.empty(len(node) + len(leaves), dtype=np.int64)
        is_end = np.zeros(len(index), dtype=bool)
        is_end[ends - 1] = True
        index[~is_end] = node
        index[is_end] = len(self.node_id) + np.arange(len(leaves))
        taken = pa.array(index)
        arrays = [pa.concat_arrays([self._columns[field.name], last[field.name]]).take(taken) for field in STEP]
        return pa.StructArray.from_arrays(arrays, fields=list(STEP))

    def _final_steps(self, leaf_ids: pa.Array) -> dict[str, pa.Array]:
        final = final_record("", "", self._finished.storage_location, self._finished.recorded_at)
        micros, count = micros_of(final.recorded_at), len(leaf_ids)
        columns = {
            "parent_id": leaf_ids,
            "parent_ids": pa.ListArray.from_arrays(pa.array(np.arange(count + 1), pa.int32()), leaf_ids),
            "recordedAt": pa.repeat(pa.scalar(micros // 1_000_000, pa.int64()), count),
            "recorded_at": pa.repeat(pa.scalar(micros, pa.int64()), count).cast(MICROS),
        }
        for field in STEP_FIELDS:
            if field.name not in columns:
                value = pa.scalar(getattr(final, field.name), arrow_type(field))
                columns[field.name] = pa.repeat(value, count)
        return columns


def _texts(names: pa.Array, count: int, leaf: Ints, name: Ints) -> pa.ListArray:
    """A list for each of ``count`` leaves: its texts, each once, sorted."""
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
