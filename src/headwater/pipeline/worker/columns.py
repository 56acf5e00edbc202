"""Converts the results of a function to Arrow columns of its declared schema.

A result is a dict or a Row, by names, or a tuple, by position. A whole batch is converted at once. Only if that fails
are the mismatches searched, because an error in one row must not affect the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from operator import index, itemgetter
from typing import TYPE_CHECKING

from headwater.pipeline.worker.rows import Value, arrow_zone, zone_of

if TYPE_CHECKING:
    from datetime import tzinfo

    import pyarrow as pa

    ArrayBuilder = Callable[[Sequence[Value]], pa.Array]

_INTEGER_TYPES = {int, type(None)}


class SchemaMismatch(Exception):
    """A result that does not match the declared schema."""


class ResultLayout:
    def __init__(self, schema: pa.Schema) -> None:
        self.names = tuple(schema.names)
        self._shape = RowShape(self.names)
        self._builders = [_column_builder(field) for field in schema]

    def arrays(self, results: Sequence[Value]) -> list[pa.Array]:
        """One array for each column. Raises the error of the first value that does not match."""
        columns = self._shape.columns(results)
        return [build(values) for build, values in zip(self._builders, columns, strict=True)]

    def mismatches(self, results: Sequence[Value]) -> dict[int, str]:
        """The positions of the results that do not match the schema, with the reasons."""
        reasons: dict[int, str] = {}
        rows: list[tuple[int, tuple[Value, ...]]] = []
        for position, result in enumerate(results):
            try:
                rows.append((position, self._shape.values(result)))
            except SchemaMismatch as mismatch:
                reasons[position] = str(mismatch)
        for number, (name, build) in enumerate(zip(self.names, self._builders, strict=True)):
            for position, error in _mismatches_in(build, [(position, values[number]) for position, values in rows]):
                reasons.setdefault(position, f"column '{name}': {error}")
        return reasons


def _mismatches_in(build: ArrayBuilder, values: list[tuple[int, Value]]) -> Iterable[tuple[int, str]]:
    """Bisects the values, because usually few of them are wrong."""
    if not values:
        return
    try:
        build([value for _, value in values])
    except Exception as error:  # any error belongs to a value
        if len(values) == 1:
            yield values[0][0], str(error)
            return
        half = len(values) // 2
        yield from _mismatches_in(build, values[:half])
        yield from _mismatches_in(build, values[half:])


class RowShape:
    """The names of a row, and the accepted forms of its values."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)
        self._count = len(self._names)
        self._getters = [itemgetter(name) for name in self._names]

    def columns(self, results: Sequence[Value]) -> list[Sequence[Value]]:
        if not results:
            return [()] * self._count
        kinds = set(map(type, results))
        if len(kinds) == 1 and hasattr(kind := kinds.pop(), "__len__") and set(map(len, results)) == {self._count}:
            if kind is dict:
                with suppress(KeyError):  # values() reports which
                    return [list(map(get, results)) for get in self._getters]
            elif kind is tuple:
                return self._transpose(results)
            elif self._has_declared_order(kind, results):
                return self._transpose(list(map(tuple, results)))
        return self._transpose(list(map(self.values, results)))

    def _transpose(self, rows: Sequence[tuple[Value, ...]]) -> list[Sequence[Value]]:
        """One pass for each column is faster than zip(*rows) with its thousands of iterators."""
        return [list(map(itemgetter(position), rows)) for position in range(self._count)]

    def _has_declared_order(self, kind: type, results: Sequence[object]) -> bool:
        if "__fields__" in vars(kind):  # the rows that the function was called with
            return tuple(vars(kind)["__fields__"]) == self._names
        return hasattr(kind, "asDict") and all(tuple(getattr(row, "__fields__", ())) == self._names for row in results)

    def values(self, result: object) -> tuple[Value, ...]:
        if isinstance(result, dict):
            if result.keys() != set(self._names):
                raise SchemaMismatch(self._difference(result.keys()))
            return tuple([result[name] for name in self._names])
        if not isinstance(result, tuple):
            raise SchemaMismatch(f"{type(result).__name__} is not a row: return a dict, a Row or a tuple")
        fields = getattr(result, "__fields__", None) or getattr(result, "_fields", None)  # of a Row, of a named tuple
        if fields is not None and tuple(fields) != self._names:
            if len(fields) != len(result) or sorted(fields) != sorted(self._names):
                raise SchemaMismatch(self._difference(fields))
            by_name = dict(zip(fields, tuple(result), strict=True))
            return tuple([by_name[name] for name in self._names])
        if len(result) != self._count:
            raise SchemaMismatch(f"{len(result)} values for {self._count} columns ({', '.join(self._names)})")
        return tuple(result)

    def _difference(self, fields: Iterable[object]) -> str:
        names = list(map(str, fields))
        missing = [name for name in self._names if name not in names]
        extra = [name for name in names if name not in self._names]
        differences = [f"without {', '.join(missing)}"] if missing else []
        differences += [f"with {', '.join(extra)}, which the schema does not have"] if extra else []
        return f"a row {' and '.join(differences) or 'that names a column twice'}"


