"""How often rows of a source are there where they are used, as it was counted (ledger.py)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Repeats:
    """So many rows, of so many different ones."""

    rows: int
    distinct: int
    look: Callable[[], Sequence[str]] = field(default=tuple, compare=False, repr=False)
    """Finds some that were there more than once. That is a pass over all rows: only for what is told of them."""

    def sample(self) -> list[str]:
        return list(self.look())

    @property
    def several(self) -> bool:
        return self.rows > self.distinct


def least_repeated(of_leaf: Mapping[int, Repeats], leaves: Collection[int]) -> Repeats | None:
    """Of leaves whose rows stand side by side. One whose rows are there once each is enough to know that the rows they
    make are, too; that they are not is known only where all were counted."""
    known = [of_leaf[leaf] for leaf in leaves if leaf in of_leaf]
    once = next((each for each in known if not each.several), None)
    if once is not None:
        return once
    return min(known, key=lambda each: each.rows - each.distinct) if known and len(known) == len(leaves) else None
