"""The writer's cache between transactions never affects results, whichever processes write."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from itertools import cycle
from unittest.mock import patch

import pytest
from sqlalchemy import event, text

from headwater.model.audit import Actor
from headwater.store.fold import memory
from headwater.store.log import audit
from headwater.store.store import Store
from tests.oracles.dump import state_of_store
from tests.store.workload import busy_day
from tests.support.events import (
    Json,
    column_lineage,
    dataset_event,
    facet,
    run_event,
    run_id,
    schema,
    symlinks,
    used,
)


def forget(store: Store) -> None:
    store._memory = memory.Memory()


def state_without_memory(events: Sequence[Json]) -> object:
    with Store("memory://") as store:
        for one in events:
            forget(store)
            store.ingest(one)
        return state_of_store(store)


@cache
def busy_day_without_memory(runs: int) -> object:
    return state_without_memory(busy_day(runs))


@pytest.mark.parametrize(
    "turns",
    [
        *((0,), (0, 1, 2), (0, 0, 0, 0, 1, 1)),
        *(pytest.param(turns, marks=pytest.mark.long) for turns in ((0, 1), (0, 0, 1))),
    ],
    ids=str,
)
def test_interleaved_stores(durable_url: str, turns: tuple[int, ...]) -> None:
    """Whether no other process writes, or one does after every event, or occasionally."""
    events = busy_day(15)
    stores = [Store(durable_url) for _ in range(max(turns) + 1)]
    for one, turn in zip(events, cycle(turns), strict=False):
        assert not stores[turn].ingest(one).duplicate
    assert stores[0].verify()[0] == len(events)
    assert state_of_store(stores[0]) == busy_day_without_memory(15)
    for store in stores:
        store.close()


def test_the_cache_is_limited(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_MOST_TEXT", 2_000)
    events = busy_day(15)
    seen = set()
    for one in events:
        store.ingest(one)
        seen.add(len(store._memory.datasets))
        assert store._memory.weight < 60_000
    assert len(seen) > 3
    assert state_of_store(store) == busy_day_without_memory(15)


def pulled_out(*_: object) -> None:
    raise OSError("pulled out")


@contextmanager
def before_the_log_is_written(_store: Store) -> Iterator[None]:
    with patch.object(audit, "record", pulled_out):
        yield


@contextmanager
def at_the_commit(store: Store) -> Iterator[None]:
    event.listen(store._database.engine, "commit", pulled_out)
    yield
    event.remove(store._database.engine, "commit", pulled_out)


@pytest.mark.parametrize("moment", [before_the_log_is_written, at_the_commit])
def test_a_failed_transaction_leaves_nothing_in_the_cache(
    store: Store, moment: Callable[[Store], AbstractContextManager[None]]
) -> None:
    """It had changed the cache and was not stored."""
    before, after = run_event("START", run="r", inputs=["a"]), run_event(run="r", outputs=["x"], minute=2)
    store.ingest(before)
    with moment(store), pytest.raises(OSError, match="pulled out"):
        store.ingest(run_event("RUNNING", run="r", inputs=["b"], outputs=["y"], minute=1))
    store.ingest(after)
    assert state_of_store(store) == state_without_memory([before, after])


def same_every_day(day: int) -> Json:
    said = column_lineage({"c": [("a", "c")]})
    output = used("x", facets={"columnLineage": said, "schema": schema("c")})
    return run_event(run=f"day {day}", inputs=["a"], outputs=[output], minute=10 * day)


def test_an_alias_that_another_store_moves(durable_url: str) -> None:
    """The job's statement is unchanged, but its input is now another dataset's name."""
    claim = dataset_event(used("b", facets={"symlinks": symlinks("a", namespace="warehouse")}), minute=15)
    events = [same_every_day(0), same_every_day(1), claim, same_every_day(2), same_every_day(3)]
    with Store(durable_url) as ours, Store(durable_url) as theirs:
        for one in events:
            (theirs if one is claim else ours).ingest(one)
        assert {edge.upstream.name for edge in ours.run(run_id("day 3")).edges} == {"b"}
        assert state_of_store(ours) == state_without_memory(events)


def test_an_alias_that_the_same_store_moves(store: Store) -> None:
    claim = dataset_event(used("b", facets={"symlinks": symlinks("a", namespace="warehouse")}), minute=15)
    events = [same_every_day(0), same_every_day(1), claim, same_every_day(2)]
    for one in events:
        store.ingest(one)
    assert state_of_store(store) == state_without_memory(events)


def test_equal_values_of_different_types(store: Store) -> None:
    """1, 1.0 and true are equal in Python; a facet is returned as it was sent last."""
    for minute, value in enumerate((1, True, 1.0, 1, {"a": 1, "b": 2}, {"b": 2, "a": 1})):
        odd = facet(value=value)
        store.ingest(
            run_event(run="r", outputs=[used("x", facets={"odd": odd})], job_facets={"odd": odd}, minute=minute)
        )
        told = store.dataset("x").facets["odd"]
        assert json.dumps(told) == json.dumps(odd)


def test_a_restored_store(durable_url: str) -> None:
    """Numbers are assigned again; nothing of what they referred to may remain in the cache."""
    with Store(durable_url) as store:
        store.ingest(same_every_day(0))
        store.ingest(run_event(run="p", outputs=[used("y", facets={"schema": schema("d")})]))
        emptied = ("column_edge", "edge", "lineage", "version", "run_dataset", "event", "run", "job", "symlink")
        with store._database.write() as conn:
            for table in (*emptied, "dataset", "label", "content"):
                conn.execute(text(f"DELETE FROM {table}"))
        again = [run_event(run="q", inputs=["m"], outputs=["n"]), same_every_day(1)]
        for one in again:
            store.ingest(one)
        assert state_of_store(store) == state_without_memory(again)


@pytest.mark.parametrize("odd", ["\x01\x1f\x7f", "é\u2028\ufeff", "😀\uffff", '"\\/\b\f\n\r\t', "", " "])
def test_entries_are_canonical_whatever_is_in_them(store: Store, odd: str) -> None:
    """They are written by one implementation of RFC 8785 and verified by another."""
    store.ingest(run_event(job=f"j{odd}", run="r"), actor=Actor(odd, odd, odd, odd, odd))
    assert store.verify()[0] == 1
