"""Four tables of a few rows: NULLs, duplicates, and domains so small that everything meets everything."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

import pyarrow as pa

INT, TEXT = pa.int32(), pa.string()

# t, u and w have a key; v has none, so that whole rows may be equal.
SCHEMAS: Mapping[str, Mapping[str, pa.DataType]] = {
    "t": {"id": INT, "a": INT, "b": INT, "s": TEXT},
    "u": {"id": INT, "a": INT, "c": INT, "s": TEXT},
    "v": {"a": INT, "b": INT},
    "w": {"id": INT, "a": INT, "xs": pa.list_(INT)},
}
LARGEST = 6


def python_function() -> Callable[[int | None], int]:
    """Made here and not imported from here: Spark sends it to its workers whole, which know nothing of the tests."""

    def twist(number: int | None) -> int:
        """Knows NULL, and gives equal values for different numbers."""
        return -1 if number is None else (number * 7 + 3) % 4

    return twist


twist = python_function()


def small_tables(seed: int) -> dict[str, pa.Table]:
    chance = random.Random(seed)
    return {name: _table(chance, schema) for name, schema in SCHEMAS.items()}


def _table(chance: random.Random, schema: Mapping[str, pa.DataType]) -> pa.Table:
    size = chance.choice([0, 1, 3, 4, 5, LARGEST]) if chance.random() < 0.3 else chance.randint(3, LARGEST)
    rows = range(1, size + 1)
    columns = {
        name: pa.array([number if name == "id" else _value(chance, kind) for number in rows], kind)
        for name, kind in schema.items()
    }
    return pa.table(columns)


def _value(chance: random.Random, kind: pa.DataType) -> object:
    if chance.random() < 0.2:
        return None
    if pa.types.is_list(kind):
        return [chance.choice([None, 0, 1, 1, 2]) for _ in range(chance.randint(0, 3))]
    return chance.choice(["x", "y", ""]) if kind == TEXT else chance.choice([0, 1, 1, 2, 2, 3])
