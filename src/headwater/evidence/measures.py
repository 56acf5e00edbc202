"""The measures that expectations are about: numbers from the evidence of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from headwater.capture.events.evidence import EndedRun
from headwater.formats.openlineage.facet_names import GRAIN_FACET, LEDGER_FACET, TYPES_FACET

_COUNTS = {
    "input_rows": "inputRecordCount",
    "processed_rows": "processedCount",
    "filtered_rows": "filteredCount",
    "errored_rows": "erroredCount",
}


def expectation_measures(ended: EndedRun, facets: Mapping[str, Mapping[str, object]]) -> dict[str, float]:
    """By measure; without those that are unknown for any of the writes."""
    measures: dict[str, float | None] = {
        "rows_written": ended.written.rows,
        "bytes_written": ended.written.bytes,
        "rows_read": ended.read.rows,
        **dict(_ledger_measures(facets.get(LEDGER_FACET, {}))),
    }
    if all(part.types for part in ended.parts):
        measures["lossy_casts"] = _count_reports(facets.get(TYPES_FACET), "morphismReports", lossy=True)
    if all(part.grain and not part.grain["undecided"] for part in ended.parts):  # what is open may be one
        measures["grain_violations"] = _count_reports(facets.get(GRAIN_FACET), "validations", holds=False)
    return {name: value for name, value in measures.items() if value is not None}


def _count_reports(facet: Mapping[str, object] | None, reports: str, **wanted: bool) -> int | None:
    """Reports with the given value; 0 if nothing was written, None if the reports are incomplete."""
    if facet is None:
        return 0
    if not facet["complete"]:
        return None
    ((key, value),) = wanted.items()
    stated = facet[reports]
    assert isinstance(stated, list)
    return sum(report.get(key) is value for report in stated)


def _ledger_measures(ledger: Mapping[str, object]) -> Iterator[tuple[str, float]]:
    """Of an exact ledger, of one output or of a pipeline: several outputs have no sum."""
    counts = {measure: count for measure, name in _COUNTS.items() if isinstance(count := ledger.get(name), int)}
    if not ledger.get("exact") or "input_rows" not in counts:
        return
    yield from counts.items()
    entered = counts["input_rows"]
    for end in ("filtered", "errored"):
        yield f"{end}_share", counts[f"{end}_rows"] / entered if entered else 0.0
