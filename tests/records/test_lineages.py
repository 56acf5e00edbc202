"""The kernel against the oracle: trees, joins, orphans, cycles, conflicts, any possible records."""

from __future__ import annotations

import random
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.records.tracing import walks
from headwater.records.tracing.kernel import TRACE_SCHEMA, FinalStep, trace_batches, trace_table
from tests.records.oracle import LoadedRecord, expected, record, table

FINISH = FinalStep(datetime(2026, 11, 17, 1, tzinfo=UTC), "/archive")


def traced(loaded: Iterable[LoadedRecord]) -> dict[tuple[str, str], dict[str, Any]]:
    answer = trace_table(table(loaded), finished=FINISH)
    assert answer.schema == TRACE_SCHEMA
    rows = answer.to_pylist()
    found = {(row["root_id"], row["record_id"]): row for row in rows}
    assert len(found) == len(rows)
    return found


def check_archive(loaded: list[LoadedRecord]) -> None:
    found, wanted = traced(loaded), expected(loaded)
    assert found.keys() == wanted.keys()
    for leaf, row in found.items():
        *steps, last = row["lineage"]
        assert [step["node_id"] for step in steps] == wanted[leaf]["lineage"], leaf
        assert (row["orphans"], row["cycle"]) == (wanted[leaf]["orphans"], wanted[leaf]["cycle"]), leaf
        assert row["conflicts"] == wanted[leaf]["conflicts"], leaf
        assert row["complete"] == (not row["orphans"] and not row["cycle"])
        assert (last["node_id"], last["action_taken"], last["parent_ids"]) == ("FINISHED", "DATA_COMPACTION", [leaf[1]])
        assert (last["recorded_at"], last["storage_location"]) == (FINISH.recorded_at, "/archive")
        its_own = next(step for step in steps if step["node_id"] == leaf[1])
        assert row["day"] == its_own["recorded_at"].date()
        said = {one.record.node_id: [] for one in loaded if one.record.root_id == leaf[0]}  # type: ignore[var-annotated]
        for one in sorted(loaded, key=lambda one: (one.load, one.record.digest)):
            if one.record.root_id == leaf[0]:
                said[one.record.node_id].append(one.record)
        for step in steps:
            held = said[step["node_id"]][0]
            assert step["parent_ids"] == list(held.parent_ids)
            assert (step["parent_id"], step["action_taken"]) == (held.parent_ids[0], held.action_taken)
            assert (step["storage_location"], step["recorded_at"]) == (held.storage_location, held.recorded_at)


NAMES = [*"abcdefgh", "é", "FINISHED", "root"]


@st.composite
def ledgers(draw: st.DrawFn) -> list[LoadedRecord]:
    """A few small roots in which any node may be a parent of any other; some nodes have several records."""
    rows = []
    for root in draw(st.lists(st.sampled_from(["r", "s", "root", "a"]), min_size=1, max_size=3, unique=True)):
        for _ in range(draw(st.integers(1, 10))):
            parents = draw(st.lists(st.sampled_from([*NAMES, root, root]), min_size=1, max_size=3, unique=True))
            action = draw(st.sampled_from(["STEP", "STEP", "STEP", "OTHER"]))
            at, load = draw(st.integers(-1, 2)) * 43_200, draw(st.integers(1, 3))
            rows.append(record(draw(st.sampled_from(NAMES)), *parents, root=root, action=action, at=at, load=load))
    return rows


def check_any_graph(examples: int) -> None:
    settings(max_examples=examples, deadline=None)(given(ledgers())(check_archive))()


@pytest.mark.parametrize("examples", [60, pytest.param(200, marks=pytest.mark.long)])
def test_any_graph(examples: int) -> None:
    check_any_graph(examples)


@pytest.mark.parametrize("examples", [25, pytest.param(80, marks=pytest.mark.long)])
def test_any_graph_directly_and_in_parts(monkeypatch: pytest.MonkeyPatch, examples: int) -> None:
    monkeypatch.setattr(walks, "_DEEP_LEVELS", -1)
    monkeypatch.setattr(walks, "_NARROW_FACTOR", 10**9)
    monkeypatch.setattr(walks, "_MAX_PAIRS", 3)
    check_any_graph(examples)


