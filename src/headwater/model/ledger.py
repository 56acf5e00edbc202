"""The account of a run's source rows: each was processed, filtered out or in error, and none is missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class SourceLedger:
    """``exact``: whether it is certain of every single row what became of it, or only of their number."""

    dataset: str
    entered: int
    processed: int
    filtered: int
    errored: int = 0
    exact: bool = True
    note: str | None = None
    beyond: tuple[str, ...] = ()
    """What rows are said to have come from and cannot have: files that have no such rows."""

    @property
    def balanced(self) -> bool:
        counts = (self.entered, self.processed, self.filtered, self.errored)
        return self.entered == sum(counts[1:]) and min(counts) >= 0 and not self.beyond

    def document(self) -> dict[str, Any]:
        told = {
            "dataset": self.dataset,
            **_counts(self.entered, self.processed, self.filtered, self.errored),
            "balanced": self.balanced,
            "exact": self.exact,
        }
        told |= {} if self.note is None else {"note": self.note}
        return told | ({"beyond": list(self.beyond)} if self.beyond else {})


@dataclass(frozen=True, slots=True)
class Ledger:
    """``partly``: why this is not the account of all rows; such a ledger does not say whether it is balanced."""

    sources: tuple[SourceLedger, ...]
    not_followed: Mapping[str, str] = field(default_factory=dict)
    """Sources of which nothing is known, each with the reason."""
    partly: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    """What else there is to tell: keys that are missing, and where all of them are."""

    @property
    def exact(self) -> bool:
        return self.partly is None and not self.not_followed and all(each.exact for each in self.sources)

    @property
    def balanced(self) -> bool | None:
        """None where it cannot be said: nothing was followed, or not everything. One source that does not balance is
        enough to say that the whole does not."""
        if self.partly is not None:
            return None
        if not all(each.balanced for each in self.sources):
            return False
        return True if self.sources and not self.not_followed else None

    def document(self) -> dict[str, Any]:
        totals = zip(*((e.entered, e.processed, e.filtered, e.errored) for e in self.sources), strict=True)
        told: dict[str, Any] = _counts(*(sum(each) for each in totals)) if self.sources else {}
        told |= {"exact": self.exact, "sources": [each.document() for each in self.sources]}
        if self.balanced is not None:
            told["balanced"] = self.balanced
        if self.not_followed:
            told["notFollowed"] = [{"dataset": name, "reason": why} for name, why in self.not_followed.items()]
        if self.partly is not None:
            told["partly"] = self.partly
        return told | dict(self.details)


def _counts(entered: int, processed: int, filtered: int, errored: int) -> dict[str, int]:
    return {
        "inputRecordCount": entered,
        "processedCount": processed,
        "filteredCount": filtered,
        "erroredCount": errored,
    }
