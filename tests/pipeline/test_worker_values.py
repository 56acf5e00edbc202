"""Conversion of values into and out of a row function."""

from __future__ import annotations

import math
import pickle
from collections import namedtuple
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import Row
from pyspark.sql.types import (
    ArrayType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from headwater.pipeline.declare.function_schemas import arrow_schema
from headwater.pipeline.worker import RowFunction
from headwater.pipeline.worker.columns import ResultLayout, SchemaMismatch
from headwater.pipeline.worker.rows import row_class, values_of
from tests.oracles.profiles import QUICK

TYPES: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.int8(), st.integers(-(2**7), 2**7 - 1)),
    (pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    (pa.float32(), st.floats(width=32, allow_nan=False)),
    (pa.float64(), st.floats(allow_nan=False)),
    (pa.bool_(), st.booleans()),
    (pa.string(), st.text()),
    (pa.binary(), st.binary()),
    (pa.date32(), st.dates()),
    (pa.timestamp("us"), st.datetimes()),
    (pa.decimal128(12, 3), st.decimals(-(10**8), 10**8, places=3)),
    (pa.duration("us"), st.timedeltas(timedelta(-9), timedelta(9))),
    (pa.list_(pa.int64()), st.lists(st.none() | st.integers(-9, 9))),
    (pa.null(), st.none()),
]
typed = st.sampled_from(TYPES).flatmap(lambda each: st.tuples(st.just(each[0]), st.lists(st.none() | each[1])))


@QUICK(200)
@given(typed, st.booleans())
def test_values_equal_those_of_arrow(column: tuple[pa.DataType, list[Any]], sliced: bool) -> None:
    kind, values = column
    array = pa.array(values, kind)
    if sliced:
        array, values = array[1:], values[1:]
    found = values_of(array)
    assert found == array.to_pylist() == values
    assert list(map(type, found)) == list(map(type, array.to_pylist()))


@QUICK(200)
@given(typed)
def test_values_are_preserved(column: tuple[pa.DataType, list[Any]]) -> None:
    kind, values = column
    batch = pa.RecordBatch.from_arrays([pa.array(values, kind)], names=["x"])
    schema = pa.schema([("x", kind)])
    for same in (lambda row: row, tuple, Row.asDict):
        (out,) = RowFunction(same, ["x"], schema, node="n").map_rows([batch])
        assert out.equals(batch)


def test_dates_outside_of_pythons_range_are_refused() -> None:
    with pytest.raises((ValueError, OverflowError)):
        values_of(pa.array([2932897], pa.int32()).cast(pa.date32()))  # the first day of the year 10000


ROW = row_class(["id", "count", "a b", "__x", "_make", "id"])
VALUES = (1, 2, 3, 4, 5, 6)


def test_a_row_is_a_row_of_pyspark_in_every_way() -> None:
    ours: Any = tuple.__new__(ROW, VALUES)
    theirs: Any = Row("id", "count", "a b", "__x", "_make", "id")(*VALUES)
    assert isinstance(ours, Row)
    assert ours == theirs
    assert repr(ours) == repr(theirs)
    assert ours.asDict() == theirs.asDict()
    assert list(ours.__fields__) == list(theirs.__fields__)
    there: list[Any] = ["id", "count", "a b", "__x", "_make", 0, 5, -1, slice(1, 3)]
    for item in there:
        assert ours[item] == theirs[item], item
    not_there: list[Any] = ["none", 6, -7, None, 1.5]
    for item in not_there:
        with pytest.raises(Exception) as mistaken:  # noqa: PT011 - whatever theirs raises
            theirs[item]
        with pytest.raises(type(mistaken.value)):
            ours[item]
    for name in ("id", "_make", "a b"):
        assert getattr(ours, name) == getattr(theirs, name)
    assert ours.count(1) == theirs.count(1)  # a tuple's method, as in every Row
    with pytest.raises(AttributeError):
        _ = ours.none
    assert "id" in ours
    assert 1 not in ours
    again = pickle.loads(pickle.dumps(ours))
    assert type(again) is Row
    assert again == theirs
    assert list(again.__fields__) == list(theirs.__fields__)


UNNAMED: Any = Row
Pair = namedtuple("Pair", ["b", "a"])
AB = pa.schema([("a", pa.int64()), ("b", pa.string())])


