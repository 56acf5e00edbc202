"""Joins the steps of plans that were cut in two: by a checkpoint, a micro-batch, or a kept table.

Spark has a leaf in place of the plan that such a DataFrame was computed by. The capture finds that plan again, to
follow columns (capture/events/plan_cuts.py), and stores its steps. Here they are appended below the leaf, whose columns
are theirs, by position.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from headwater.capture.events.plan_cuts import PlanCut
from headwater.evidence.documents import ColumnDocument, OperatorDocument, PlanStepsDocument

MAX_STEPS = 2_000
"""The largest number of operators of a plan that are read."""
_UNKNOWN = "it stands for a frame that was cut off from its plan, and what that did is not known"


def stitch(document: PlanStepsDocument, cuts: Sequence[PlanCut]) -> tuple[bool, dict[int, str]]:
    """Appends the steps of the plans behind its cuts to the steps of a plan. Returns whether all of them were read, and
    the steps with an unknown plan behind them, each with the reason."""
    steps, complete, not_seen = document["steps"], bool(document["whole"]), dict[int, str]()
    pending: dict[tuple[int, ...], list[PlanCut]] = {}
    for cut in cuts:
        pending.setdefault(cut.columns, []).append(cut)
    index = 0
    while index < len(steps):
        leaf = steps[index].get("leaf")
        cuts_here = pending.get(tuple(column["id"] for column in leaf)) if leaf else None
        if leaf and cuts_here:
            plan = _plan_behind(cuts_here.pop(0), leaf)
            if plan is None:
                not_seen[index] = _UNKNOWN
            elif len(steps) + len(plan["steps"]) > MAX_STEPS:
                complete = False
            else:
                complete = complete and bool(plan["whole"])
                _append_below(index, leaf, plan, steps)
        index += 1
    return complete, not_seen


def _plan_behind(cut: PlanCut, leaf: Sequence[ColumnDocument]) -> PlanStepsDocument | None:
    plan: PlanStepsDocument | None = None if cut.steps is None else json.loads(cut.steps)
    return plan if plan is not None and len(plan["columns"]) == len(leaf) else None


def _append_below(
    index: int, leaf: Sequence[ColumnDocument], plan: PlanStepsDocument, steps: list[OperatorDocument]
) -> None:
    first = len(steps)
    for number, step in enumerate(plan["steps"]):
        inner = step["parent"] + first if step["parent"] >= 0 else -1
        steps.append({**step, "parent": inner if number else index})
    cut: OperatorDocument = {
        **steps[index],
        "standsFor": [column["id"] for column in leaf],
        "makes": [
            {"id": column["id"], "name": column["name"], "sql": column["name"], "from": [source["id"]]}
            for column, source in zip(leaf, plan["columns"], strict=True)
            if column["id"] != source["id"]
        ],
    }
    del cut["leaf"]
    steps[index] = cut
