"""Sizes that small examples never reach: lists longer than one statement accepts, more partitions than are paired."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.oracles.answers import Query, check_closure, check_impact
from tests.oracles.dump import differences, state_of_model, state_of_store, without_endings
from tests.oracles.model import MOST_PAIRS, Model
from tests.oracles.scratch_stores import ScratchStore

Json = dict[str, Any]
SPREAD = 520
"""More than the longest list that goes into one statement."""


def name(number: int | str) -> Json:
    return {"namespace": "db", "name": f"{number}"}


def event(second: int, **parts: Any) -> Json:
    return {"eventTime": f"2026-11-15T10:{second // 60:02}:{second % 60:02}Z", "producer": "urn:test", **parts}


def run(second: int, run_id: str, inputs: list[Json], outputs: list[Json]) -> Json:
    job = {"namespace": "etl", "name": f"job{second % 3}"}
    return event(second, eventType="COMPLETE", run={"runId": run_id}, job=job, inputs=inputs, outputs=outputs)


def many_events() -> list[Json]:
    """Many runs, one that reads every dataset, one that writes each of them, many columns, many aliases."""
    chance = random.Random(20261115)
    everything = [name(number) for number in range(SPREAD)]
    events = [
        run(
            second,
            f"run-{second}",
            [name(chance.randrange(SPREAD)) for _ in range(2)],
            [name(chance.randrange(SPREAD))],
        )
        for second in range(SPREAD)
    ]
    fields = {f"c{i}": {"inputFields": [name(i) | {"field": f"s{i}"}]} for i in range(SPREAD)}
    events.append(run(SPREAD, "reads-all", everything, [name("hub")]))
    events.append(run(SPREAD + 1, "writes-all", [name("hub")], everything))
    events.append(
        run(SPREAD + 2, "all-columns", [], [name("wide") | {"facets": {"columnLineage": {"fields": fields}}}])
    )
    claimed = [name(f"alias-{i}") | {"type": "TABLE"} for i in range(SPREAD)] + [name(7) | {"type": "TABLE"}]
    events.append(event(SPREAD + 3, dataset=name("owner") | {"facets": {"symlinks": {"identifiers": claimed}}}))
    return events


@pytest.mark.parametrize("parts", [1, 3])
def test_long_lists(memory_lab: ScratchStore, parts: int) -> None:
    events, store = many_events(), memory_lab.fresh()
    for part in range(parts):
        store.ingest_many(events[::-1][part::parts])
    model = Model(events)
    expected = state_of_model(model)
    wrong = differences(expected, without_endings(state_of_store(store), expected))
    assert not wrong, wrong[:5000]
    for asked in ("hub", "wide", "alias-3", "7"):
        question = Query(("dataset", "db", asked))
        check_closure(store, model, question, "upstream")
        check_closure(store, model, question, "downstream")
    check_impact(store, model, Query(("dataset", "db", "hub"), depth=1))


@pytest.mark.parametrize("stated", [False, True])
@pytest.mark.parametrize(("written", "read"), [(100, MOST_PAIRS // 100), (101, MOST_PAIRS // 100)])
def test_too_many_pairs_of_partitions(memory_lab: ScratchStore, written: int, read: int, stated: bool) -> None:
    """With stated lineage they count as read as a whole; otherwise they have a hub."""

    def subset(side: str, count: int) -> Json:
        condition = {"type": "partition", "partitions": [{"identifier": f"p{i}"} for i in range(count)]}
        return {f"{side}Facets": {"subset": {f"{side}Condition": condition}}}

    target = name("b") | subset("output", written)
    if stated:
        fields = {"x": {"inputFields": [{**name("a"), "field": "y"}]}}
        target["facets"] = {"columnLineage": {"_producer": "urn:test", "_schemaURL": "urn:test", "fields": fields}}
    events = [run(1, "run-1", [name("a") | subset("input", read)], [target])]
    model, store = Model(events), memory_lab.fresh()
    store.ingest_many(events)
    wrong = differences(state_of_model(model), state_of_store(store))
    assert not wrong, wrong[:5000]
    question = Query(("dataset", "db", "b"), partition="p3")
    check_closure(store, model, question, "upstream")
    too_many = written * read > MOST_PAIRS
    found = store.upstream("db/b", partition="p3").nodes
    assert len(found) == (1 if stated and too_many else read)
    assert {node.via.via_job for node in found} == {too_many and not stated}