@pytest.mark.parametrize(
    "results",
    [
        [{"a": 1, "b": "x"}, {"b": "y", "a": 2}],
        [(1, "x"), (2, "y")],
        [Row(a=1, b="x"), Row(a=2, b="y")],
        [Row(b="x", a=1), Row(a=2, b="y")],
        [UNNAMED(1, "x"), UNNAMED(2, "y")],
        [Row("a", "b")(1, "x"), Row("b", "a")("y", 2)],
        [Pair(b="x", a=1), Pair(b="y", a=2)],
        [{"a": 1, "b": "x"}, (2, "y")],
    ],
    ids=["dicts", "tuples", "rows", "rows in another order", "rows without names", "row classes", "named", "mixed"],
)
def test_forms_of_result_rows(results: list[Any]) -> None:
    assert [array.to_pylist() for array in ResultLayout(AB).arrays(results)] == [[1, 2], ["x", "y"]]


@pytest.mark.parametrize(
    ("result", "told"),
    [
        ({"a": 1}, "a row without b"),
        ({"a": 1, "b": "x", "c": 1}, "a row with c, which the schema does not have"),
        ({"a": 1, "c": 1}, "a row without b and with c, which the schema does not have"),
        ((1,), "1 values for 2 columns (a, b)"),
        ((1, "x", 2), "3 values for 2 columns (a, b)"),
        (Row(a=1, c="x"), "a row without b and with c, which the schema does not have"),
        ([1, "x"], "list is not a row: return a dict, a Row or a tuple"),
        (None, "NoneType is not a row: return a dict, a Row or a tuple"),
        ({"a": "1", "b": "x"}, "column 'a':"),
        ({"a": 1.5, "b": "x"}, "column 'a':"),
        ({"a": True, "b": "x"}, "column 'a':"),
        ({"a": 2**63, "b": "x"}, "column 'a':"),
        ({"a": 1, "b": 2}, "column 'b':"),
        ({"a": 1, "b": "\ud800"}, "column 'b':"),
    ],
)
def test_invalid_values_are_detected_among_valid_ones(result: Any, told: str) -> None:
    good = {"a": 1, "b": "x"}
    layout = ResultLayout(AB)
    for results in ([result], [good] * 5 + [result] + [good] * 4):
        with pytest.raises(Exception):  # noqa: B017, PT011 - of Arrow's or ours
            layout.arrays(results)
        ((place, reason),) = layout.mismatches(results).items()
        assert results[place] is result
        assert reason.startswith(told)


def test_a_whole_number_may_be_a_float() -> None:
    assert ResultLayout(AB).arrays([(2.0, None), (3, None)])[0].to_pylist() == [2, 3]


def test_null_is_refused_in_a_non_nullable_column() -> None:
    layout = ResultLayout(pa.schema([pa.field("a", pa.int64(), nullable=False)]))
    with pytest.raises(SchemaMismatch):
        layout.arrays([(1,), (None,)])
    assert layout.mismatches([(1,), (None,)]) == {1: "column 'a': null, but declared as not null"}


NESTED = StructType(
    [
        StructField(
            "s", StructType([StructField("at", TimestampType()), StructField("n", ArrayType(LongType(), True))])
        ),
        StructField("m", MapType(StringType(), StructType([StructField("x", LongType())]))),
    ]
)


def test_nested_values_are_rows_lists_and_dicts() -> None:
    at = datetime(2026, 7, 1, 12)
    value = (Row(at=at, n=[1, None]), {"k": Row(x=1), "l": None})
    schema = arrow_schema(NESTED, "Europe/Vienna")
    batch = pa.RecordBatch.from_arrays(ResultLayout(schema).arrays([value, (None, None)]), schema=schema)
    assert batch.column(0).to_pylist()[0]["at"].astimezone(UTC) == datetime(2026, 7, 1, 10, tzinfo=UTC)
    seen: list[Row] = []

    def look(row: Row) -> Any:
        seen.append(row)
        return row

    (again,) = RowFunction(look, ["s", "m"], schema, node="n").map_rows([batch])
    assert again.equals(batch)
    assert tuple(seen[0]) == value
    assert isinstance(seen[0].s, Row)
    assert seen[0].s.at == at
    assert seen[0].m["k"].x == 1
    assert tuple(seen[1]) == (None, None)
    as_dicts = ({"n": (1, None), "at": at}, {"k": {"x": 1}, "l": None})
    assert ResultLayout(schema).arrays([as_dicts, (None, None)])[0].equals(batch.column(0))


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (({"at": None}, None), "a row without n"),
        (({"at": None, "n": "ab"}, None), "str is not a list"),
        (({"at": None, "n": [0.5]}, None), ""),
        ((None, {"k": {"y": 1}}), "a row without x and with y, which the schema does not have"),
    ],
)
def test_nested_values_that_do_not_fit(value: Any, told: str) -> None:
    ((place, reason),) = ResultLayout(arrow_schema(NESTED, "UTC")).mismatches([(None, None), value]).items()
    assert place == 1
    assert reason.partition(": ")[2].startswith(told)


