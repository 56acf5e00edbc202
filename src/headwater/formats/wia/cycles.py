"""Cycles of a graph given as two arrays of node numbers: the strongly connected components, and one cycle of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]


def strong_components(sources: Numbers, targets: Numbers, nodes: int) -> list[list[int]]:
    """The sets of nodes that all lead to each other; a node that leads to itself is one by itself.

    Nodes without incoming or without outgoing edges are in no cycle. In a graph without cycles that leaves nothing, so
    there is seldom much left for Python to walk.
    """
    remaining = _edges_after_pruning(sources, targets, nodes)
    remaining = _edges_after_pruning(targets[remaining], sources[remaining], nodes, remaining)
    following: dict[int, list[int]] = {}
    for source, target in zip(sources[remaining].tolist(), targets[remaining].tolist(), strict=True):
        following.setdefault(source, []).append(target)
    return [
        sorted(component)
        for component in _tarjan(following)
        if len(component) > 1 or component[0] in following.get(component[0], ())
    ]


def cycle_path(component: Sequence[int], sources: Numbers, targets: Numbers) -> list[int]:
    """A shortest path from the first node of a component back to it, which it starts and ends with."""
    inside = np.isin(sources, component) & np.isin(targets, component)
    following: dict[int, list[int]] = {}
    for source, target in zip(sources[inside].tolist(), targets[inside].tolist(), strict=True):
        following.setdefault(source, []).append(target)
    start = component[0]
    predecessor: dict[int, int] = {}
    frontier = [start]
    while start not in predecessor:
        reached: list[int] = []
        for node in frontier:
            for successor in following[node]:
                if successor not in predecessor:
                    predecessor[successor] = node
                    reached.append(successor)
        frontier = reached
    path = [start, predecessor[start]]
    while path[-1] != start:
        path.append(predecessor[path[-1]])
    return path[::-1]


def _edges_after_pruning(sources: Numbers, targets: Numbers, nodes: int, of: Numbers | None = None) -> Numbers:
    """The numbers of the edges that are left after nodes without incoming edges have been removed repeatedly."""
    order = np.argsort(sources, kind="stable")
    begins = np.searchsorted(sources[order], np.arange(nodes + 1)).tolist()
    followers: list[int] = targets[order].tolist()
    in_degree: list[int] = np.bincount(targets, minlength=nodes).tolist()
    without_sources = [node for node, count in enumerate(in_degree) if count == 0]
    removed = np.zeros(nodes, dtype=bool)
    while without_sources:
        node = without_sources.pop()
        removed[node] = True
        for target in followers[begins[node] : begins[node + 1]]:
            in_degree[target] -= 1
            if in_degree[target] == 0:
                without_sources.append(target)
    remaining: Numbers = np.flatnonzero(~removed[sources])
    return remaining if of is None else of[remaining]


def _tarjan(following: Mapping[int, Sequence[int]]) -> Iterator[list[int]]:
    """Tarjan's strongly connected components, without recursion: a cycle may be as long as the graph."""
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    for root in following:
        if root in number:
            continue
        path = [(root, iter(following.get(root, ())))]
        number[root] = low[root] = len(number)
        stack.append(root)
        on_stack.add(root)
        while path:
            node, targets = path[-1]
            for target in targets:
                if target not in number:
                    number[target] = low[target] = len(number)
                    stack.append(target)
                    on_stack.add(target)
                    path.append((target, iter(following.get(target, ()))))
                    break
                if target in on_stack:
                    low[node] = min(low[node], number[target])
            else:
                path.pop()
                if path:
                    parent = path[-1][0]
                    low[parent] = min(low[parent], low[node])
                if low[node] == number[node]:
                    component: list[int] = []
                    while not component or component[-1] != node:
                        component.append(stack.pop())
                        on_stack.discard(component[-1])
                    yield component
