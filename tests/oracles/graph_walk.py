"""Walks a list of edges, level by level, with a loop over all edges per level."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from tests.oracles.event_facts import Name

Part = str | None
Ref = tuple[Name, Part]
"""A dataset, and a column or partition of it; None is the dataset as a whole."""

UNLIMITED = 100
STRENGTHS = ("DIRECT", "INDIRECT", "UNKNOWN")


@dataclass(frozen=True)
class WalkEdge:
    """A current edge, at any grain, with everything that an answer may say about it."""

    upstream: Ref
    downstream: Ref
    how: tuple[Any, ...]
    runs: frozenset[str | None]
    """The runs that may be named as the latest one behind it; more than one only at the same microsecond."""
    via_job: bool = False
    """Nobody says that this input went into this output: both are of one job, which had too many to pair."""


@dataclass(frozen=True)
class Reach:
    depths: Mapping[Ref, int]
    truncated: bool
    in_cycle: bool


def near_and_far(arc: WalkEdge, direction: str) -> tuple[Ref, Ref]:
    return (arc.downstream, arc.upstream) if direction == "upstream" else (arc.upstream, arc.downstream)


def touches(end: Ref, node: Ref) -> bool:
    """Whether an edge with this end can be followed from this node."""
    return end[0] == node[0] and (end[1] == node[1] or end[1] is None or node[1] is None)


def reach(arcs: Collection[WalkEdge], start: Ref, direction: str, max_depth: int) -> Reach:
    depths: dict[Ref, int] = {}
    frontier, in_cycle = {start}, False
    for depth in range(1, max_depth + 2):
        here: dict[Name, list[Ref]] = defaultdict(list)
        for node in frontier:
            here[node[0]].append(node)
        steps = [near_and_far(arc, direction) for arc in arcs]
        neighbours = {far for near, far in steps if any(touches(near, node) for node in here.get(near[0], ()))}
        in_cycle = in_cycle or start in neighbours
        frontier = neighbours - depths.keys() - {start}
        if depth > max_depth or not frontier:
            return Reach(depths, bool(frontier), in_cycle)
        depths |= dict.fromkeys(frontier, depth)
    raise AssertionError("the loop returns")


def strengths(arcs: Collection[WalkEdge], start: Ref, direction: str, max_depth: int) -> dict[Ref, str]:
    """For each column: the strongest kinds of dependency by which it can be reached."""
    tied: dict[Ref, str] = {}
    for weakest in reversed(range(len(STRENGTHS))):
        strong = [arc for arc in arcs if arc.how[2] in STRENGTHS[: weakest + 1]]
        tied |= dict.fromkeys(reach(strong, start, direction, max_depth).depths, STRENGTHS[weakest])
    return tied
