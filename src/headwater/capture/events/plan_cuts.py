"""Plans that DataFrames were cut off from: a checkpoint, a micro-batch passed to `foreachBatch`, a kept table, a sink
in memory.

Spark replaces such a plan by a `LogicalRDD` without its origin, but keeps the ids of its columns. The plan is found
again by those ids, so that lineage goes on through the cut; a kept table is found by its folder, and the table in
memory that a streaming query fills by its sink.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from headwater.capture.listener.plan_facts import Facts
from headwater.plan.tree import PlanNode, read_plan

_MAX_PLANS = 512  # plans; the oldest is forgotten first, and a DataFrame cut off from it is then a source of its own

_Key = TypeVar("_Key", bound=Hashable)


@dataclass(frozen=True)
class CutPlan:
    """A plan that a DataFrame was cut off from."""

    plan: str
    """As JSON: most are never read again."""
    leaves: Mapping[int, Facts]
    """The facts about its leaves, by the ids of their columns."""
    steps: str | None = None
    """What its operators do to columns, in the form of the evidence provider: the plan itself is not kept."""


@dataclass(frozen=True)
class PlanCut:
    """A leaf that stands for a plan it was cut off from: the ids of its columns, and that plan's steps, if known."""

    columns: tuple[int, ...]
    steps: str | None


class CutPlans:
    """The cut plans of one application; the oldest are forgotten first."""

    def __init__(self) -> None:
        self._by_columns: OrderedDict[tuple[int, ...], CutPlan] = OrderedDict()
        self._by_rdd: OrderedDict[int, CutPlan] = OrderedDict()
        self._by_folder: OrderedDict[str, CutPlan] = OrderedDict()
        self._by_sink: OrderedDict[int, CutPlan] = OrderedDict()

    def remember(self, columns: Sequence[int], cut_plan: CutPlan, rdd: int | None = None) -> None:
        _put(self._by_columns, tuple(columns), cut_plan)
        if rdd is not None:
            _put(self._by_rdd, rdd, cut_plan)

    def remember_folder(self, folder: str, cut_plan: CutPlan) -> None:
        _put(self._by_folder, _normalized_folder(folder), cut_plan)

    def remember_sink(self, sink: int, cut_plan: CutPlan) -> None:
        """``sink`` tells it from the other sinks of streaming queries."""
        _put(self._by_sink, sink, cut_plan)

    def of_sink(self, leaf: Facts) -> CutPlan | None:
        """The plan that fills a table in memory."""
        return self._by_sink.get(leaf.get("sinkHash", -1))

    def of_folder(self, leaf: Facts) -> CutPlan | None:
        """The plan behind a kept table."""
        roots = leaf.get("roots") or ()
        return self._by_folder.get(_normalized_folder(roots[0])) if len(roots) == 1 else None

    def of(self, leaf: Facts) -> CutPlan | None:
        """The plan behind a leaf. By its RDD if that is known: a checkpoint of a filtered checkpoint has the column ids
        of the first one. Otherwise by its columns. If a plan has the same DataFrame twice, the second one has new
        column ids, but the same RDD."""
        rdd = leaf.get("rdd")
        if rdd is not None and rdd in self._by_rdd:
            return self._by_rdd[rdd]
        cut_plan = self._by_columns.get(tuple(leaf.get("ids") or ()))
        if cut_plan is not None and rdd is not None:
            _put(self._by_rdd, rdd, cut_plan)
        return cut_plan

    @staticmethod
    def read(cut_plan: CutPlan) -> PlanNode:
        return read_plan(cut_plan.plan)


def _normalized_folder(folder: str) -> str:
    """Spark and Hadoop write the same folder with one or with three slashes."""
    return re.sub(r"^file:/+", "file:/", folder).rstrip("/")


def _put(cut_plans: OrderedDict[_Key, CutPlan], key: _Key, cut_plan: CutPlan) -> None:
    cut_plans[key] = cut_plan
    cut_plans.move_to_end(key)
    while len(cut_plans) > _MAX_PLANS:
        cut_plans.popitem(last=False)
