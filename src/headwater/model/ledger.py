"""The ledger of a run's source rows: each was processed, filtered or in error, and none is missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NotRequired, TypedDict

from headwater.model.json_types import JsonObject


class SourceCounts(TypedDict):
    """The counts of one source, or of all sources, in the ledger facet."""

    inputRecordCount: int
    processedCount: int
    filteredCount: int
    erroredCount: int


class SourceAccount(SourceCounts):
    """One source in the ledger facet."""

    dataset: str
    balanced: bool
    exact: bool
    note: NotRequired[str]
    beyond: NotRequired[list[str]]


@dataclass(frozen=True, slots=True)
class SourceLedger:
    """``exact``: the outcome of each single row is known; if not, only the counts are."""

    dataset: str
    entered: int
    processed: int
    filtered: int
    errored: int = 0
    exact: bool = True
    note: str | None = None
    beyond: tuple[str, ...] = ()
    """Files that rows are attributed to although they do not have such rows."""

    @property
    def balanced(self) -> bool:
        counts = (self.entered, self.processed, self.filtered, self.errored)
        return self.entered == sum(counts[1:]) and min(counts) >= 0 and not self.beyond

    def document(self) -> SourceAccount:
        account: SourceAccount = {
            "dataset": self.dataset,
            "inputRecordCount": self.entered,
            "processedCount": self.processed,
            "filteredCount": self.filtered,
            "erroredCount": self.errored,
            "balanced": self.balanced,
            "exact": self.exact,
        }
        if self.note is not None:
            account["note"] = self.note
        if self.beyond:
            account["beyond"] = list(self.beyond)
        return account


@dataclass(frozen=True, slots=True)
class Ledger:
    """``partly``: why this does not account for all rows; such a ledger does not state whether it is balanced."""

    sources: tuple[SourceLedger, ...]
    not_followed: Mapping[str, str] = field(default_factory=dict)
    """Sources of which nothing is known, each with the reason."""
    partly: str | None = None
    details: JsonObject = field(default_factory=dict)
    """Further members of the facet: keys that are missing, and the location of all of them."""

    @property
    def exact(self) -> bool:
        return self.partly is None and not self.not_followed and all(source.exact for source in self.sources)

    @property
    def balanced(self) -> bool | None:
        """None if it is not known: nothing was followed, or not everything. If one source does not balance, neither
        does the whole."""
        if self.partly is not None:
            return None
        if not all(source.balanced for source in self.sources):
            return False
        return True if self.sources and not self.not_followed else None

    def document(self) -> dict[str, object]:
        counts = zip(*((s.entered, s.processed, s.filtered, s.errored) for s in self.sources), strict=True)
        document: dict[str, object] = {**_counts(*map(sum, counts))} if self.sources else {}
        document |= {"exact": self.exact, "sources": [source.document() for source in self.sources]}
        if self.balanced is not None:
            document["balanced"] = self.balanced
        if self.not_followed:
            document["notFollowed"] = [{"dataset": name, "reason": why} for name, why in self.not_followed.items()]
        if self.partly is not None:
            document["partly"] = self.partly
        return document | dict(self.details)


def _counts(entered: int, processed: int, filtered: int, errored: int) -> SourceCounts:
    return {
        "inputRecordCount": entered,
        "processedCount": processed,
        "filteredCount": filtered,
        "erroredCount": errored,
    }