def _column_builder(field: pa.Field) -> ArrayBuilder:
    make = _array_builder(field.type)
    if field.nullable:
        return make

    def without_nulls(values: Sequence[Value]) -> pa.Array:
        array = make(values)
        if array.null_count:
            raise SchemaMismatch("null, but declared as not null")
        return array

    return without_nulls


def _array_builder(kind: pa.DataType) -> ArrayBuilder:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_integer(kind):

        def integers(values: Sequence[Value]) -> pa.Array:
            if not set(map(type, values)) <= _INTEGER_TYPES:
                values = list(map(_as_integer, values))  # Arrow itself would silently truncate fractions
            return pa.array(values, kind)

        return integers
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        zone, local = zone_of(kind.tz), pa.timestamp(kind.unit)

        def times(values: Sequence[Value]) -> pa.Array:
            naive = [_as_local_time(value, zone) for value in values]
            zoned = pc.assume_timezone(
                pa.array(naive, local), arrow_zone(kind.tz), ambiguous="earliest", nonexistent="latest"
            )
            return zoned.cast(kind)

        return times
    if pa.types.is_nested(kind):
        write = _value_writer(kind)
        return lambda values: pa.array(list(map(write, values)), kind)
    return lambda values: pa.array(values, kind)


def _as_integer(value: Value) -> int | None:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return (
        value if value is None or isinstance(value, bool) else index(value)
    )  # Arrow refuses a bool with a better message


def _as_local_time(value: object, zone: tzinfo) -> object:
    """A naive time is in the session's time zone, as everywhere in PySpark."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(zone).replace(tzinfo=None)
    return value


def _is_naive(value: object) -> bool:
    return isinstance(value, datetime) and value.tzinfo is None


def _value_writer(kind: pa.DataType) -> Callable[[Value], Value]:
    """Converts nested Python values to values that Arrow accepts unambiguously."""
    import pyarrow as pa

    if pa.types.is_struct(kind):
        shape = RowShape([field.name for field in kind])
        parts = [(field.name, _value_writer(field.type)) for field in kind]

        def struct(value: Value) -> dict[str, Value]:
            return {name: part(item) for (name, part), item in zip(parts, shape.values(value), strict=True)}

        return lambda value: None if value is None else struct(value)
    if pa.types.is_map(kind):
        key, item = _value_writer(kind.key_type), _value_writer(kind.item_type)
        return lambda value: (
            None if value is None else [(key(map_key), item(map_value)) for map_key, map_value in dict(value).items()]
        )
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        write_item = _value_writer(kind.value_type)

        def items(value: Value) -> list[Value]:
            if isinstance(value, str | bytes | dict):
                raise SchemaMismatch(f"{type(value).__name__} is not a list")
            return [write_item(item) for item in value]

        return lambda value: None if value is None else items(value)
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        zone = zone_of(kind.tz)
        return lambda value: value.replace(tzinfo=zone) if _is_naive(value) else value
    if pa.types.is_integer(kind):
        return _as_integer
    return lambda value: value
