"""The findings on types and grain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from headwater.assurance.report.gather import ReportData
from headwater.assurance.report.markup import (
    Html,
    Part,
    absent_note,
    code,
    count_of,
    join_parts,
    mark,
    table,
    tag,
    words,
)
from headwater.assurance.report.shapes import columns_of, mapping, mappings
from headwater.formats.openlineage.facet_names import GRAIN_FACET, TYPES_FACET

MAX_LISTED = 500
_COLUMNS = ("node", "step", "name", "check", "column", "from", "to", "cast", "change", "lossy", "holds", "detail")
"""Columns of a table; other members of a finding are combined in its last column."""


def casts(case: ReportData) -> list[Mapping[str, object]]:
    return mappings(mapping(case.facet(TYPES_FACET)).get("morphismReports"))


def grain_findings(case: ReportData) -> list[Mapping[str, object]]:
    return mappings(mapping(case.facet(GRAIN_FACET)).get("validations"))


def undecided(case: ReportData) -> list[Mapping[str, object]]:
    """Checks that the plan alone cannot decide."""
    return mappings(mapping(case.facet(GRAIN_FACET)).get("undecided"))


def types(case: ReportData) -> Html:
    if case.facet(TYPES_FACET) is None:
        return absent_note(f"Not shown by this run: it reported no types ({TYPES_FACET}).")
    result = casts(case)
    lossy = sum(bool(item.get("lossy")) for item in result)
    if lossy:
        summary = mark(None, f"{lossy:,} of {count_of(len(result), 'cast')} may be lossy")
    elif partial_note(case, TYPES_FACET):
        summary = mark(None, "no lossy cast is known")
    else:
        summary = mark(True, "no lossy casts")
    nullable = mappings(mapping(case.facet(TYPES_FACET)).get("nullabilityChanges"))
    return join_parts(
        [
            tag("p", summary),
            in_part(case, TYPES_FACET),
            _limited_list(result, "lossy", bad=True),
            *([tag("h4", "Changes of nullability"), _limited_list(nullable)] if nullable else []),
        ]
    )


def grain(case: ReportData) -> Html:
    if case.facet(GRAIN_FACET) is None:
        return absent_note(f"Not shown by this run: it reported no grain ({GRAIN_FACET}).")
    return join_parts([tag("p", *_grain_in_words(case)), in_part(case, GRAIN_FACET), *_grain_lists(case)])


def _grain_in_words(case: ReportData) -> Iterator[Html]:
    result, may_be = grain_findings(case), undecided(case)
    failed = sum(item.get("holds") is not True for item in result)
    if failed:
        yield mark(False, f"{failed:,} of {len(result):,} do not hold")
    elif result:
        yield mark(True, f"{len(result):,} checked, all hold")
    elif not may_be and not partial_note(case, GRAIN_FACET):
        yield mark(True, "nothing that could multiply rows")
    if may_be:
        yield tag("span", " ")
        yield mark(None, f"{len(may_be):,} undecided")


def _grain_lists(case: ReportData) -> Iterator[Html]:
    yield _limited_list(grain_findings(case), "holds", bad=False)
    may_be = undecided(case)
    if may_be:
        yield tag("h4", "Not decided")
        yield _limited_list(may_be)


def partial_note(case: ReportData, facet: str) -> bool:
    return mapping(case.facet(facet)).get("complete") is False


def in_part(case: ReportData, facet: str) -> Html | None:
    """A note for a facet that is incomplete, with its reasons."""
    if not partial_note(case, facet):
        return None
    why = [
        tag("li", code(words(item.get("node"))), " ", words(item.get("reason")))
        for item in mappings(mapping(case.facet(facet)).get("notSeen"))
    ]
    return join_parts([absent_note("The run reported this only in part."), tag("ul", *why) if why else None])


def _limited_list(result: list[Mapping[str, object]], flag: str | None = None, *, bad: bool = False) -> Html:
    """List findings; those whose ``flag`` equals ``bad`` come first."""
    if not result:
        return Html("")
    shown = sorted(result, key=lambda item: flag is not None and bool(item.get(flag)) is not bad)[:MAX_LISTED]
    keys = columns_of(shown, _COLUMNS)
    columns, rest = [key for key in keys if key in _COLUMNS], [key for key in keys if key not in _COLUMNS]
    headings = [_split_words(key) for key in columns] + (["also"] if rest else [])
    rows = (
        [_cell(key, item.get(key), flag, bad) for key in columns] + ([_remainder_note(item, rest)] if rest else [])
        for item in shown
    )
    return join_parts([table(headings, rows), remainder_text(len(result))])


def _remainder_note(finding: Mapping[str, object], keys: list[str]) -> Html:
    text = (
        join_parts([tag("span", f"{_split_words(key)} ", class_="dim"), code(words(finding[key]))])
        for key in keys
        if key in finding
    )
    return join_parts(text, "<br>")


def _cell(key: str, value: object, flag: str | None, bad: bool) -> Part:
    return words(value) if key != flag else mark(bool(value) is not bad, words(bool(value)))


def _split_words(key: str) -> str:
    """`sourceType` as `source type`."""
    return "".join(f" {c.lower()}" if c.isupper() else c for c in key).replace("_", " ").strip()


def remainder_text(there_are: int) -> Html | None:
    left = there_are - MAX_LISTED
    return absent_note(f"{left:,} more are omitted here; `headwater run RUN_ID --json` has all.") if left > 0 else None
