"""What the types and the grain say to what was done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

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
from headwater.formats.openlineage.fidelity import GRAIN, TYPES

MAX_LISTED = 500
_COLUMNS = ("node", "step", "name", "check", "column", "from", "to", "cast", "change", "lossy", "holds", "detail")
"""Those of a table; whatever else a finding says stands together in its last column."""


def casts(case: ReportData) -> list[Mapping[str, Any]]:
    return mappings(mapping(case.facet(TYPES)).get("morphismReports"))


def grain_findings(case: ReportData) -> list[Mapping[str, Any]]:
    return mappings(mapping(case.facet(GRAIN)).get("validations"))


def undecided(case: ReportData) -> list[Mapping[str, Any]]:
    """What the plan alone does not tell: it may be right or wrong."""
    return mappings(mapping(case.facet(GRAIN)).get("undecided"))


def types(case: ReportData) -> Html:
    if case.facet(TYPES) is None:
        return absent_note(f"Not shown by this run: it reported no types ({TYPES}).")
    found = casts(case)
    lossy = sum(bool(each.get("lossy")) for each in found)
    if lossy:
        told = mark(None, f"{lossy:,} of {count_of(len(found), 'cast')} may be lossy")
    elif partial_note(case, TYPES):
        told = mark(None, "no lossy cast is known")
    else:
        told = mark(True, "no lossy casts")
    nullable = mappings(mapping(case.facet(TYPES)).get("nullabilityChanges"))
    return join_parts(
        [
            tag("p", told),
            in_part(case, TYPES),
            _limited_list(found, "lossy", bad=True),
            *([tag("h4", "Changes of nullability"), _limited_list(nullable)] if nullable else []),
        ]
    )


def grain(case: ReportData) -> Html:
    if case.facet(GRAIN) is None:
        return absent_note(f"Not shown by this run: it reported no grain ({GRAIN}).")
    return join_parts([tag("p", *_grain_in_words(case)), in_part(case, GRAIN), *_grain_lists(case)])


def _grain_in_words(case: ReportData) -> Iterator[Html]:
    found, may_be = grain_findings(case), undecided(case)
    failed = sum(each.get("holds") is not True for each in found)
    if failed:
        yield mark(False, f"{failed:,} of {len(found):,} do not hold")
    elif found:
        yield mark(True, f"{len(found):,} checked, all hold")
    elif not may_be and not partial_note(case, GRAIN):
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
    """Said where a facet says of itself that it has not everything, with its reasons."""
    if not partial_note(case, facet):
        return None
    why = [
        tag("li", code(words(each.get("node"))), " ", words(each.get("reason")))
        for each in mappings(mapping(case.facet(facet)).get("notSeen"))
    ]
    return join_parts([absent_note("The run reported this only in part."), tag("ul", *why) if why else None])


def _limited_list(found: list[Mapping[str, Any]], flag: str | None = None, *, bad: bool = False) -> Html:
    """``flag`` is the key that says which are the bad ones, where it is ``bad``: these come first."""
    if not found:
        return Html("")
    shown = sorted(found, key=lambda each: flag is not None and bool(each.get(flag)) is not bad)[:MAX_LISTED]
    told = columns_of(shown, _COLUMNS)
    columns, rest = [key for key in told if key in _COLUMNS], [key for key in told if key not in _COLUMNS]
    headings = [_split_words(key) for key in columns] + (["also"] if rest else [])
    rows = (
        [_cell(key, each.get(key), flag, bad) for key in columns] + ([_remainder_note(each, rest)] if rest else [])
        for each in shown
    )
    return join_parts([table(headings, rows), remainder_text(len(found))])


def _remainder_note(finding: Mapping[str, Any], keys: list[str]) -> Html:
    said = (
        join_parts([tag("span", f"{_split_words(key)} ", class_="dim"), code(words(finding[key]))])
        for key in keys
        if key in finding
    )
    return join_parts(said, "<br>")


def _cell(key: str, value: Any, flag: str | None, bad: bool) -> Part:
    return words(value) if key != flag else mark(bool(value) is not bad, words(bool(value)))


def _split_words(key: str) -> str:
    """`sourceType` as `source type`."""
    return "".join(f" {c.lower()}" if c.isupper() else c for c in key).replace("_", " ").strip()


def remainder_text(there_are: int) -> Html | None:
    left = there_are - MAX_LISTED
    return absent_note(f"{left:,} more are omitted here; `headwater run RUN_ID --json` has all.") if left > 0 else None
