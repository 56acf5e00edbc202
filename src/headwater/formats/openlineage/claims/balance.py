"""Whether a ledger balances, by its own counts: of each source, input = processed + filtered + errored.

What its producer says of that counts only where it says "no".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from headwater.formats.openlineage.claims.reading import few, mappings, named
from headwater.proof.canonical import canonical_scalar, canonical_text

_ENDS = ("processedCount", "filteredCount", "erroredCount")
_UNBALANCED = "rows of the sources are not all accounted for, once each"


class Balance(NamedTuple):
    """``holds`` is None where the ledger does not tell; ``in_number``: how many there are of each is known, and not of
    every row what became of it."""

    holds: bool | None
    detail: str | None = None
    in_number: bool = False


def balance_of(ledger: Mapping[str, Any]) -> Balance:
    parts = [ledger, *mappings(ledger.get("outputs"))]
    accounts = [account for part in parts for account in _accounts(part)]
    answers = [(name, _adds_up(told)) for name, told in accounts]
    partly = [str(canonical_scalar(part["partly"])) for part in parts if part.get("partly") is not None]
    if not partly:  # where not all rows were followed, their counts need not add up
        wrong = [name for name, adds_up in answers if adds_up is False]
        if wrong:
            return Balance(False, f"{_UNBALANCED}: {few(wrong)}")
    if any(part.get("balanced") is False for part in parts):
        return Balance(False, _UNBALANCED)
    if partly:
        return Balance(None, f"not of all rows: {few(partly)}")
    left_out = [named(each, "dataset") for part in parts for each in mappings(part.get("notFollowed"))]
    if left_out:
        return Balance(None, f"not followed: {few(left_out)}")
    if not answers or any(adds_up is None for _, adds_up in answers):
        return Balance(None, "there are no counts of rows to tell it by")
    in_number = [name for name, told in accounts if told.get("exact") is False]
    if in_number:
        return Balance(True, f"in number, not row by row: {few(in_number)}", in_number=True)
    return Balance(True)


def _accounts(ledger: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Of each source, and where the ledger sums them up, that too."""
    sources = ledger.get("sources")
    if isinstance(sources, Mapping):
        yield from ((canonical_text(name), each) for name, each in sources.items() if isinstance(each, Mapping))
    else:
        yield from ((named(each, "dataset"), each) for each in mappings(sources))
    if "inputRecordCount" in ledger:
        yield "all sources", {key: value for key, value in ledger.items() if key != "exact"}


def _adds_up(told: Mapping[str, Any]) -> bool | None:
    counts = [told.get("inputRecordCount"), *(told.get(end, 0) for end in _ENDS)]
    if any(isinstance(count, bool) or not isinstance(count, int) for count in counts):
        return None
    entered, *ends = counts
    return told.get("balanced") is not False and min(counts) >= 0 and entered == sum(ends)
