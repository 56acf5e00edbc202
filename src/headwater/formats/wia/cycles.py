"""Cycles of a graph given as two arrays of numbers: which nodes are in one, and one path round each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]


def knots(sources: Numbers, targets: Numbers, nodes: int) -> list[list[int]]:
    """The sets of nodes that all lead to each other; a node that leads to itself is one by itself.

    What nothing leads to, and what leads to nothing, is in no cycle. Of a graph without cycles that leaves nothing, so
    what is left for Python to walk is seldom much.
    """
    left = _peeled(sources, targets, nodes)
    left = _peeled(targets[left], sources[left], nodes, left)
    following: dict[int, list[int]] = {}
    for source, target in zip(sources[left].tolist(), targets[left].tolist(), strict=True):
        following.setdefault(source, []).append(target)
    return [sorted(found) for found in _strong(following) if len(found) > 1 or found[0] in following.get(found[0], ())]


def path_round(knot: Sequence[int], sources: Numbers, targets: Numbers) -> list[int]:
    """A shortest way from the first node of a knot back to it, which it begins and ends with."""
    inside = np.isin(sources, knot) & np.isin(targets, knot)
    following: dict[int, list[int]] = {}
    for source, target in zip(sources[inside].tolist(), targets[inside].tolist(), strict=True):
        following.setdefault(source, []).append(target)
    start = knot[0]
    came_from: dict[int, int] = {}
    frontier = [start]
    while start not in came_from:
        reached: list[int] = []
        for node in frontier:
            for far in following[node]:
                if far not in came_from:
                    came_from[far] = node
                    reached.append(far)
        frontier = reached
    path = [start, came_from[start]]
    while path[-1] != start:
        path.append(came_from[path[-1]])
    return path[::-1]


def _peeled(sources: Numbers, targets: Numbers, nodes: int, of: Numbers | None = None) -> Numbers:
    """The numbers of the edges that are left when nodes that nothing leads to are taken away, again and again."""
    order = np.argsort(sources, kind="stable")
    begins = np.searchsorted(sources[order], np.arange(nodes + 1)).tolist()
    followers: list[int] = targets[order].tolist()
    waiting: list[int] = np.bincount(targets, minlength=nodes).tolist()
    free = [node for node, count in enumerate(waiting) if count == 0]
    gone = np.zeros(nodes, dtype=bool)
    while free:
        node = free.pop()
        gone[node] = True
        for far in followers[begins[node] : begins[node + 1]]:
            waiting[far] -= 1
            if waiting[far] == 0:
                free.append(far)
    left: Numbers = np.flatnonzero(~gone[sources])
    return left if of is None else of[left]


def _strong(following: Mapping[int, Sequence[int]]) -> Iterator[list[int]]:
    """Tarjan's strongly connected components, without recursion: a cycle may be as long as the graph."""
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    for root in following:
        if root in number:
            continue
        ways = [(root, iter(following.get(root, ())))]
        number[root] = low[root] = len(number)
        stack.append(root)
        on_stack.add(root)
        while ways:
            node, left = ways[-1]
            for far in left:
                if far not in number:
                    number[far] = low[far] = len(number)
                    stack.append(far)
                    on_stack.add(far)
                    ways.append((far, iter(following.get(far, ()))))
                    break
                if far in on_stack:
                    low[node] = min(low[node], number[far])
            else:
                ways.pop()
                if ways:
                    parent = ways[-1][0]
                    low[parent] = min(low[parent], low[node])
                if low[node] == number[node]:
                    found: list[int] = []
                    while not found or found[-1] != node:
                        found.append(stack.pop())
                        on_stack.discard(found[-1])
                    yield found
