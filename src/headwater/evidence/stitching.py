"""Plans that were cut in two: a checkpoint, a micro-batch, a table that was kept. What their steps told is one again.

Spark has a leaf in the place of the plan that such a frame was made by. The capture finds that plan again, by which it
follows columns (capture/events/plan_cuts.py), and has kept what its steps did; here they are put below the leaf, which
from then on stands for them: its columns are theirs, by their places.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from headwater.capture.events.plan_cuts import Cut

MOST_STEPS = 2_000
"""Operators of a plan that are looked at."""
_UNKNOWN = "it stands for a frame that was cut off from its plan, and what that did is not known"


def stitch(told: dict[str, Any], cuts: Sequence[Cut]) -> tuple[bool, dict[int, str]]:
    """Adds to what was told of a plan's steps those behind its cuts. Whether all of them were looked at; and those with
    more behind them that cannot be told, each with the reason."""
    steps, whole, not_seen = told["steps"], bool(told["whole"]), dict[int, str]()
    waiting: dict[tuple[int, ...], list[Cut]] = {}
    for cut in cuts:
        waiting.setdefault(cut.columns, []).append(cut)
    place = 0
    while place < len(steps):
        leaf = steps[place].get("leaf")
        known = waiting.get(tuple(each["id"] for each in leaf)) if leaf else None
        if leaf and known:
            behind = _behind(known.pop(0), leaf)
            if behind is None:
                not_seen[place] = _UNKNOWN
            elif len(steps) + len(behind["steps"]) > MOST_STEPS:
                whole = False
            else:
                whole = whole and bool(behind["whole"])
                _put_below(place, leaf, behind, steps)
        place += 1
    return whole, not_seen


def _behind(cut: Cut, leaf: Sequence[Any]) -> dict[str, Any] | None:
    found: dict[str, Any] | None = None if cut.steps is None else json.loads(cut.steps)
    return found if found is not None and len(found["columns"]) == len(leaf) else None


def _put_below(place: int, leaf: Sequence[Any], behind: dict[str, Any], steps: list[dict[str, Any]]) -> None:
    first = len(steps)
    for number, step in enumerate(behind["steps"]):
        inner = step["parent"] + first if step["parent"] >= 0 else -1
        steps.append({**step, "parent": inner if number else place})
    steps[place] = {key: value for key, value in steps[place].items() if key != "leaf"} | {
        "standsFor": [each["id"] for each in leaf],
        "makes": [
            {"id": here["id"], "name": here["name"], "sql": here["name"], "from": [there["id"]]}
            for here, there in zip(leaf, behind["columns"], strict=True)
            if here["id"] != there["id"]
        ],
    }
