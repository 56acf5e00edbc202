"""Names of the columns that answers add to those of the data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

OUT_ID = "out_id"
FILE, ROW = "_file", "_row"


def quote_name(name: str) -> str:
    """A column name, quoted for Spark."""
    return f"`{name.replace('`', '``')}`"


def free_names(names: Sequence[str], columns: Iterable[str]) -> tuple[str, ...]:
    """The names, all with the same number where one of them is the name of a column, in any case."""
    taken = {column.lower() for column in columns}
    number, free = 1, tuple(names)
    while any(name.lower() in taken for name in free):
        number += 1
        free = tuple(f"{name}_{number}" for name in names)
    return free


def is_added(name: str, base: str) -> bool:
    """Whether `free_names` may have made the name."""
    number = name.removeprefix(base).removeprefix("_")
    return name == base or (name == f"{base}_{number}" and number.isdigit())
