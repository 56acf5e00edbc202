"""Frames cut off from their plan: a checkpoint, a micro-batch handed to `foreachBatch`.

Spark replaces their plan by a `LogicalRDD` that knows nothing of where it came from, but keeps the ids of its columns.
By those ids the plan it stood for is found again, so that lineage goes on through the cut.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headwater.plan.tree import Node, read_plan

_MOST = 512  # plans; the oldest is forgotten first, and a frame cut off from it is then a source of its own

Facts = Mapping[str, Any]


@dataclass(frozen=True)
class Origin:
    plan: str
    """As JSON: most are never looked at again."""
    leaves: Mapping[int, Facts]
    """The facts about its leaves, by the ids of their columns."""


class Origins:
    def __init__(self) -> None:
        self._by_columns: OrderedDict[tuple[int, ...], Origin] = OrderedDict()
        self._by_rdd: OrderedDict[int, Origin] = OrderedDict()

    def remember(self, columns: Sequence[int], origin: Origin, rdd: int | None = None) -> None:
        _put(self._by_columns, tuple(columns), origin)
        if rdd is not None:
            _put(self._by_rdd, rdd, origin)

    def of(self, leaf: Facts) -> Origin | None:
        """The plan behind a leaf: by its RDD where that is known, since a checkpoint of a filtered checkpoint has the
        column ids of the first; else by its columns. The same frame twice in one plan has new column ids the second
        time, but one RDD."""
        rdd = leaf.get("rdd")
        if rdd is not None and rdd in self._by_rdd:
            return self._by_rdd[rdd]
        origin = self._by_columns.get(tuple(leaf.get("ids") or ()))
        if origin is not None and rdd is not None:
            _put(self._by_rdd, rdd, origin)
        return origin

    @staticmethod
    def read(origin: Origin) -> Node:
        return read_plan(origin.plan)


def _put(known: OrderedDict[Any, Origin], key: Any, origin: Origin) -> None:
    known[key] = origin
    known.move_to_end(key)
    while len(known) > _MOST:
        known.popitem(last=False)
