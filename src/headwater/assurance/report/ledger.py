"""The ledger: what became of the rows of each source, as a picture and in numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from headwater.assurance.report.gather import ReportData
from headwater.assurance.report.manifest import certified_mark
from headwater.assurance.report.markup import Html, Part, absent_note, code, facts, join_parts, mark, table, tag, words
from headwater.assurance.report.picture import pictures
from headwater.assurance.report.shapes import LedgerAccount, accounts, mappings, text
from headwater.formats.openlineage.claims.balance import BalanceVerdict, ledger_balance
from headwater.formats.openlineage.facet_names import LEDGER_FACET

_BALANCE_TEXTS = {
    True: "balanced: each source row is in exactly one of them",
    False: "not balanced",
    None: "balance not known",
}
_BALANCED_IN_NUMBER = "balanced in number: for some sources not row by row"
_SHOWN_MEMBERS = ("inputRecordCount", "processedCount", "filteredCount", "erroredCount", "balanced", "exact", "partly")
_HEADINGS = ["Source", "Read", "Processed", "Filtered", "Errored", "Not accounted for", ""]


def balance(case: ReportData) -> BalanceVerdict | None:
    """Return the balance by the counts, as in a certificate; None without a ledger."""
    facet = case.facet(LEDGER_FACET)
    return None if facet is None else ledger_balance(facet)


def ledger(case: ReportData) -> Html:
    facet = case.facet(LEDGER_FACET)
    if facet is None:
        return absent_note(f"Not shown by this run: it reported no ledger ({LEDGER_FACET}).")
    result = accounts(facet)
    balanced = ledger_balance(facet)
    words_for_it = _BALANCED_IN_NUMBER if balanced.in_number else _BALANCE_TEXTS[balanced.holds]
    partly = text(facet.get("partly"))
    return join_parts(
        [
            tag("p", mark(balanced.holds, words_for_it), " ", certified_mark(case, LEDGER_FACET)),
            None if partly is None else absent_note(f"Not all rows: {partly}."),
            pictures(result),
            table(_HEADINGS, map(_account, result)) if result else absent_note("No sources were counted."),
            *_notes(result),
            *_untracked_sources(facet),
            _other_members(facet),
        ]
    )


def _account(account: LedgerAccount) -> list[Part]:
    counts = (account.read, account.processed, account.filtered, account.errored)
    missing = account.missing
    balanced = account.balanced if account.balanced is not None else None if missing is None else not missing
    state = {True: "balanced", False: "not balanced", None: "not reported"}[balanced]
    if balanced and account.exact is False:
        state = "balanced in number"
    return [code(account.source), *map(words, counts), _missing(missing), mark(balanced, state)]


def _missing(missing: int | None) -> str:
    return words(missing) if missing is None or missing >= 0 else f"{-missing:,} too many"


def _notes(result: list[LedgerAccount]) -> Iterator[Html]:
    notes: list[tuple[str, Part]] = [(account.source, account.note) for account in result if account.note is not None]
    if notes:
        yield tag("h4", "Known in number, not row by row")
        yield facts(notes)
    beyond: list[tuple[str, Part]] = [
        (account.source, "; ".join(account.beyond)) for account in result if account.beyond
    ]
    if beyond:
        yield tag("h4", "Rows with a position that does not exist")
        yield facts(beyond)


def _untracked_sources(facet: Mapping[str, object]) -> Iterator[Html]:
    result = [
        mapping for item in (facet, *mappings(facet.get("outputs"))) for mapping in mappings(item.get("notFollowed"))
    ]
    if result:
        yield tag("h4", "Sources that were not traced")
        yield table(["Source", "Why"], ([code(words(one.get("dataset"))), words(one.get("reason"))] for one in result))


def _other_members(facet: Mapping[str, object]) -> Html | None:
    """List other members with short values, such as missing keys."""
    rest: list[tuple[str, Part]] = [
        (key, ", ".join(value) if isinstance(value, list) else words(value))
        for key, value in facet.items()
        if key not in _SHOWN_MEMBERS and not key.startswith("_") and _is_short(value)
    ]
    return facts(rest) if rest else None


def _is_short(value: object) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(one, str) for one in value)
    return not isinstance(value, Mapping)
