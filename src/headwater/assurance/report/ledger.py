"""What became of the rows of each source, as a picture and in numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from headwater.assurance.report.gather import Case
from headwater.assurance.report.manifest import certified
from headwater.assurance.report.markup import Html, Part, absent, code, facts, joined, mark, table, tag, words
from headwater.assurance.report.picture import pictures
from headwater.assurance.report.shapes import Account, accounts, mappings, text
from headwater.formats.openlineage.claims.balance import BalanceVerdict, ledger_balance
from headwater.formats.openlineage.facet_names import LEDGER_FACET

_IN_WORDS = {
    True: "balanced: each row of the sources is in exactly one of them",
    False: "not balanced",
    None: "whether it balances is not known",
}
_IN_NUMBER = "balanced in number: of some sources it is not known of every row"
_SAID = ("inputRecordCount", "processedCount", "filteredCount", "erroredCount", "balanced", "exact", "partly")
_HEADINGS = ["Source", "Read", "Processed", "Filtered", "Errored", "Not accounted for", ""]


def balance(case: Case) -> BalanceVerdict | None:
    """By its counts, as a certificate has it; None where there is no ledger."""
    told = case.facet(LEDGER_FACET)
    return None if told is None else ledger_balance(told)


def ledger(case: Case) -> Html:
    told = case.facet(LEDGER_FACET)
    if told is None:
        return absent(f"Not shown by this run: its rows were not counted against its sources ({LEDGER_FACET}).")
    found = accounts(told)
    balanced = ledger_balance(told)
    words_for_it = _IN_NUMBER if balanced.in_number else _IN_WORDS[balanced.holds]
    partly = text(told.get("partly"))
    return joined(
        [
            tag("p", mark(balanced.holds, words_for_it), " ", certified(case, LEDGER_FACET)),
            None if partly is None else absent(f"Not of all rows: {partly}."),
            pictures(found),
            table(_HEADINGS, map(_account, found)) if found else absent("No source was counted."),
            *_notes(found),
            *_not_followed(told),
            _also(told),
        ]
    )


def _account(account: Account) -> list[Part]:
    counts = (account.read, account.processed, account.filtered, account.errored)
    missing = account.missing
    balanced = account.balanced if account.balanced is not None else None if missing is None else not missing
    state = {True: "balanced", False: "not balanced", None: "not told"}[balanced]
    if balanced and account.exact is False:
        state = "balanced in number"
    return [code(account.source), *map(words, counts), _missing(missing), mark(balanced, state)]


def _missing(missing: int | None) -> str:
    return words(missing) if missing is None or missing >= 0 else f"{-missing:,} too many"


def _notes(found: list[Account]) -> Iterator[Html]:
    told: list[tuple[str, Part]] = [(account.source, account.note) for account in found if account.note is not None]
    if told:
        yield tag("h4", "Known of their number, not of every row")
        yield facts(told)
    beyond: list[tuple[str, Part]] = [
        (account.source, "; ".join(account.beyond)) for account in found if account.beyond
    ]
    if beyond:
        yield tag("h4", "Rows that are said to come from where there are none")
        yield facts(beyond)


def _not_followed(told: Mapping[str, Any]) -> Iterator[Html]:
    found = [one for each in (told, *mappings(told.get("outputs"))) for one in mappings(each.get("notFollowed"))]
    if found:
        yield tag("h4", "Sources whose rows were not followed")
        yield table(["Source", "Why"], ([code(words(one.get("dataset"))), words(one.get("reason"))] for one in found))


def _also(told: Mapping[str, Any]) -> Html | None:
    """What else is said in single values or texts, like which keys are missing, and where the rest of them is."""
    rest: list[tuple[str, Part]] = [
        (key, ", ".join(value) if isinstance(value, list) else words(value))
        for key, value in told.items()
        if key not in _SAID and not key.startswith("_") and _is_short(value)
    ]
    return facts(rest) if rest else None


def _is_short(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(one, str) for one in value)
    return not isinstance(value, Mapping)
