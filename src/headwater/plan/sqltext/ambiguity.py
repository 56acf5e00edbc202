"""Which column names are ambiguous in one text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from headwater.plan.operators import is_persistent_view
from headwater.plan.tree import PlanNode, fold

_BRANCHES = ("Union", "SequentialStreamingUnion", "Intersect", "Except")


def ambiguous_names(plans: Iterable[PlanNode]) -> frozenset[str]:
    """Names of columns that several sources have which can be part of one expression: the branches of a union
    cannot."""
    counted: Counter[str] = Counter()
    for plan in plans:
        counts: Counter[str] = fold(plan, _leave_out, _combine)
        counted.update(counts)
    return frozenset(name for name, count in counted.items() if count > 1)


def _leave_out(node: PlanNode) -> Counter[str] | None:
    """A persistent view is a source; what it is made of is not in the texts."""
    return Counter() if is_persistent_view(node) else None


def _combine(node: PlanNode, below: list[Counter[str]]) -> Counter[str]:
    if not below:
        names = {output.text("name") for output in node.trees("output")}
        return Counter(name for name in names if name is not None)
    if len(below) == 1:
        return below[0]
    together: Counter[str] = Counter()
    for counted in below:
        if node.name in _BRANCHES:
            for name, count in counted.items():
                together[name] = max(together[name], count)
        else:
            together.update(counted)
    return together
