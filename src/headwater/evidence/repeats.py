"""How often rows of a source occur where they are used, as counted (ledger.py)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Repeats:
    """The number of rows, and of distinct ones."""

    rows: int
    distinct: int
    find_sample: Callable[[], Sequence[str]] = field(default=tuple, compare=False, repr=False)
    """Finds some that occur more than once. That is a pass over all rows: only for rows that are reported."""

    def sample(self) -> list[str]:
        return list(self.find_sample())

    @property
    def has_repeats(self) -> bool:
        return self.rows > self.distinct


def least_repeated(of_leaf: Mapping[int, Repeats], leaves: Collection[int]) -> Repeats | None:
    """The repeats of joined leaves. If the rows of one leaf occur once each, so do the joined rows. That joined rows
    are repeated is only known if all leaves were counted."""
    counts = [of_leaf[leaf] for leaf in leaves if leaf in of_leaf]
    without_repeats = next((repeats for repeats in counts if not repeats.has_repeats), None)
    if without_repeats is not None:
        return without_repeats
    return (
        min(counts, key=lambda repeats: repeats.rows - repeats.distinct)
        if counts and len(counts) == len(leaves)
        else None
    )
