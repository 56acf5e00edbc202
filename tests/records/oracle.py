"""Traces computed in a slow and simple way: by reachability, one pair of nodes after the other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa

from headwater.model.records import Record, micros_of
from headwater.records.archive.schemas import RECORDS

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


@dataclass(frozen=True)
class LoadedRecord:
    record: Record
    load: int


def record(
    node: str,
    *parents: str,
    root: str = "r",
    action: str = "STEP",
    location: str = "s3://b/k",
    at: float = 0,
    load: int = 1,
) -> LoadedRecord:
    moment = NOON + timedelta(seconds=at)
    return LoadedRecord(Record(root, node, parents or (root,), action, location, moment), load)


def table(loaded: Iterable[LoadedRecord]) -> pa.Table:
    """Whole roots, one after the other."""
    rows = sorted(loaded, key=lambda one: one.record.root_id)
    return pa.Table.from_pylist(
        [
            {
                "root_id": one.record.root_id,
                "node_id": one.record.node_id,
                "parent_ids": list(one.record.parent_ids),
                "action_taken": one.record.action_taken,
                "storage_location": one.record.storage_location,
                "recordedAt": micros_of(one.record.recorded_at) // 1_000_000,
                "recorded_at": one.record.recorded_at,
                "digest": one.record.digest,
                "load": one.load,
            }
            for one in rows
        ],
        schema=RECORDS,
    )


def expected(loaded: Iterable[LoadedRecord]) -> dict[tuple[str, str], dict[str, Any]]:
    """By (root, leaf): the ids of the lineage in order, orphans, cycle and conflicts."""
    roots: dict[str, list[LoadedRecord]] = {}
    for one in loaded:
        roots.setdefault(one.record.root_id, []).append(one)
    return {(root, leaf): said for root, rows in roots.items() for leaf, said in _of_root(root, rows).items()}


def _of_root(root: str, rows: list[LoadedRecord]) -> dict[str, dict[str, Any]]:
    said: dict[str, list[LoadedRecord]] = {}
    for one in sorted(rows, key=lambda one: (one.load, one.record.digest)):
        said.setdefault(one.record.node_id, []).append(one)
    held = {node: ones[0].record for node, ones in said.items()}
    conflicted = {node for node, ones in said.items() if len({one.record.digest for one in ones}) > 1}
    parents = {node: {p for p in one.parent_ids if p in held and not (p == root == node)} for node, one in held.items()}
    above = {node: _reachable(node, parents) for node in held}  # in one step or more
    circling = {node for node in held if node in above[node]}

    def together(one: str, other: str) -> bool:
        return one == other or (one in above[other] and other in above[one])

    def age(node: str) -> tuple[datetime, str]:
        return (held[node].recorded_at, node)

    answer = {}
    for leaf in held:
        group = {node for node in held if together(node, leaf)}
        below = {node for node in held if leaf in above[node]} - group
        if below or leaf != max(group, key=age):
            continue
        lineage = above[leaf] | {leaf}
        distance = _distances(leaf, lineage, parents, together)
        answer[leaf] = {
            "lineage": sorted(lineage, key=lambda node: (-distance[node], *age(node))),
            "orphans": sorted({p for node in lineage for p in held[node].parent_ids if p not in held and p != root}),
            "cycle": sorted(lineage & circling),
            "conflicts": sorted(lineage & conflicted),
        }
    return answer


def _reachable(node: str, parents: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [*parents[node]]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += parents[one]
    return found


def _distances(leaf: str, lineage: set[str], parents: dict[str, set[str]], together: Any) -> dict[str, int]:
    """The longest path to the leaf, with nodes that reach each other as one: raised until nothing changes."""
    distance = dict.fromkeys(lineage, 0)
    changed = True
    while changed:
        changed = False
        for child in lineage:
            for parent in parents[child]:
                far = distance[child] + (0 if together(child, parent) else 1)
                for node in (node for node in lineage if together(node, parent)):
                    if distance[node] < far:
                        distance[node] = far
                        changed = True
    return distance
