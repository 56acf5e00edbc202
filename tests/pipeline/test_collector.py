"""Records in memory: how many, which, and their queries."""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.model.items import Cardinality, Hop, ItemRecord, Outcome, Reason
from headwater.pipeline.declare.options import LineageOptions
from headwater.pipeline.items.collector import Collector
from headwater.pipeline.items.record_shape import shape_record
from tests.oracles.profiles import QUICK
from tests.pipeline.test_items import item_records

ALL = LineageOptions.complete()


def record(number: int, reason: Reason = Reason.EMITTED) -> ItemRecord:
    hop = Hop("n", "p", "p", Outcome.EMITTED, Cardinality.ONE, 1, 1, (0,), input="{}", output="{}")
    return ItemRecord(
        f"id {number}", "in", "{}", ("p::n",), (hop, hop), Outcome.EMITTED, reason, "n", 0, ("x",), "E: 1", "{}"
    )


@pytest.mark.parametrize(
    ("overflow", "kept", "passed", "dropped"), [("materialize", 7, 0, 0), ("degrade", 3, 4, 0), ("drop", 3, 4, 4)]
)
def test_records_above_the_cap(overflow: str, kept: int, passed: int, dropped: int) -> None:
    over: list[ItemRecord] = []
    collector = Collector(ALL.with_(overflow=overflow, materialization_cap=3), over.extend)
    for number in range(7):
        collector.record([record(number)])
    assert [each.correlation_id for each in collector.records] == [f"id {number}" for number in range(kept)]
    assert len(over) == passed
    assert collector.passed_on_count == (passed if overflow == "degrade" else 0)
    assert collector.dropped_count == dropped
    assert sum(collector.counts.values()) == 7, "every item is counted once, wherever its record went"
    if overflow == "drop":
        assert collector.counts == {Reason.DROPPED_BY_BACKPRESSURE: 4, Reason.EMITTED: 3}
        assert {each.reason for each in over} == {Reason.DROPPED_BY_BACKPRESSURE}
        assert {each.hops for each in over} == {()}
    else:
        assert all(each == record(3 + number) for number, each in enumerate(over))


def test_a_dropped_record_may_leave_only_the_count() -> None:
    over: list[ItemRecord] = []
    collector = Collector(ALL.with_(overflow="drop", materialization_cap=0, drop_records=False), over.extend)
    collector.record([record(1), record(2, Reason.ERROR)])
    assert over == []
    assert collector.counts == {Reason.ERROR: 1, Reason.DROPPED_BY_BACKPRESSURE: 1}


def test_queries() -> None:
    collector = Collector(ALL)
    collector.record([record(2, Reason.FILTERED_OUT)])
    assert collector.history("id 2") == record(2).hops
    assert collector.terminal_reason("id 2") is Reason.FILTERED_OUT
    assert collector.history("id 1") == ()
    assert collector.terminal_reason("id 1") is None
    collector.clear()
    assert (collector.records, collector.counts) == ((), {})


def test_an_item_has_one_record_the_strongest() -> None:
    collector = Collector(ALL)
    for reason in (Reason.EMITTED, Reason.ERROR, Reason.FILTERED_OUT, Reason.ERROR):
        collector.record([record(1, reason)])
    assert collector.counts == {Reason.ERROR: 1}
    assert [each.reason for each in collector.records] == [Reason.ERROR]


def test_any_number_of_threads() -> None:
    spilled: list[ItemRecord] = []
    collector = Collector(ALL.with_(materialization_cap=500), spilled.extend)

    def feed(thread: int) -> None:
        for number in range(0, 250, 5):
            numbers = range(thread * 250 + number, thread * 250 + number + 5)
            collector.record(record(each) for each in numbers)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(feed, range(8)))
    found = Counter(each.correlation_id for each in (*collector.records, *spilled))
    assert found == {f"id {number}": 1 for number in range(2000)}
    assert len(collector.records) == 500
    assert collector.counts == {Reason.EMITTED: 2000}


def test_the_effect_of_each_option_on_a_record() -> None:
    whole = record(1)
    assert shape_record(whole, ALL) == whole
    hops = whole.hops

    def only(**changes: Any) -> ItemRecord:
        return shape_record(whole, ALL.with_(**changes))

    def each(**changes: Any) -> ItemRecord:
        return replace(whole, hops=tuple(replace(hop, **changes) for hop in hops))

    assert only(intermediate_records=False) == replace(whole, hops=hops[1:])
    assert only(max_hops=1) == replace(whole, hops=(replace(hops[1], truncated=True),), truncated=True)
    assert only(contributor_ids=False) == replace(whole, contributors=())
    assert only(ancestry=False) == each(ancestry=None)
    assert only(decisions=False) == each(outcome=Outcome(0))
    assert only(cardinality=False) == each(cardinality=Cardinality.UNKNOWN)
    assert only(snapshots=False) == each(input=None, output=None)
    assert only(redact=True) == replace(each(input=None, output=None), data=None, error="E")


switches = st.fixed_dictionaries(
    {
        name: st.booleans()
        for name in (
            *("redact", "snapshots", "contributor_ids", "ancestry", "hop_timestamps", "decisions", "cardinality"),
            "intermediate_records",
        )
    }
)


@QUICK(200)
@given(item_records, switches, st.integers(1, 4))
def test_shaping_is_idempotent(whole: ItemRecord, chosen: dict[str, bool], max_hops: int) -> None:
    options = LineageOptions(mode="full", max_hops=max_hops, **chosen)  # type: ignore[arg-type]
    once = shape_record(whole, options)
    assert shape_record(once, options) == once
    assert len(once.hops) <= max_hops
    assert (once.correlation_id, once.reason, once.outcome) == (whole.correlation_id, whole.reason, whole.outcome)
    assert once.hops[-1:] == () or once.hops[-1].node == whole.hops[-1].node
    if options.redact:
        assert '"secret"' not in json.dumps(shape_record(replace(whole, data='"secret"'), options).to_dict())
