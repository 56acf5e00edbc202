"""The facet `cdme.typeUnification`: where values change their type, whether somebody asked for it, and what it may
lose; and where a column begins or ceases to be nullable."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from headwater.evidence.casts import change_of, is_lossy
from headwater.evidence.steps import Step, Steps
from headwater.redaction.literals import without_strings

MOST_REPORTS = 500


def unification(steps: Steps) -> dict[str, Any]:
    casts = [report for step in steps.all for report in _casts(step)]
    nulls = [
        {"node": step.name, "column": each["column"], "nullable": each["nullable"]}
        for step in steps.all
        for each in step.nulls
    ]
    casts.sort(key=lambda report: not report.get("lossy"))  # what may lose something is told first, if not all is told
    told = {"morphismReports": casts[:MOST_REPORTS], "nullabilityChanges": nulls[:MOST_REPORTS]}
    return {**told, **steps.coverage(all_told=len(casts) <= MOST_REPORTS and len(nulls) <= MOST_REPORTS)}


def _casts(step: Step) -> Iterator[dict[str, Any]]:
    told = set()
    for cast in step.casts:
        change = change_of(cast["from"], cast["to"])
        key = (cast["column"], cast["sql"])
        if change == "same" or key in told:
            continue
        told.add(key)
        report = {
            "node": step.name,
            "column": cast["column"],
            "from": cast["from"],
            "to": cast["to"],
            "cast": "explicit" if cast["explicit"] else "implicit",
            "change": str(change),
            "lossy": is_lossy(change),
            "expression": without_strings(str(cast["column"]), cast["sql"]),
        }
        yield {name: value for name, value in report.items() if value is not None}
