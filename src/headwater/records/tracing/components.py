"""Nodes that reach each other: the strongly connected components of a graph given as two arrays of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def strongly_connected_components(sources: NDArray[np.int64], targets: NDArray[np.int64]) -> dict[int, int]:
    """For every node that lies on a cycle with another one, the least of the nodes that it shares cycles with.

    Tarjan's algorithm with a stack of its own: a chain of a million nodes is no deeper than any other graph.
    """
    import numpy as np

    nodes, numbered = np.unique(np.concatenate([sources, targets]), return_inverse=True)
    tails, heads = numbered[: len(sources)], numbered[len(sources) :]
    order = np.argsort(tails, kind="stable")
    onward: list[int] = heads[order].tolist()
    starts: list[int] = np.searchsorted(tails[order], np.arange(len(nodes) + 1)).tolist()
    found: dict[int, int] = {}
    for members in _components(starts, onward):
        if len(members) > 1:
            ids: list[Any] = nodes[members].tolist()
            least = min(ids)
            found |= dict.fromkeys(ids, least)
    return found


def _components(starts: list[int], onward: list[int]) -> list[list[int]]:
    """``onward[starts[i]:starts[i + 1]]`` are the nodes that node i leads to."""
    count = len(starts) - 1
    seen, low, open_ = [-1] * count, [0] * count, [False] * count
    following = starts[:-1].copy()
    waiting: list[int] = []  # nodes whose component is not known yet
    found: list[list[int]] = []
    clock = 0
    for first in range(count):
        if seen[first] >= 0:
            continue
        path = [first]
        while path:
            node = path[-1]
            if seen[node] < 0:
                seen[node] = low[node] = clock
                clock += 1
                waiting.append(node)
                open_[node] = True
            if following[node] < starts[node + 1]:
                other = onward[following[node]]
                following[node] += 1
                if seen[other] < 0:
                    path.append(other)
                elif open_[other]:
                    low[node] = min(low[node], seen[other])
                continue
            path.pop()
            if path:
                low[path[-1]] = min(low[path[-1]], low[node])
            if low[node] == seen[node]:
                members: list[int] = []
                while not members or members[-1] != node:
                    members.append(waiting.pop())
                    open_[members[-1]] = False
                found.append(members)
    return found
