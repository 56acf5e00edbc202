"""The facet `cdme.typeUnification`: where values change their type, whether the user wrote the cast, and what it may
lose; and where a column starts or ceases to be nullable."""

from __future__ import annotations

from collections.abc import Iterator

from headwater.evidence.casts import cast_effect, is_lossy
from headwater.evidence.documents import TypesFacet
from headwater.evidence.steps import MeasuredOperator, PlanSteps
from headwater.redaction.literals import without_strings

MAX_REPORTS = 500


def type_unification(steps: PlanSteps) -> TypesFacet:
    casts = [report for step in steps.all for report in _casts(step)]
    nulls: list[dict[str, object]] = [
        {"node": step.name, "column": change["column"], "nullable": change["nullable"]}
        for step in steps.all
        for change in step.nulls
    ]
    casts.sort(key=lambda report: not report.get("lossy"))  # lossy casts first, in case the list is truncated
    return {
        "morphismReports": casts[:MAX_REPORTS],
        "nullabilityChanges": nulls[:MAX_REPORTS],
        **steps.coverage(all_reported=len(casts) <= MAX_REPORTS and len(nulls) <= MAX_REPORTS),
    }


def _casts(step: MeasuredOperator) -> Iterator[dict[str, object]]:
    reported = set()
    for cast in step.casts:
        change = cast_effect(cast["from"], cast["to"])
        key = (cast["column"], cast["sql"])
        if change == "same" or key in reported:
            continue
        reported.add(key)
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
