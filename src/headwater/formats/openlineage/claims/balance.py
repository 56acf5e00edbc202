"""Whether a ledger balances, by its own counts: of each source, input = processed + filtered + errored.

What its producer states counts only if it says "no".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from headwater.formats.openlineage.claims.reading import first_names, joined_name, mappings
from headwater.proof.canonical import canonical_scalar, canonical_text

_ENDS = ("processedCount", "filteredCount", "erroredCount")
_UNBALANCED = "rows of the sources are not all accounted for, once each"


class BalanceVerdict(NamedTuple):
    """``holds`` is None if the ledger does not decide it. ``in_number``: the counts balance, but the outcome of each
    single row is not known."""

    holds: bool | None
    detail: str | None = None
    in_number: bool = False


def ledger_balance(ledger: Mapping[str, object]) -> BalanceVerdict:
    parts = [ledger, *mappings(ledger.get("outputs"))]
    accounts = [account for part in parts for account in _accounts(part)]
    answers = [(name, _adds_up(counts)) for name, counts in accounts]
    partly = [str(canonical_scalar(part["partly"])) for part in parts if part.get("partly") is not None]
    if not partly:  # where not all rows were followed, their counts need not add up
        wrong = [name for name, adds_up in answers if adds_up is False]
        if wrong:
            return BalanceVerdict(False, f"{_UNBALANCED}: {first_names(wrong)}")
    if any(part.get("balanced") is False for part in parts):
        return BalanceVerdict(False, _UNBALANCED)
    if partly:
        return BalanceVerdict(None, f"not of all rows: {first_names(partly)}")
    left_out = [joined_name(entry, "dataset") for part in parts for entry in mappings(part.get("notFollowed"))]
    if left_out:
        return BalanceVerdict(None, f"not followed: {first_names(left_out)}")
    if not answers or any(adds_up is None for _, adds_up in answers):
        return BalanceVerdict(None, "there are no counts of rows to tell it by")
    in_number = [name for name, counts in accounts if counts.get("exact") is False]
    if in_number:
        return BalanceVerdict(True, f"in number, not row by row: {first_names(in_number)}", in_number=True)
    return BalanceVerdict(True)


def _accounts(ledger: Mapping[str, object]) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Of each source, and the sum over all sources if the ledger has one."""
    sources = ledger.get("sources")
    if isinstance(sources, Mapping):
        yield from (
            (canonical_text(name), account) for name, account in sources.items() if isinstance(account, Mapping)
        )
    else:
        yield from ((joined_name(account, "dataset"), account) for account in mappings(sources))
    if "inputRecordCount" in ledger:
        yield "all sources", {key: value for key, value in ledger.items() if key != "exact"}


def _adds_up(account: Mapping[str, object]) -> bool | None:
    stated = [account.get("inputRecordCount"), *(account.get(end, 0) for end in _ENDS)]
    counts = [count for count in stated if isinstance(count, int) and not isinstance(count, bool)]
    if len(counts) < len(stated):
        return None
    entered, *ends = counts
    return account.get("balanced") is not False and min(counts) >= 0 and entered == sum(ends)
