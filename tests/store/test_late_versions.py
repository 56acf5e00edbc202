"""Runs that are reported late, and several runs of a job in one commit: the same rows as in order, one after the
other."""

from __future__ import annotations

from collections.abc import Sized
from contextlib import closing
from itertools import permutations

import pytest
from sqlalchemy import event

from headwater.store.store import Store
from tests.oracles.dump import state_of_store
from tests.oracles.scratch_stores import MemoryLab
from tests.store.short_answers import names
from tests.support.events import Json, at, run_event, written_in_part

RUNS = {10: "a", 20: "a", 30: "b", 40: "a"}
"""By the minute, what the job read."""


def reported(minute: int, part: str | None = None) -> Json:
    outputs = ["x"] if part is None else [written_in_part("x", part)]
    return run_event(run=f"at {minute}", job="job", inputs=[RUNS[minute]], outputs=outputs, minute=minute)


def in_order(events: list[Json]) -> object:
    with Store("memory://") as store:
        for one in events:
            store.ingest(one)
        return state_of_store(store)


@pytest.mark.parametrize(
    "parts",
    [["p", None, "p", None], *(pytest.param(parts, marks=pytest.mark.long) for parts in ([None] * 4, [*"ppqp"]))],
    ids=str,
)
def test_any_order_one_by_one_and_together(parts: list[str | None]) -> None:
    events = [reported(minute, part) for minute, part in zip(RUNS, parts, strict=True)]
    expected = in_order(events)
    with closing(MemoryLab()) as lab:
        for order in permutations(events):
            one_by_one = lab.fresh()
            for one in order:
                one_by_one.ingest(one)
            assert state_of_store(one_by_one) == expected
            together = lab.fresh()
            together.ingest_many(order[:2])
            together.ingest_many(order[2:])
            assert state_of_store(together) == expected


def test_on_every_database(store: Store) -> None:
    events = [reported(minute) for minute in RUNS]
    store.ingest_many([events[3], events[0]])
    for one in (events[1], events[2]):
        store.ingest(one)
    assert state_of_store(store) == in_order(events)


def test_a_late_run_reads_what_its_neighbours_say_and_not_the_history(store: Store) -> None:
    """Each of 60 runs reads something else; one that belongs between two of them changes what holds between these."""
    store.ingest_many([run_event(run=str(n), job="job", inputs=[f"s{n}"], outputs=["x"], minute=n) for n in range(60)])
    digests: list[int] = []

    def count(_conn: object, _cursor: object, statement: str, parameters: Sized, *_: object) -> None:
        if "FROM content" in statement:
            digests.append(len(parameters))

    event.listen(store._database.engine, "before_cursor_execute", count)
    store.ingest(run_event(run="late", job="job", inputs=["other"], outputs=["x"], minute=30.5))
    assert 0 < sum(digests) <= 8
    assert names(store.upstream("x", as_of=at(30.75))) == ["other"]
    assert names(store.upstream("x", as_of=at(30.25))) == ["s30"]
    assert names(store.upstream("x", as_of=at(31.25))) == ["s31"]
    store.verify()
