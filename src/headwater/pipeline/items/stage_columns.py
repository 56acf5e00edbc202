"""The columns of item rows that belong to one stage: a letter for what the column holds, and the number of the stage.

A run writes item rows to its folder, and other versions of Headwater read them: the names stay as they are.

    e0  how often the item was emitted at the stage
    c0  how many items made the row that it became there
    s0  the row as JSON
    g0, h0  the two halves of the id of a row that many items made
    m0  whether the item went into several such rows
    f0, r0, x0  the flags, the retries and the error that a row function left
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headwater.pipeline.items.stages import Stage


@dataclass(frozen=True)
class StageColumn:
    """A kind of column, called with the number of a stage: `emitted(0)` is `e0`."""

    letter: str
    type: str

    def __call__(self, stage: int) -> str:
        return f"{self.letter}{stage}"

    def has_name(self, name: str) -> bool:
        return name[0] == self.letter and name[1:].isdigit()


emitted = StageColumn("e", "int")
contributors = StageColumn("c", "bigint")
data = StageColumn("s", "string")
row_hi = StageColumn("g", "bigint")
row_lo = StageColumn("h", "bigint")
several_rows = StageColumn("m", "boolean")
flags = StageColumn("f", "int")
retries = StageColumn("r", "int")
error = StageColumn("x", "string")
_OF_EVERY_STAGE = (emitted, contributors, data, row_hi, row_lo, several_rows)
_OF_FUNCTIONS = (flags, retries, error)


def contributor_count(stage: int) -> str:
    """Joined to item rows when they are read: how many items made the row. The next two are, too."""
    return f"contributor_count_{stage}"


def contributor_names(stage: int) -> str:
    """Some of the items that made the row."""
    return f"contributor_names_{stage}"


def more_contributors(stage: int) -> str:
    """Whether there are more of them."""
    return f"more_contributors_{stage}"


def types(stages: Sequence[Stage]) -> dict[str, str]:
    """All columns that rows of these stages may have, with their types."""
    counted = [stage for stage in stages if stage.same_as is None]
    return {
        column(stage.number): column.type
        for own, chosen in (
            (_OF_EVERY_STAGE, counted),
            (_OF_FUNCTIONS, [stage for stage in counted if stage.is_row_function]),
        )
        for stage in chosen
        for column in own
    }


def is_emitted(name: str) -> bool:
    return emitted.has_name(name)


def is_flags(name: str) -> bool:
    return flags.has_name(name)


def is_error(name: str) -> bool:
    return error.has_name(name)


def is_large(name: str) -> bool:
    """Whether a column takes room that a dropped record does not need."""
    return data.has_name(name) or row_hi.has_name(name)
