"""Everything about one root as Python objects: the kernel's lineages, with records that traces share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import pyarrow as pa

from headwater.model.records import Conflict, Record, RecordTrace, RootTrace, final_record
from headwater.records.query.reading import records_from_table
from headwater.records.tracing.graph import Flags, RecordGraph, build_graph, one_array
from headwater.records.tracing.kernel import FinalStep, LeafLineages, leaf_lineages, orphan_parents


def trace_root(root_id: str, records: pa.Table, finished: FinalStep) -> RootTrace:
    """All traces of a root. ``records`` are all records of it."""
    graph = build_graph(records)
    nodes = records.take(pa.array(graph.row))
    rows = records_from_table(nodes)
    traces: list[RecordTrace] = []
    for lineages in leaf_lineages(graph, one_array(nodes["node_id"])):
        traces += _traces(root_id, graph, lineages, rows, finished)
    traces.sort(key=lambda trace: (trace.lineage[-2].recorded_at, trace.record_id))
    orphans = set(graph.missing.to.tolist())
    return RootTrace(
        root_id,
        tuple(traces),
        tuple(sorted(rows, key=lambda row: (row.recorded_at, row.node_id))),
        tuple(sorted(graph.names[code].as_py() for code in orphans)),
        tuple(sorted(rows[node].node_id for node in graph.on_cycle.nonzero()[0].tolist())),
        _conflicts(graph, rows, records),
    )


def _traces(
    root_id: str, graph: RecordGraph, lineages: LeafLineages, rows: list[Record], finished: FinalStep
) -> list[RecordTrace]:
    owners, codes = orphan_parents(graph, lineages)
    orphans = _by_leaf((leaf, graph.names[code].as_py()) for leaf, code in zip(owners.tolist(), codes, strict=True))
    cycle = _marked(graph.on_cycle, lineages, rows)
    conflicts = _marked(graph.conflicted, lineages, rows)
    nodes, begin, traces = lineages.node.tolist(), 0, []
    for position, (leaf, end) in enumerate(zip(lineages.leaves.tolist(), lineages.ends.tolist(), strict=True)):
        leaf_id = rows[leaf].node_id
        last = final_record(root_id, leaf_id, finished.storage_location, finished.recorded_at)
        lineage = (*[rows[node] for node in nodes[begin:end]], last)
        leaf_orphans, leaf_cycle = orphans.get(position, ()), cycle.get(position, ())
        complete = not (leaf_orphans or leaf_cycle)
        traces.append(
            RecordTrace(
                record_id=leaf_id,
                root_id=root_id,
                lineage=lineage,
                orphans=leaf_orphans,
                cycle=leaf_cycle,
                conflicts=conflicts.get(position, ()),
                complete=complete,
            )
        )
        begin = end
    return traces


def _marked(marks: Flags, lineages: LeafLineages, rows: list[Record]) -> dict[int, tuple[str, ...]]:
    """The ids of the marked nodes in each lineage, by the position of its leaf."""
    positions = marks[lineages.node].nonzero()[0]
    leaf, node = lineages.leaf[positions].tolist(), lineages.node[positions].tolist()
    return _by_leaf((leaf_position, rows[row].node_id) for leaf_position, row in zip(leaf, node, strict=True))


def _by_leaf(pairs: Iterable[tuple[int, str]]) -> dict[int, tuple[str, ...]]:
    by_leaf: dict[int, set[str]] = defaultdict(set)
    for leaf, name in pairs:
        by_leaf[leaf].add(name)
    return {leaf: tuple(sorted(names)) for leaf, names in by_leaf.items()}


def _conflicts(graph: RecordGraph, rows: list[Record], records: pa.Table) -> tuple[Conflict, ...]:
    nodes = graph.conflicted.nonzero()[0].tolist()
    if not nodes:
        return ()
    by_node = {rows[node].node_id: rows[node] for node in nodes}
    others: dict[str, dict[bytes, Record]] = defaultdict(dict)
    for record in records_from_table(records):
        in_effect = by_node.get(record.node_id)
        if in_effect is not None and record.digest != in_effect.digest:
            others[record.node_id][record.digest] = record
    return tuple(Conflict(in_effect, tuple(others[name].values())) for name, in_effect in sorted(by_node.items()))
