"""What expectations are about: numbers that follow from what a run ended with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from headwater.capture.events.evidence import RunEnded
from headwater.formats.openlineage.fidelity import GRAIN, LEDGER, TYPES

_COUNTS = {
    "input_rows": "inputRecordCount",
    "processed_rows": "processedCount",
    "filtered_rows": "filteredCount",
    "errored_rows": "erroredCount",
}


def measured(ended: RunEnded, facets: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """By measure; without those that are not known, be it of a single write."""
    found: dict[str, float | None] = {
        "rows_written": ended.written.rows,
        "bytes_written": ended.written.bytes,
        "rows_read": ended.read.rows,
        **dict(_of_ledger(facets.get(LEDGER, {}))),
    }
    if all(part.types for part in ended.parts):
        found["lossy_casts"] = _how_many(facets.get(TYPES), "morphismReports", lossy=True)
    if all(part.grain and not part.grain["undecided"] for part in ended.parts):  # what is open may be one
        found["grain_violations"] = _how_many(facets.get(GRAIN), "validations", holds=False)
    return {name: value for name, value in found.items() if value is not None}


def _how_many(facet: Mapping[str, Any] | None, reports: str, **wanted: bool) -> int | None:
    """Reports with the value wanted; 0 where nothing was written at all, None where not all is reported."""
    if facet is None:
        return 0
    if not facet["complete"]:
        return None
    ((key, value),) = wanted.items()
    return sum(each.get(key) is value for each in facet[reports])


def _of_ledger(ledger: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Of a ledger that has all rows in it, of one output or of a pipeline: several outputs have no sum."""
    if not ledger.get("exact") or _COUNTS["input_rows"] not in ledger:
        return
    for measure, name in _COUNTS.items():
        yield measure, ledger[name]
    entered = ledger[_COUNTS["input_rows"]]
    for end in ("filtered", "errored"):
        yield f"{end}_share", ledger[f"{end}Count"] / entered if entered else 0.0
