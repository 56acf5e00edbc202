"""The grain of an answer: how precisely it names source rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

Grain = Literal["exact", "group", "partition", "all", "opaque"]

GRAINS: tuple[Grain, ...] = get_args(Grain)
"""`exact`: these rows and no others. `group`: the rows that share a group or a window with them. `partition`: the rows
that code received together. `all`: any row of the source. `opaque`: not known."""


def coarsest(grains: Iterable[Grain]) -> Grain:
    return max(grains, key=GRAINS.index, default="exact")
