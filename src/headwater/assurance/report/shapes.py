"""Facets of any shape, read as far as they can be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from headwater.assurance.report.markup import words


def mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def mappings(value: Any) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def columns_of(rows: Iterable[Mapping[str, Any]], first: Sequence[str]) -> list[str]:
    """The keys that the rows have, those of ``first`` before the others; a facet's own marks are left out."""
    there = dict.fromkeys(key for row in rows for key in row if not key.startswith("_"))
    return [key for key in first if key in there] + [key for key in there if key not in first]


@dataclass(frozen=True, slots=True)
class LedgerAccount:
    """What became of the rows of one source. A count that was not told is None."""

    source: str
    read: int | None
    processed: int | None
    filtered: int | None
    errored: int | None
    balanced: bool | None
    exact: bool | None = None
    """Whether it is known of every single row; else only of their number."""
    note: str | None = None
    beyond: tuple[str, ...] = ()
    """Files that rows are said to come from and cannot."""

    @property
    def missing(self) -> int | None:
        """Rows in none of the three; below zero where there are more than were read."""
        told = [each for each in (self.processed, self.filtered, self.errored) if each is not None]
        return None if self.read is None or not told else self.read - sum(told)

    @classmethod
    def of(cls, source: str, told: Mapping[str, Any]) -> LedgerAccount:
        balanced, exact = told.get("balanced"), told.get("exact")
        return cls(
            source,
            read=number(told.get("inputRecordCount")),
            processed=number(told.get("processedCount")),
            filtered=number(told.get("filteredCount")),
            errored=number(told.get("erroredCount")),
            balanced=balanced if isinstance(balanced, bool) else None,
            exact=exact if isinstance(exact, bool) else None,
            note=text(told.get("note")),
            beyond=tuple(words(each) for each in told["beyond"]) if isinstance(told.get("beyond"), list) else (),
        )


def accounts(ledger: Mapping[str, Any]) -> list[LedgerAccount]:
    """Source by source where the ledger tells them apart, as a list or by name; else all of them as one.

    A run with several outputs has a ledger for each: a row may be in one and not in another.
    """
    found = [
        replace(account, source=f"{account.source} → {words(each.get('output'))}")
        for each in mappings(ledger.get("outputs"))
        for account in accounts(each)
    ]
    sources = ledger.get("sources")
    named = sources.items() if isinstance(sources, Mapping) else ((_name(one), one) for one in mappings(sources))
    found += [
        LedgerAccount.of(name, one) for name, one in named if isinstance(one, Mapping) and "inputRecordCount" in one
    ]
    if not found and "inputRecordCount" in ledger:
        found = [LedgerAccount.of("all sources", ledger)]
    return found


def _name(told: Mapping[str, Any]) -> str:
    for key in ("dataset", "source", "name"):
        if key in told:
            named = told[key]
            if isinstance(named, Mapping):
                return "/".join(str(named[part]) for part in ("namespace", "name") if part in named)
            return str(named)
    return "a source without a name"