def chain(length: int, root: str = "r") -> list[LoadedRecord]:
    names = [root, *(f"{root}-{number}" for number in range(length))]
    return [record(child, parent, root=root, at=place) for place, (parent, child) in enumerate(pairwise(names))]


def ladder(length: int, root: str = "l") -> list[LoadedRecord]:
    """Every node is made of the two before: the number of paths is a Fibonacci number."""
    names = [root, *(f"{root}-{number}" for number in range(length))]
    return [record(names[1], root, root=root)] + [
        record(names[place], names[place - 1], names[place - 2], root=root) for place in range(2, length + 1)
    ]


@pytest.mark.parametrize("make", [chain, ladder])
def test_deep_roots(make: Any) -> None:
    loaded = make(5_000)
    (row,) = traced(loaded).values()
    assert [step["node_id"] for step in row["lineage"][:-1]] == [one.record.node_id for one in loaded]


def grown(seed: int, count: int, most_parents: int, root: str) -> list[LoadedRecord]:
    rng = random.Random(seed)
    names = [root, *(f"{root}{number}" for number in range(count))]
    rows = []
    for place, name in enumerate(names[1:], start=1):
        near = names[max(0, place - 40) : place]
        parents = rng.sample(near, k=min(len(near), rng.randint(1, most_parents)))
        rows.append(record(name, *parents, root=root, at=rng.randint(0, 5) * 20_000))
    return rows


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2))])
def test_wide_and_deep_roots_together(seed: int) -> None:
    """Small and medium roots, trees and joins, in one table: wide enough that every step is one of numpy."""
    rows = [one for number in range(60) for one in grown(seed + number, 12, 1 + number % 3, f"s{number}-")]
    check_archive([*rows, *grown(seed, 90, 1, "tree"), *grown(seed, 60, 2, "dag"), *chain(80, "c")])


@pytest.mark.parametrize("count", [3_000, pytest.param(10_000, marks=pytest.mark.long)])
def test_every_leaf_of_a_bush(count: int) -> None:
    rows = [record(f"n{number}", f"n{(number - 1) // 3}" if number else "r", at=number) for number in range(count)]
    found = traced(rows)
    assert len(found) == sum(3 * number + 1 >= count for number in range(count))
    for (_, leaf), row in found.items():
        path = [int(leaf[1:])]
        while path[-1]:
            path.append((path[-1] - 1) // 3)
        assert [step["node_id"] for step in row["lineage"][:-1]] == [f"n{number}" for number in reversed(path)]


def test_the_first_loaded_content_counts_and_a_repetition_is_no_conflict() -> None:
    first, second = record("a", action="ONE", load=1), record("a", action="TWO", load=2)
    check_archive([first, second, record("b", "a")])
    (row,) = traced([second, record("b", "a"), first]).values()
    assert row["lineage"][0]["action_taken"] == "ONE"
    assert row["conflicts"] == ["a"]
    (row,) = traced([first, record("a", action="ONE", load=3, at=9), record("b", "a")]).values()
    assert row["conflicts"] == []


def test_a_cycle_without_exit_has_a_leaf() -> None:
    rows = [record("a", "c", at=1), record("b", "a", at=9), record("c", "b", at=9), record("d", "d", at=3)]
    found = traced(rows)
    assert found.keys() == {("r", "c"), ("r", "d")}
    assert found["r", "c"]["cycle"] == ["a", "b", "c"]
    assert found["r", "d"]["cycle"] == ["d"]


def test_the_root_may_be_a_record() -> None:
    (row,) = traced([record("r", "r"), record("a", "r")]).values()
    assert [step["node_id"] for step in row["lineage"]] == ["r", "a", "FINISHED"]
    assert row["complete"]
    (row,) = traced([record("r", "a"), record("a", "r")]).values()
    assert row["cycle"] == ["a", "r"]


def test_no_records() -> None:
    assert trace_table(table([]), finished=FINISH).num_rows == 0


def test_chunks_make_no_difference() -> None:
    whole = table(grown(1, 50, 2, "x"))
    parts = pa.concat_tables([whole.slice(0, 7), whole.slice(7, 20), whole.slice(27)])
    assert trace_table(parts, finished=FINISH).equals(trace_table(whole, finished=FINISH))


def test_parts_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walks, "_MAX_PAIRS", 100)
    sizes = [batch.num_rows for batch in trace_batches(table(grown(1, 500, 1, "x")), finished=FINISH)]
    assert len(sizes) > 3
