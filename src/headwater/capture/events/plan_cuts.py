"""Frames cut off from their plan: a checkpoint, a micro-batch handed to `foreachBatch`, a table that was kept.

Spark replaces their plan by a `LogicalRDD` that knows nothing of where it came from, but keeps the ids of its columns.
By those ids the plan it stood for is found again, so that lineage goes on through the cut; a kept table is known by its
folder.
"""

from __future__ import annotations

import re
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
    steps: str | None = None
    """What its operators do to columns, in the words of whoever keeps evidence: the plan itself is not kept."""


@dataclass(frozen=True)
class Cut:
    """A leaf that stands for a plan it was cut off from: the ids of its columns, and that plan's steps, if known."""

    columns: tuple[int, ...]
    steps: str | None


class Origins:
    def __init__(self) -> None:
        self._by_columns: OrderedDict[tuple[int, ...], Origin] = OrderedDict()
        self._by_rdd: OrderedDict[int, Origin] = OrderedDict()
        self._by_folder: OrderedDict[str, Origin] = OrderedDict()

    def remember(self, columns: Sequence[int], origin: Origin, rdd: int | None = None) -> None:
        _put(self._by_columns, tuple(columns), origin)
        if rdd is not None:
            _put(self._by_rdd, rdd, origin)

    def remember_folder(self, folder: str, origin: Origin) -> None:
        _put(self._by_folder, _plain(folder), origin)

    def of_folder(self, leaf: Facts) -> Origin | None:
        """The plan behind a kept table."""
        roots: Sequence[Any] = leaf.get("roots") or ()
        return self._by_folder.get(_plain(str(roots[0]))) if len(roots) == 1 else None

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


def _plain(folder: str) -> str:
    """Spark and Hadoop write one folder with one or with three slashes."""
    return re.sub(r"^file:/+", "file:/", folder).rstrip("/")


def _put(known: OrderedDict[Any, Origin], key: Any, origin: Origin) -> None:
    known[key] = origin
    known.move_to_end(key)
    while len(known) > _MOST:
        known.popitem(last=False)
