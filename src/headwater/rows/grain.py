"""How finely an answer tells rows apart."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

Grain = Literal["exact", "group", "partition", "all", "opaque"]

GRAINS: tuple[Grain, ...] = get_args(Grain)
"""`exact`: these rows and no others. `group`: the rows that share a group or a window with them. `partition`: those
that code was given together. `all`: any row of the source. `opaque`: nothing can be said."""


def coarsest(grains: Iterable[Grain]) -> Grain:
    return max(grains, key=GRAINS.index, default="exact")
