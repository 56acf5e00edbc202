"""Arrow columns as the rows that a function is called with: `pyspark.sql.Row`, as everywhere else in PySpark.

Times of day are naive and in the session's time zone, structs are rows and maps are dicts, as in Spark.
"""

from __future__ import annotations

import re
from collections import namedtuple
from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta, timezone, tzinfo
from importlib.util import find_spec
from itertools import repeat
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Row

Value = Any
"""A value of a row, of any type: Arrow and the user's function decide which."""

_OFFSET = re.compile(r"(?:GMT|UTC|UT)?([+-])(\d{1,2})(?::?(\d{2}))?")
_EPOCH = date(1970, 1, 1)
_DAYS = ((date.min - _EPOCH).days, (date.max - _EPOCH).days)
_MICROSECONDS = (_DAYS[0] * 86_400_000_000, (_DAYS[1] + 1) * 86_400_000_000 - 1)


class BatchRows:
    """The rows of a batch, created lazily: all at once they would keep the garbage collector busy."""

    def __init__(self, columns: Sequence[pa.Array], kind: type[Row], count: int) -> None:
        self._values = [values_of(column) for column in columns]
        self._kind = kind
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Row]:
        values = zip(*self._values, strict=True) if self._values else repeat((), self._count)
        # Not by calling the class, whose checks and keyword arguments would cost more than many functions.
        return map(tuple.__new__, repeat(self._kind), values)

    def __getitem__(self, position: int) -> Row:
        return tuple.__new__(self._kind, [values[position] for values in self._values])


def row_class(columns: Sequence[str]) -> type[Row]:
    """A Row class for known columns, so that a row holds only its values and finds a column directly."""
    from pyspark.sql import Row

    positions = {name: columns.index(name) for name in columns}  # for two columns of one name, a Row returns the first
    indexes: dict[object, int] = {position: position for position in range(len(columns))}
    indexes.update(positions.items())

    def get_item(
        row: Row,
        item: object,
        indexes: dict[object, int] = indexes,
        get: Callable[[Row, int], Value] = tuple.__getitem__,
    ) -> Value:
        try:
            return get(row, indexes[item])
        except (KeyError, TypeError):  # a slice, a negative position or an error: a Row handles it
            return Row.__getitem__(row, item)

    # A named tuple's fields are the fastest access to any tuple, by position alone.
    fields: type = namedtuple("fields", [f"f{position}" for position in range(len(columns))])  # type: ignore[misc]
    named = {
        name: vars(fields)[f"f{position}"]
        for name, position in positions.items()
        if not hasattr(Row, name) and not name.startswith("__")
    }
    return type("Row", (Row,), {"__fields__": list(columns), "__getitem__": get_item, **named})


def values_of(column: pa.Array) -> list[Value]:
    """Like ``to_pylist``, and much faster for common types."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_nested(kind):
        return list(map(_value_reader(kind), column.to_pylist()))
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        column = pc.local_timestamp(column.cast(pa.timestamp(kind.unit, tz=arrow_zone(kind.tz))))
        kind = column.type
    if find_spec("numpy") is None or not _is_numpy_safe(column):
        values: list[Value] = column.to_pylist()
        return values
    if column.null_count == 0 or pa.types.is_string(kind):
        values = column.to_numpy(zero_copy_only=False).tolist()
        return values
    # With nulls numpy would turn integers into floats: another value replaces them meanwhile.
    present = column.drop_null()
    if not len(present):
        return [None] * len(column)
    values = column.fill_null(present[0]).to_numpy(zero_copy_only=False).tolist()
    for position in pc.indices_nonzero(column.is_null()).to_numpy().tolist():
        values[position] = None
    return values


def _is_numpy_safe(column: pa.Array) -> bool:
    """Whether numpy represents all values of the column."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_date32(kind):
        return _within(column.cast(pa.int32()), _DAYS)
    if pa.types.is_timestamp(kind):
        return kind.unit == "us" and _within(column.cast(pa.int64()), _MICROSECONDS)
    if pa.types.is_floating(kind):
        return not pa.types.is_float16(kind)
    return bool(pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_string(kind))


def _within(numbers: pa.Array, bounds: tuple[int, int]) -> bool:
    """For a time beyond Python's dates, numpy would return the number itself."""
    import pyarrow.compute as pc

    extremes = pc.min_max(numbers).as_py()
    return extremes["min"] is None or (bounds[0] <= extremes["min"] and extremes["max"] <= bounds[1])


def _value_reader(kind: pa.DataType) -> Callable[[Value], Value]:
    """Converts nested values from Arrow's form to Spark's form."""
    import pyarrow as pa

    if pa.types.is_struct(kind):
        row = row_class([field.name for field in kind])
        parts = [_value_reader(field.type) for field in kind]

        def struct(value: Value) -> Row:
            items = zip(parts, value.values(), strict=True)
            return tuple.__new__(row, [part(item) for part, item in items])

        return lambda value: None if value is None else struct(value)
    if pa.types.is_map(kind):
        key, item = _value_reader(kind.key_type), _value_reader(kind.item_type)
        return lambda value: None if value is None else {key(map_key): item(map_value) for map_key, map_value in value}
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        read_item = _value_reader(kind.value_type)
        return lambda value: None if value is None else [read_item(item) for item in value]
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        zone = zone_of(kind.tz)
        return lambda value: None if value is None else value.astimezone(zone).replace(tzinfo=None)
    return lambda value: value


def zone_of(name: str) -> tzinfo:
    """A time zone by a name that Spark accepts: a region or an offset."""
    offset = _OFFSET.fullmatch(name)
    if offset is None:
        return ZoneInfo(name)
    sign, hours, minutes = offset.groups(default="0")
    ahead = timedelta(hours=int(hours), minutes=int(minutes))
    return timezone(-ahead if sign == "-" else ahead)


def arrow_zone(name: str) -> str:
    """The name for Arrow, which accepts an offset only without prefix."""
    offset = _OFFSET.fullmatch(name)
    if offset is None:
        return name
    sign, hours, minutes = offset.groups(default="0")
    return f"{sign}{int(hours):02}:{int(minutes):02}"
