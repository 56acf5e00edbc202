"""The strongly connected components of a graph whose links are two arrays of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def strongly_connected_components(sources: NDArray[np.int64], targets: NDArray[np.int64]) -> dict[int, int]:
    """For every node on a cycle with another one, the least node of its component.

    Tarjan's algorithm with an explicit stack: a chain of a million nodes does not exceed Python's recursion limit.
    """
    import numpy as np

    nodes, numbered = np.unique(np.concatenate([sources, targets]), return_inverse=True)
    tails, heads = numbered[: len(sources)], numbered[len(sources) :]
    order = np.argsort(tails, kind="stable")
    ordered_heads: list[int] = heads[order].tolist()
    starts: list[int] = np.searchsorted(tails[order], np.arange(len(nodes) + 1)).tolist()
    component_of: dict[int, int] = {}
    for members in _components(starts, ordered_heads):
        if len(members) > 1:
            ids: list[int] = nodes[members].tolist()
            least = min(ids)
            component_of |= dict.fromkeys(ids, least)
    return component_of


def _components(starts: list[int], targets: list[int]) -> list[list[int]]:
    """``targets[starts[i]:starts[i + 1]]`` are the targets of node i."""
    count = len(starts) - 1
    seen, low, open_ = [-1] * count, [0] * count, [False] * count
    following = starts[:-1].copy()
    waiting: list[int] = []  # nodes without a component yet
    components: list[list[int]] = []
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
                other = targets[following[node]]
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
                components.append(members)
    return components
