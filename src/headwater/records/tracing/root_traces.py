"""What is known of one root, as Python objects: the kernel's answer, with records that traces share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import pyarrow as pa

from headwater.model.records import DATA_COMPACTION, FINISHED, Conflict, Record, RecordTrace, RootTrace
from headwater.records.query.reading import records_from_table
from headwater.records.tracing.graph import Flags, RecordGraph, build_graph, one_array
from headwater.records.tracing.kernel import FinalStep, LeafLineages, leaf_lineages, orphan_parents


def trace_root(root_id: str, records: pa.Table, finished: FinalStep) -> RootTrace:
    """``records`` are all of that root."""
    graph = build_graph(records)
    held = records.take(pa.array(graph.held))
    rows = records_from_table(held)
    traces: list[RecordTrace] = []
    for some in leaf_lineages(graph, one_array(held["node_id"])):
        traces += _traces(root_id, graph, some, rows, finished)
    traces.sort(key=lambda trace: (trace.lineage[-2].recorded_at, trace.record_id))
    every = set(graph.missing.to.tolist())
    return RootTrace(
        root_id,
        tuple(traces),
        tuple(sorted(rows, key=lambda row: (row.recorded_at, row.node_id))),
        tuple(sorted(graph.names[code].as_py() for code in every)),
        tuple(sorted(rows[node].node_id for node in graph.on_cycle.nonzero()[0].tolist())),
        _conflicts(graph, rows, records),
    )


def _traces(
    root_id: str, graph: RecordGraph, some: LeafLineages, rows: list[Record], finished: FinalStep
) -> list[RecordTrace]:
    owners, codes = orphan_parents(graph, some)
    orphans = _by_leaf((leaf, graph.names[code].as_py()) for leaf, code in zip(owners.tolist(), codes, strict=True))
    cycle = _marked(graph.on_cycle, some, rows)
    conflicts = _marked(graph.conflicted, some, rows)
    nodes, begin, made = some.node.tolist(), 0, []
    for place, (leaf, end) in enumerate(zip(some.leaves.tolist(), some.ends.tolist(), strict=True)):
        named = rows[leaf].node_id
        last = Record(root_id, FINISHED, (named,), DATA_COMPACTION, finished.storage_location, finished.recorded_at)
        lineage = (*[rows[node] for node in nodes[begin:end]], last)
        lacking, turning = orphans.get(place, ()), cycle.get(place, ())
        complete = not (lacking or turning)
        made.append(RecordTrace(named, root_id, lineage, lacking, turning, conflicts.get(place, ()), complete))
        begin = end
    return made


def _marked(marks: Flags, some: LeafLineages, rows: list[Record]) -> dict[int, tuple[str, ...]]:
    """The ids of the marked nodes of each leaf's lineage."""
    found = marks[some.node].nonzero()[0]
    leaf, node = some.leaf[found].tolist(), some.node[found].tolist()
    return _by_leaf((one, rows[other].node_id) for one, other in zip(leaf, node, strict=True))


def _by_leaf(pairs: Iterable[tuple[int, str]]) -> dict[int, tuple[str, ...]]:
    found: dict[int, set[str]] = defaultdict(set)
    for leaf, name in pairs:
        found[leaf].add(name)
    return {leaf: tuple(sorted(names)) for leaf, names in found.items()}


def _conflicts(graph: RecordGraph, rows: list[Record], records: pa.Table) -> tuple[Conflict, ...]:
    nodes = graph.conflicted.nonzero()[0].tolist()
    if not nodes:
        return ()
    by_node = {rows[node].node_id: rows[node] for node in nodes}
    others: dict[str, dict[bytes, Record]] = defaultdict(dict)
    for record in records_from_table(records):
        held = by_node.get(record.node_id)
        if held is not None and record.digest != held.digest:
            others[record.node_id][record.digest] = record
    return tuple(Conflict(held, tuple(others[name].values())) for name, held in sorted(by_node.items()))
