"""Every query of a random graph has the model's answer: each node, each grain, several depths and times."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import cycle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.answers import DIRECTIONS, Query, check_closure, check_impact, check_unknown, nodes
from tests.oracles.events import GRAPH, HUBS, MOVING_GRAPH, MOVING_HUBS, ODD, World, histories, show
from tests.oracles.graph_walk import UNLIMITED
from tests.oracles.model import Model
from tests.oracles.profiles import LONG, QUICK
from tests.oracles.scratch_stores import ScratchStore

GRAINS = ("dataset", "column", "partition")
DEPTHS = (1, 2, 3, None)


@dataclass(frozen=True)
class Case:
    world: World
    events: list[dict[str, Any]]

    def __repr__(self) -> str:
        return f"\n{show(self.events)}"

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        printer.text(repr(self))


@st.composite
def cases(draw: st.DrawFn, world: World, most: int) -> Case:
    return Case(world, draw(histories(world, most)))


def check(lab: ScratchStore, case: Case, everything: bool = False) -> None:
    """``everything``: each node at each depth and at several times; else two depths now and one in the past."""
    store = lab.fresh()
    store.ingest_many(case.events)
    model = Model(case.events, lab.most_edges)
    times = sorted({said.time for said in model.events})
    middle = times[len(times) // 2]
    past = [times[0] - 1, times[0], middle, middle + 1, times[-1] + 1]
    depth_in_turn, past_in_turn = cycle(DEPTHS[:-1]), cycle(past)
    for node in nodes(model, GRAINS):
        if everything:
            asked = [replace(node, depth=depth) for depth in DEPTHS]
            asked += [replace(node, depth=depth, as_of=as_of) for depth in (2, None) for as_of in past]
        else:
            asked = [node, replace(node, depth=next(depth_in_turn)), replace(node, as_of=next(past_in_turn))]
        for question in asked:
            for direction in DIRECTIONS:
                check_closure(store, model, question, direction)
            if question.partition is None:
                check_impact(store, model, question)
    check_unknown(store, model, ["nowhere", *case.world.columns], ["nowhere", *case.world.partitions])


# -- in memory --------------------------------------------------------------------------------------------------------


@QUICK(3)
@given(case=cases(GRAPH, 14))
def test_random_graphs(memory_lab: ScratchStore, case: Case) -> None:
    check(memory_lab, case)


@QUICK(3)
@given(case=cases(MOVING_GRAPH, 14))
def test_random_graphs_under_every_alias(memory_lab: ScratchStore, case: Case) -> None:
    check(memory_lab, case)


@QUICK(3)
@given(case=cases(ODD, 8))
def test_odd_names(memory_lab: ScratchStore, case: Case) -> None:
    check(memory_lab, case)


@QUICK(5)
@given(case=cases(HUBS, 8))
def test_hubs(hub_lab: ScratchStore, case: Case) -> None:
    check(hub_lab, case)


@QUICK(4)
@given(case=cases(MOVING_HUBS, 8))
def test_hubs_under_every_alias(hub_lab: ScratchStore, case: Case) -> None:
    check(hub_lab, case)


@pytest.mark.parametrize("length", [UNLIMITED, UNLIMITED + 1])
def test_the_cap_is_reported(memory_lab: ScratchStore, length: int) -> None:
    events = [
        {
            "eventTime": "2026-11-15T10:00:00Z",
            "producer": "urn:test",
            "schemaURL": "urn:test",
            "eventType": "COMPLETE",
            "run": {"runId": f"run-{number}"},
            "job": {"namespace": "etl", "name": "chain"},
            "inputs": [{"namespace": "db", "name": f"{number}"}],
            "outputs": [{"namespace": "db", "name": f"{number + 1}"}],
        }
        for number in range(length)
    ]
    store, model = memory_lab.fresh(), Model(events)
    store.ingest_many(events)
    for direction, start in (("downstream", "0"), ("upstream", f"{length}")):
        check_closure(store, model, Query(("dataset", "db", start)), direction)
    check_impact(store, model, Query(("dataset", "db", "0")))
    assert store.downstream("db/0").truncated == (length > UNLIMITED)


# -- on disk and on PostgreSQL ----------------------------------------------------------------------------------------


@QUICK(2)
@given(case=cases(MOVING_GRAPH, 12))
def test_random_graphs_on_disk(file_lab: ScratchStore, case: Case) -> None:
    check(file_lab, case)


@QUICK(2)
@given(case=cases(MOVING_GRAPH, 12))
def test_random_graphs_on_postgresql(postgres_lab: ScratchStore, case: Case) -> None:
    check(postgres_lab, case)


@QUICK(2)
@given(case=cases(ODD, 8))
def test_odd_names_on_postgresql(postgres_lab: ScratchStore, case: Case) -> None:
    check(postgres_lab, case)


@QUICK(2)
@given(case=cases(HUBS, 8))
def test_hubs_on_postgresql(postgres_hub_lab: ScratchStore, case: Case) -> None:
    check(postgres_hub_lab, case)


# -- long -------------------------------------------------------------------------------------------------------------


@pytest.mark.long
@LONG(100)
@given(case=cases(GRAPH, 24))
def test_larger_graphs(memory_lab: ScratchStore, case: Case) -> None:
    check(memory_lab, case, everything=True)


@pytest.mark.long
@LONG(60)
@given(case=cases(MOVING_GRAPH, 20))
def test_larger_graphs_under_every_alias(memory_lab: ScratchStore, case: Case) -> None:
    check(memory_lab, case, everything=True)


@pytest.mark.long
@LONG(20)
@given(case=cases(MOVING_GRAPH, 20))
def test_larger_graphs_on_postgresql(postgres_lab: ScratchStore, case: Case) -> None:
    check(postgres_lab, case, everything=True)


@pytest.mark.long
@LONG(100)
@given(case=cases(HUBS, 14))
def test_larger_graphs_with_hubs(hub_lab: ScratchStore, case: Case) -> None:
    check(hub_lab, case, everything=True)
