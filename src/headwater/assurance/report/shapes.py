"""Reads untrusted facets: values of a wrong type count as missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from headwater.assurance.report.markup import words


def mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def mappings(value: object) -> list[Mapping[str, object]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def columns_of(rows: Iterable[Mapping[str, object]], first: Sequence[str]) -> list[str]:
    """Return the keys of the rows, those of ``first`` before the others, without a facet's own metadata."""
    there = dict.fromkeys(key for row in rows for key in row if not key.startswith("_"))
    return [key for key in first if key in there] + [key for key in there if key not in first]


@dataclass(frozen=True, slots=True)
class LedgerAccount:
    """What became of the rows of one source. A missing count is None."""

    source: str
    read: int | None
    processed: int | None
    filtered: int | None
    errored: int | None
    balanced: bool | None
    exact: bool | None = None
    """Whether each single row is known, or only their number."""
    note: str | None = None
    beyond: tuple[str, ...] = ()
    """Files that rows cannot come from, although the ledger says so."""

    @property
    def missing(self) -> int | None:
        """Rows in none of the three; negative if there are more than were read."""
        counts = [item for item in (self.processed, self.filtered, self.errored) if item is not None]
        return None if self.read is None or not counts else self.read - sum(counts)

    @classmethod
    def of(cls, source: str, facet: Mapping[str, object]) -> LedgerAccount:
        balanced, exact, beyond = facet.get("balanced"), facet.get("exact"), facet.get("beyond")
        return cls(
            source,
            read=number(facet.get("inputRecordCount")),
            processed=number(facet.get("processedCount")),
            filtered=number(facet.get("filteredCount")),
            errored=number(facet.get("erroredCount")),
            balanced=balanced if isinstance(balanced, bool) else None,
            exact=exact if isinstance(exact, bool) else None,
            note=text(facet.get("note")),
            beyond=tuple(map(words, beyond)) if isinstance(beyond, list) else (),
        )


def accounts(ledger: Mapping[str, object]) -> list[LedgerAccount]:
    """Source by source where the ledger tells them apart, as a list or by name; else all of them as one.

    A run with several outputs has a ledger for each: a row may be in one and not in another.
    """
    result = [
        replace(account, source=f"{account.source} → {words(item.get('output'))}")
        for item in mappings(ledger.get("outputs"))
        for account in accounts(item)
    ]
    sources = ledger.get("sources")
    named = sources.items() if isinstance(sources, Mapping) else ((_name(one), one) for one in mappings(sources))
    result += [
        LedgerAccount.of(name, one) for name, one in named if isinstance(one, Mapping) and "inputRecordCount" in one
    ]
    if not result and "inputRecordCount" in ledger:
        result = [LedgerAccount.of("all sources", ledger)]
    return result


def _name(facet: Mapping[str, object]) -> str:
    for key in ("dataset", "source", "name"):
        if key in facet:
            named = facet[key]
            if isinstance(named, Mapping):
                return "/".join(str(named[part]) for part in ("namespace", "name") if part in named)
            return str(named)
    return "a source without a name"