ZONES = ["UTC", "Europe/Vienna", "+02:00", "GMT+2", "UTC+02:00", "-05:30"]


@pytest.mark.parametrize("zone", ZONES)
def test_times_are_naive_and_the_sessions(zone: str) -> None:
    """As in a Python UDF; a time with a zone is the same instant."""
    kind = pa.timestamp("us", tz=zone)
    moment = datetime(2026, 7, 1, 12, 30, 0, 5, tzinfo=UTC)
    array = pa.array([moment, None], kind)
    (local, nothing) = values_of(array)
    offsets = {"UTC": 0.0, "-05:30": -5.5}
    assert local == datetime(2026, 7, 1, 12, 30, 0, 5) + timedelta(hours=offsets.get(zone, 2.0))
    assert nothing is None
    layout = ResultLayout(pa.schema([("at", kind)]))
    elsewhere = moment.astimezone(timezone(timedelta(hours=-3)))
    (back,) = layout.arrays([(local,), (None,), (moment,), (elsewhere,)])
    numbers = back.cast(pa.timestamp("us", tz="UTC")).to_pylist()
    assert numbers == [moment, None, moment, moment]
    assert back.type == kind


def test_repeated_and_skipped_hours() -> None:
    layout = ResultLayout(pa.schema([("at", pa.timestamp("us", tz="Europe/Vienna"))]))
    (found,) = layout.arrays([(datetime(2026, 10, 25, 2, 30),), (datetime(2026, 3, 29, 2, 30),)])
    assert found.cast(pa.timestamp("us", tz="UTC")).to_pylist() == [
        datetime(2026, 10, 25, 0, 30, tzinfo=UTC),
        datetime(2026, 3, 29, 1, 0, tzinfo=UTC),
    ]


def test_a_dead_letter_has_the_input_row() -> None:
    columns = {
        "day": pa.array([date(2026, 1, 2)]),
        "at": pa.array([datetime(2026, 1, 2, 3, 4, 5, 6)]),
        "price": pa.array([Decimal("1.50")]),
        "raw": pa.array([b"\x00\xff"]),
        "nan": pa.array([float("nan")]),
        "inf": pa.array([float("-inf")]),
        "s": pa.array([{"x": [1, None]}]),
        "m": pa.array([[(1, "ü")]], pa.map_(pa.int64(), pa.string())),
        "none": pa.array([None], pa.string()),
    }
    batch = pa.RecordBatch.from_pydict(columns)
    function = RowFunction(lambda row: 1 / 0, list(columns), AB, on_error="dead_letter", node="n")
    (given,) = (told.column("__hw_given") for told in function.map_rows_with_outcomes([batch]))
    assert [(field.name, field.type) for field in given.type] == [(name, each.type) for name, each in columns.items()]
    assert math.isnan(given.flatten()[4][0].as_py())
    assert given.flatten()[:4] + given.flatten()[5:] == [each for name, each in columns.items() if name != "nan"]


def test_only_failed_rows_of_a_batch_are_stored() -> None:
    batch = pa.RecordBatch.from_pydict(
        {"x": [1, 0, 2], "m": pa.array([[(1, "a")]] * 3, pa.map_(pa.int64(), pa.string()))}
    )
    function = RowFunction(lambda row: (1 // row.x, "b"), ["x", "m"], AB, on_error="dead_letter", node="n")
    (given,) = (told.column("__hw_given") for told in function.map_rows_with_outcomes([batch]))
    assert given.to_pylist() == [None, {"x": 0, "m": [(1, "a")]}, None]
