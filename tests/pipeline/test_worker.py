"""The worker's treatment of a function's outcomes, compared with a small model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import Row

from headwater.model.items import Outcome
from headwater.pipeline.worker import OUTCOME_COLUMNS, RowFailed, RowFunction
from tests.oracles.profiles import QUICK

SCHEMA = pa.schema([("id", pa.int64()), ("twice", pa.int64())])
COLUMNS = ("id", "amount")
FAILED = {
    "fail": Outcome.ERROR,
    "skip": Outcome.FILTERED_OUT,
    "dead_letter": Outcome.DEAD_LETTERED | Outcome.ERROR,
}


@dataclass(frozen=True)
class Item:
    """What the function does with an item: raise this often, then return this many rows, or an invalid result."""

    raises: int = 0
    gives: int = 1
    misfit: str | None = None


SHAPES: dict[str, Any] = {
    "no row": 7,
    "a text": "row",
    "a name too many": {"id": 1, "twice": 2, "thrice": 3},
    "another name": {"id": 1, "double": 2},
    "a value too few": (1,),
    "a fraction": {"id": 1, "twice": 0.5},
    "text for a number": {"id": 1, "twice": "2"},
    "too large": {"id": 1, "twice": 2**64},
    "a Row by other names": Row(id=1, double=2),
}


class ScriptedFunction:
    """A function that does what the items say, and counts its calls for each."""

    def __init__(self, items: list[Item], many: bool) -> None:
        self.items = items
        self.many = many
        self.calls: Counter[int] = Counter()

    def __call__(self, row: Row) -> Any:
        item = self.items[row.id]
        self.calls[row.id] += 1
        if self.calls[row.id] <= item.raises:
            raise LookupError(f"no price for {row.id}")
        if item.misfit is not None:
            return [SHAPES[item.misfit]] if self.many else SHAPES[item.misfit]
        if self.many:
            return self.rows(row, item.gives)
        return {"id": row["id"], "twice": 2 * row.amount} if item.gives else None

    def rows(self, row: Row, count: int) -> Iterator[Any]:
        for _ in range(count):
            yield Row(twice=2 * row.amount, id=row.id)


items = st.builds(
    Item,
    raises=st.sampled_from([0, 0, 0, 1, 2, 3]),
    gives=st.sampled_from([1, 1, 0, 2, 3]),
    misfit=st.sampled_from([None, None, None, None, *SHAPES]),
)


def batches(count: int, size: int) -> Iterator[pa.RecordBatch]:
    for start in range(0, count, size):
        ids = list(range(start, min(start + size, count)))
        tags = [f"tag {number}" for number in ids]
        yield pa.RecordBatch.from_pydict({"__hw_tag": tags, "id": ids, "amount": [10 * number for number in ids]})


def plain(given: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return (batch.select(["id", "amount"]) for batch in given)


@dataclass(frozen=True)
class Expected:
    outcome: Outcome
    retries: int = 0
    gives: int = 0
    calls: int = 0
    misfit: bool = False

    @property
    def failed(self) -> bool:
        return self.outcome in (Outcome.ERROR, Outcome.ERROR | Outcome.DEAD_LETTERED) or self.misfit


def model(every: list[Item], retries: int, on_error: str, size: int) -> list[Expected]:
    found: list[Expected] = []
    stopped = False
    for place, item in enumerate(every):
        if place % size == 0:  # what does not fit is found when its batch is converted
            stopped = stopped or (on_error == "fail" and any(each.failed for each in found))
        if stopped:
            found.append(Expected(Outcome(0)))
        elif item.raises > retries:
            found.append(Expected(FAILED[on_error], retries, 0, retries + 1))
            stopped = on_error == "fail"
        elif item.misfit:
            found.append(Expected(FAILED[on_error], item.raises, 0, item.raises + 1, True))
        else:
            flags = Outcome.EMITTED if item.gives else Outcome.FILTERED_OUT
            flags |= Outcome.RETRIED if item.raises else Outcome(0)
            found.append(Expected(flags, item.raises, item.gives, item.raises + 1))
    return found


@QUICK(300)
@given(st.lists(items, max_size=12), st.integers(0, 2), st.sampled_from(list(FAILED)), st.booleans(), st.integers(1, 5))
def test_any_mix_of_outcomes(every: list[Item], retries: int, on_error: str, many: bool, size: int) -> None:
    if not many:
        every = [replace(item, gives=min(item.gives, 1)) for item in every]
    function = ScriptedFunction(every, many)
    followed = RowFunction(function, COLUMNS, SCHEMA, many, retries, 0.0, on_error=on_error, node="priced")
    lines = [line for batch in followed.map_rows_with_outcomes(batches(len(every), size)) for line in batch.to_pylist()]

    expected = model(every, retries, on_error, size)
    assert [function.calls[place] for place in range(len(every))] == [each.calls for each in expected]
    given = iter(lines)
    for place, each in enumerate(expected):
        of_item = list(islice(given, max(1, each.gives)))
        for number, line in enumerate(of_item):
            assert line["__hw_tag"] == f"tag {place}"
            assert Outcome(line["__hw_outcome"]) == each.outcome
            assert line["__hw_retries"] == each.retries
            assert line["__hw_place"] == number
            assert line["__hw_emissions"] == each.gives
            values = (place, 20 * place) if each.gives else (None, None)
            assert (line["id"], line["twice"]) == values
            dead = Outcome.DEAD_LETTERED in each.outcome
            assert line.get("__hw_given") == ({"id": place, "amount": 10 * place} if dead else None)
            raised = f"LookupError: no price for {place}" if every[place].raises > retries else None
            if each.misfit:
                assert line["__hw_error"].startswith("SchemaMismatch: ")
            else:
                assert line["__hw_error"] == (raised if each.calls else None)
    assert next(given, None) is None


@QUICK(300)
@given(
    st.lists(items, max_size=12), st.integers(0, 2), st.sampled_from(["fail", "skip"]), st.booleans(), st.integers(1, 5)
)
def test_without_lineage_the_same_rows_come_out(
    every: list[Item], retries: int, on_error: str, many: bool, size: int
) -> None:
    if not many:
        every = [replace(item, gives=min(item.gives, 1)) for item in every]
    function = ScriptedFunction(every, many)
    by_row = RowFunction(function, COLUMNS, SCHEMA, many, retries, 0.0, on_error=on_error, node="priced")
    expected = model(every, retries, on_error, size)
    failing = next((place for place, each in enumerate(expected) if each.failed and on_error == "fail"), None)
    rows: list[dict[str, int]] = []
    given = by_row.map_rows(plain(batches(len(every), size)))
    if failing is None:
        rows = [row for batch in given for row in batch.to_pylist()]
    else:
        with pytest.raises(RowFailed, match=rf"Node 'priced' failed on Row\(id={failing}, amount={10 * failing}\): "):
            rows.extend(row for batch in given for row in batch.to_pylist())
    complete = len(every) if failing is None else failing - failing % size
    assert rows == [
        {"id": place, "twice": 20 * place} for place, each in enumerate(expected[:complete]) for _ in range(each.gives)
    ]
    assert [function.calls[place] for place in range(len(every))] == [each.calls for each in expected]


def batch(function: Any, **settings: Any) -> list[dict[str, Any]]:
    """The outcome of items 0, 1, 2."""
    followed = RowFunction(function, COLUMNS, SCHEMA, node="n", **settings).map_rows_with_outcomes(batches(3, 3))
    return [line for batch in followed for line in batch.to_pylist()]


def test_the_output_columns() -> None:
    followed = RowFunction(lambda row: None, COLUMNS, SCHEMA, node="n").map_rows_with_outcomes(batches(2, 2))
    schema = next(followed).schema
    types = {"int": pa.int32(), "string": pa.string()}
    added = [pa.field(name, types[type]) for name, type in OUTCOME_COLUMNS]
    assert schema.equals(pa.schema([pa.field("__hw_tag", pa.string()), *added, *SCHEMA]))


def test_a_failed_function_keeps_its_own_error_as_the_cause() -> None:
    def price(row: Row) -> Any:
        raise LookupError("no rate")

    with pytest.raises(RowFailed) as failed:
        list(RowFunction(price, COLUMNS, SCHEMA, retries=1, node="n").map_rows(plain(batches(1, 1))))
    assert isinstance(failed.value.__cause__, LookupError)


def test_dead_letters_of_a_dropped_batch_are_not_lost() -> None:
    with pytest.raises(ValueError, match="dead letters"):
        list(RowFunction(lambda row: None, COLUMNS, SCHEMA, on_error="dead_letter", node="n").map_rows([]))


@pytest.mark.parametrize("backoff", [0.5, lambda retry: 0.5 * 2 ** (retry - 1)], ids=["seconds", "a function"])
def test_retries_wait_longer_each_time(backoff: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr("time.sleep", waited.append)
    function = ScriptedFunction([Item(raises=9), Item(), Item()], many=False)
    batch(function, retries=3, backoff=backoff, on_error="skip")
    assert waited == [0.5, 1.0, 2.0]


def test_a_generator_that_fails_returns_no_rows() -> None:
    def half(row: Row) -> Iterator[tuple[int, int]]:
        yield row.id, 1
        raise LookupError("the other half")

    lines = batch(half, many=True, on_error="skip")
    assert [(line["__hw_emissions"], line["id"], line["__hw_error"]) for line in lines] == [
        (0, None, "LookupError: the other half")
    ] * 3


@pytest.mark.parametrize("given", [{"id": 1, "twice": 2}, "rows", Row(id=1, twice=2), [None], [(1, 2), 3]])
def test_one_row_is_no_iterable_of_rows(given: Any) -> None:
    calls: Counter[int] = Counter()

    def function(row: Row) -> Any:
        calls[row.id] += 1
        return given

    lines = batch(function, many=True, retries=2, on_error="skip")
    assert [line["__hw_emissions"] for line in lines] == [0, 0, 0]
    assert all(line["__hw_error"].startswith("SchemaMismatch: ") for line in lines)
    assert set(calls.values()) == {1}, "what was returned would be returned again"


def test_a_stop_iteration_is_an_error_like_any_other() -> None:
    lines = batch(lambda row: next(iter([])) if row.id == 1 else (row.id, 0), on_error="skip")
    assert [line["__hw_outcome"] for line in lines] == [Outcome.EMITTED, Outcome.FILTERED_OUT, Outcome.EMITTED]


def test_an_interrupt_is_not_an_outcome() -> None:
    def interrupted(row: Row) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        batch(interrupted, on_error="skip")


class ErrorWithoutText(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ErrorWithoutText(), "ErrorWithoutText"),
        (KeyError(), "KeyError"),
        (ValueError("half \ud800"), "ValueError: half \\ud800"),
        (ValueError("x" * 9000), "ValueError: " + "x" * 1987 + "…"),
    ],
)
def test_any_error_can_be_recorded(error: Exception, told: str) -> None:
    def failing(row: Row) -> Any:
        raise error

    assert [line["__hw_error"] for line in batch(failing, on_error="dead_letter")] == [told] * 3


def test_many_rows_of_one_item_are_split() -> None:
    ids = pa.array(range(2500))
    batch = pa.RecordBatch.from_arrays([ids, ids], names=["id", "amount"])
    function = RowFunction(lambda row: [(row.id, 0)] * 2, COLUMNS, SCHEMA, True, node="n")
    pieces = list(function.map_rows([batch]))
    assert [piece.num_rows for piece in pieces] == [2000, 2000, 1000]
    assert [row for piece in pieces for row in piece.column("id").to_pylist()] == sorted([*range(2500), *range(2500)])


def test_no_rows_and_no_columns() -> None:
    function = RowFunction(lambda row: (len(row), 1), (), SCHEMA, node="n")
    nothing = pa.RecordBatch.from_pydict({"__hw_tag": pa.array(["a", "b"])})
    assert next(function.map_rows_with_outcomes([nothing])).column("id").to_pylist() == [0, 0]
    empty = RowFunction(lambda row: (1, 1), COLUMNS, SCHEMA, node="n")
    assert [batch.num_rows for batch in empty.map_rows_with_outcomes([next(batches(1, 1)).slice(0, 0)])] == [0]
    assert [batch.num_rows for batch in empty.map_rows([next(plain(batches(1, 1))).slice(0, 0)])] == [0]
