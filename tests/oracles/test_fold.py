"""A history of events folds into the same state in any order of arrival, and that state is the model's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import func, select

from headwater.store.fold import writes
from headwater.store.fold.edge_limits import read_max_direct_edges
from headwater.store.fold.refold import Refold
from headwater.store.log.verify_graph import verify_graph
from headwater.store.schema.tables import event
from headwater.store.store import Store
from tests.oracles import model as oracle
from tests.oracles.answers import check_catalog, check_runs
from tests.oracles.dump import State, differences, state_of_model, state_of_store, without_endings
from tests.oracles.events import (
    ALIASES,
    CLAIMS,
    COLLISIONS,
    HUB_REWRITES,
    HUBS,
    LIVES,
    MOVING_HUBS,
    ODD,
    REWRITES,
    WORDS,
    World,
    histories,
    show,
)
from tests.oracles.model import Model
from tests.oracles.profiles import LONG, QUICK
from tests.oracles.scratch_stores import ScratchStore

Json = dict[str, Any]
FEW_ROWS = 5


@dataclass(frozen=True)
class Case:
    """Events, and the orders in which they arrive."""

    events: list[Json]
    shuffled: list[int]
    repeated: list[int]
    cuts: frozenset[int]

    def arrivals(self) -> Iterator[tuple[str, list[int], frozenset[int]]]:
        """A title, the events by number, and the numbers after which a batch ends."""
        given_order = list(range(len(self.events)))
        everywhere = frozenset(range(len(self.events) + len(self.repeated)))
        repeatedly = [*self.shuffled, *self.repeated]
        yield "one by one, as given", given_order, everywhere
        yield "one by one, in another order", self.shuffled, everywhere
        yield "all in one batch", given_order, frozenset()
        yield "in batches, in another order, some of them twice", repeatedly, self.cuts

    def __repr__(self) -> str:
        return f"\n{show(self.events)}\n  order {self.shuffled}, again {self.repeated}, cuts {sorted(self.cuts)}"

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        printer.text(repr(self))


@st.composite
def cases(draw: st.DrawFn, world: World, most: int) -> Case:
    events = draw(histories(world, most))
    numbers = range(len(events))
    shuffled = draw(st.permutations(numbers))
    repeated = draw(st.lists(st.sampled_from(numbers), max_size=3))
    cuts = draw(st.frozensets(st.integers(0, len(events) + 2), max_size=4))
    return Case(events, list(shuffled), repeated, cuts)


def ingest_batches(store: Store, events: list[Json], order: list[int], cuts: frozenset[int]) -> Iterator[list[int]]:
    """Ingests; after each batch, yields the numbers of the events that are stored."""
    batch: list[Json] = []
    for position, number in enumerate(order):
        batch.append(events[number])
        if position in cuts or position == len(order) - 1:
            store.ingest_many(batch)
            batch = []
            yield order[: position + 1]


def check(lab: ScratchStore, case: Case) -> None:
    """After every batch the state equals the model of the stored events; at the end it is the same for every
    arrival."""
    known: dict[frozenset[int], tuple[Model, State]] = {}
    ends = []
    for title, order, cuts in case.arrivals():
        store = lab.fresh()
        for numbers in ingest_batches(store, case.events, order, cuts):
            key = frozenset(numbers)
            if key not in known:
                model = Model((case.events[number] for number in key), lab.most_edges)
                known[key] = model, state_of_model(model)
            model, expected = known[key]
            state = state_of_store(store)
            wrong = differences(expected, without_endings(state, expected))
            assert not wrong, f"{title}: after events {numbers} the state is not the model's:\n{wrong}"
        ends.append((title, state))
        if len(ends) == 1:
            check_catalog(store, model)
            check_runs(store, model)
        unlike = differences(ends[0][1], ends[-1][1])
        assert not unlike, f"the state after {title} is not that after {ends[0][0]}:\n{unlike}"
    graph_verifies(store)


def graph_verifies(store: Store) -> None:
    """As in `headwater verify`: the stored graph equals a fold of all events."""
    with store._database.read() as conn:
        count = conn.execute(select(func.count()).select_from(event)).scalar_one()
        refold = Refold(store._database, count, read_max_direct_edges(conn))
        verify_graph(conn, refold, None)
        refold.close()


# -- in memory --------------------------------------------------------------------------------------------------------


@QUICK(14)
@given(case=cases(COLLISIONS, 10))
def test_random_histories(memory_lab: ScratchStore, case: Case) -> None:
    check(memory_lab, case)


@QUICK(12)
@given(case=cases(ALIASES, 9))
def test_moving_names(memory_lab: ScratchStore, case: Case) -> None:
    check(memory_lab, case)


@QUICK(12)
@given(case=cases(LIVES, 8))
def test_run_states(memory_lab: ScratchStore, case: Case) -> None:
    check(memory_lab, case)


@QUICK(14)
@given(case=cases(REWRITES, 9))
def test_rewrites(memory_lab: ScratchStore, case: Case) -> None:
    check(memory_lab, case)


@QUICK(14)
@given(case=cases(CLAIMS, 6))
def test_contested_names(memory_lab: ScratchStore, case: Case) -> None:
    check(memory_lab, case)


@QUICK(14)
@given(case=cases(WORDS, 7))
def test_datasets_with_two_names(memory_lab: ScratchStore, case: Case) -> None:
    check(memory_lab, case)


@QUICK(10)
@given(case=cases(ODD, 8))
def test_odd_names_and_times(memory_lab: ScratchStore, case: Case) -> None:
    check(memory_lab, case)


@QUICK(12)
@given(case=cases(HUBS, 9))
def test_hubs(hub_lab: ScratchStore, case: Case) -> None:
    check(hub_lab, case)


@QUICK(12)
@given(case=cases(MOVING_HUBS, 7))
def test_hubs_of_moving_names(hub_lab: ScratchStore, case: Case) -> None:
    check(hub_lab, case)


@QUICK(12)
@given(case=cases(HUB_REWRITES, 9))
def test_rewrites_through_hubs(hub_lab: ScratchStore, case: Case) -> None:
    check(hub_lab, case)


@pytest.mark.parametrize("world", [COLLISIONS, ALIASES, REWRITES, HUBS], ids=["one", "aliases", "rewrites", "hubs"])
def test_partitions_beyond_the_limit(hub_lab: ScratchStore, monkeypatch: pytest.MonkeyPatch, world: World) -> None:
    """With so low a limit that two partitions and two upstreams exceed it."""
    monkeypatch.setattr(writes, "MAX_PARTITION_ROWS", FEW_ROWS)
    monkeypatch.setattr(oracle, "MOST_ROWS", FEW_ROWS)

    @QUICK(8)
    @given(case=cases(replace(world, parted=8, most_datasets=2), 8))
    def every_arrival(case: Case) -> None:
        check(hub_lab, case)

    every_arrival()


# -- on disk and on PostgreSQL ----------------------------------------------------------------------------------------


@QUICK(5)
@given(case=cases(COLLISIONS, 9))
def test_random_histories_on_disk(file_lab: ScratchStore, case: Case) -> None:
    check(file_lab, case)


@QUICK(6)
@given(case=cases(COLLISIONS, 9))
def test_random_histories_on_postgresql(postgres_lab: ScratchStore, case: Case) -> None:
    check(postgres_lab, case)


@QUICK(4)
@given(case=cases(ALIASES, 9))
def test_moving_names_on_postgresql(postgres_lab: ScratchStore, case: Case) -> None:
    check(postgres_lab, case)


@QUICK(3)
@given(case=cases(ODD, 8))
def test_odd_names_and_times_on_postgresql(postgres_lab: ScratchStore, case: Case) -> None:
    check(postgres_lab, case)


@QUICK(3)
@given(case=cases(HUBS, 8))
def test_hubs_on_postgresql(postgres_hub_lab: ScratchStore, case: Case) -> None:
    check(postgres_hub_lab, case)


# -- long -------------------------------------------------------------------------------------------------------------


@pytest.mark.long
@LONG(1200)
@given(case=cases(COLLISIONS, 16))
def test_many_longer_histories(memory_lab: ScratchStore, case: Case) -> None:
    check(memory_lab, case)


@pytest.mark.long
@LONG(800)
@given(case=cases(ALIASES, 14))
def test_many_longer_histories_of_moving_names(memory_lab: ScratchStore, case: Case) -> None:
    check(memory_lab, case)


@pytest.mark.long
@LONG(300)
@given(case=cases(ODD, 12))
def test_many_longer_histories_of_odd_names_and_times(memory_lab: ScratchStore, case: Case) -> None:
    check(memory_lab, case)


@pytest.mark.long
@LONG(600)
@given(case=cases(LIVES, 12))
def test_many_longer_histories_of_runs(memory_lab: ScratchStore, case: Case) -> None:
    check(memory_lab, case)


@pytest.mark.long
@LONG(800)
@given(case=cases(REWRITES, 14))
def test_many_longer_histories_of_rewrites(memory_lab: ScratchStore, case: Case) -> None:
    check(memory_lab, case)


@pytest.mark.long
@LONG(800)
@given(case=cases(CLAIMS, 9))
def test_many_longer_histories_of_contested_names(memory_lab: ScratchStore, case: Case) -> None:
    check(memory_lab, case)


@pytest.mark.long
@LONG(800)
@given(case=cases(WORDS, 9))
def test_many_longer_histories_of_datasets_with_two_names(memory_lab: ScratchStore, case: Case) -> None:
    check(memory_lab, case)


@pytest.mark.long
@LONG(60)
@given(case=cases(ALIASES, 12))
def test_many_histories_on_disk(file_lab: ScratchStore, case: Case) -> None:
    check(file_lab, case)


@pytest.mark.long
@LONG(60)
@given(case=cases(COLLISIONS, 12))
def test_many_histories_on_postgresql(postgres_lab: ScratchStore, case: Case) -> None:
    check(postgres_lab, case)


@pytest.mark.long
@LONG(60)
@given(case=cases(ALIASES, 12))
def test_many_histories_of_moving_names_on_postgresql(postgres_lab: ScratchStore, case: Case) -> None:
    check(postgres_lab, case)


@pytest.mark.long
@LONG(800)
@given(case=cases(HUBS, 12))
def test_many_longer_histories_with_hubs(hub_lab: ScratchStore, case: Case) -> None:
    check(hub_lab, case)


@pytest.mark.long
@LONG(800)
@given(case=cases(MOVING_HUBS, 10))
def test_many_longer_histories_with_hubs_of_moving_names(hub_lab: ScratchStore, case: Case) -> None:
    check(hub_lab, case)
