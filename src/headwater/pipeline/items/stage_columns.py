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

from headwater.pipeline.items.stages import Stage

_EMITTED, _CONTRIBUTORS, _DATA = "e", "c", "s"
_ROW_HI, _ROW_LO, _SEVERAL_ROWS = "g", "h", "m"
_FLAGS, _RETRIES, _ERROR = "f", "r", "x"
_TYPES = {
    _EMITTED: "int",
    _CONTRIBUTORS: "bigint",
    _DATA: "string",
    _ROW_HI: "bigint",
    _ROW_LO: "bigint",
    _SEVERAL_ROWS: "boolean",
}
_FUNCTION_TYPES = {_FLAGS: "int", _RETRIES: "int", _ERROR: "string"}


def emitted(stage: int) -> str:
    return f"{_EMITTED}{stage}"


def contributors(stage: int) -> str:
    return f"{_CONTRIBUTORS}{stage}"


def data(stage: int) -> str:
    return f"{_DATA}{stage}"


def row_hi(stage: int) -> str:
    return f"{_ROW_HI}{stage}"


def row_lo(stage: int) -> str:
    return f"{_ROW_LO}{stage}"


def several_rows(stage: int) -> str:
    return f"{_SEVERAL_ROWS}{stage}"


def flags(stage: int) -> str:
    return f"{_FLAGS}{stage}"


def retries(stage: int) -> str:
    return f"{_RETRIES}{stage}"


def error(stage: int) -> str:
    return f"{_ERROR}{stage}"


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
    columns = {f"{letter}{stage.number}": type for stage in counted for letter, type in _TYPES.items()}
    columns |= {
        f"{letter}{stage.number}": type
        for stage in counted
        if stage.is_row_function
        for letter, type in _FUNCTION_TYPES.items()
    }
    return columns


def is_emitted(name: str) -> bool:
    return _is(name, _EMITTED)


def is_flags(name: str) -> bool:
    return _is(name, _FLAGS)


def is_error(name: str) -> bool:
    return _is(name, _ERROR)


def is_large(name: str) -> bool:
    """Whether a column takes room that a dropped record does not need."""
    return _is(name, _DATA) or _is(name, _ROW_HI)


def _is(name: str, letter: str) -> bool:
    return name[0] == letter and name[1:].isdigit()
