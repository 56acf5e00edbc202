"""Outcomes, reasons, and the JSON form of records."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.model.items import (
    Cardinality,
    Continuity,
    Hop,
    ItemRecord,
    Outcome,
    Reason,
    SampleOutcome,
    reason_of,
    retries_of,
    segment,
)
from headwater.pipeline import worker
from tests.oracles.profiles import QUICK

EVERY = [Outcome(number) for number in range(128)]
outcomes = st.sampled_from(EVERY)
texts = st.text(max_size=8)
maybe_texts = st.none() | texts
counts = st.integers(0, 10**12)
times = st.none() | st.datetimes(timezones=st.just(UTC))

hops = st.builds(
    Hop,
    node=texts,
    pipeline_id=texts,
    pipeline=texts,
    outcome=outcomes,
    cardinality=st.sampled_from(Cardinality),
    contributors=st.none() | counts,
    emissions=st.none() | counts,
    ancestry=st.none() | st.lists(st.integers(0, 9)).map(tuple),
    truncated=st.booleans(),
    retries=st.integers(0, 9),
    continuity=st.sampled_from(Continuity),
    at=times,
    input=maybe_texts,
    output=maybe_texts,
)
item_records = st.builds(
    ItemRecord,
    correlation_id=st.uuids().map(str),
    source=texts,
    key=texts,
    path=st.lists(texts, max_size=4).map(tuple),
    hops=st.lists(hops, max_size=4).map(tuple),
    outcome=outcomes,
    reason=st.sampled_from(Reason),
    node=texts,
    retries=st.integers(0, 9),
    contributors=st.lists(texts, max_size=3).map(tuple),
    error=maybe_texts,
    data=maybe_texts,
    truncated=st.booleans(),
)


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (Outcome(0), "None"),
        (Outcome.EMITTED, "Emitted"),
        (Outcome.EMITTED | Outcome.RETRIED, "Emitted | Retried"),
        (Outcome.FILTERED_OUT, "FilteredOut"),
        (Outcome.DEAD_LETTERED | Outcome.ERROR, "Error | DeadLettered"),
        (Outcome.EMITTED | Outcome.JOINED | Outcome.AGGREGATED, "Emitted | Joined | Aggregated"),
    ],
)
def test_the_names_of_outcomes(outcome: Outcome, words: str) -> None:
    assert outcome.words == words


def test_every_outcome_can_be_parsed() -> None:
    for outcome in EVERY:
        assert Outcome.read(outcome.words) is outcome
        assert Outcome.read(int(outcome)) is outcome


def test_the_worker_has_the_same_flags() -> None:
    for name in ("EMITTED", "FILTERED_OUT", "RETRIED", "ERROR", "DEAD_LETTERED"):
        assert getattr(worker, name) == Outcome[name]


@pytest.mark.parametrize(("count", "expected"), [(None, "Unknown"), (0, "Zero"), (1, "One"), (2, "Many"), (9, "Many")])
def test_cardinality(count: int | None, expected: str) -> None:
    assert Cardinality.of(count).word == expected
    assert Cardinality.read(expected) is Cardinality.read(int(Cardinality.of(count)))


STRENGTH = [
    *("DeadLettered", "Error", "FilteredOut", "DroppedByBackpressure", "Aggregated", "Joined"),
    *("ConsumedWithoutEmission", "Emitted"),
]


@QUICK(100)
@given(outcomes, st.booleans(), st.sampled_from([None, 0, 1]))
def test_the_strongest_reason_is_terminal(outcome: Outcome, dropped: bool, emissions: int | None) -> None:
    true = set(outcome.words.split(" | ")) - {"Retried", "None"}
    true |= {"DroppedByBackpressure"} if dropped else set()
    true |= {"ConsumedWithoutEmission"} if emissions == 0 or not true else set()
    assert reason_of(outcome, emissions, dropped=dropped) == min(true, key=STRENGTH.index)


def test_a_samples_outcome() -> None:
    for outcome in EVERY:
        expected = SampleOutcome.SUCCESS
        for flag, found in (("FilteredOut", "Skipped"), ("Error", "Error"), ("DeadLettered", "DeadLetter")):
            if flag in outcome.words.split(" | "):
                expected = SampleOutcome(found)
        assert SampleOutcome.of(outcome) == expected


@QUICK(100)
@given(item_records)
def test_records_can_be_serialized_and_parsed(record: ItemRecord) -> None:
    assert ItemRecord.from_dict(json.loads(json.dumps(record.to_dict()))) == record


@QUICK(100)
@given(item_records)
def test_records_are_read_from_numbers_and_times_too(record: ItemRecord) -> None:
    """As in a frame."""
    said = record.to_dict() | {"outcome": int(record.outcome)}
    said["hops"] = [
        hop.to_dict() | {"outcome": int(hop.outcome), "cardinality": int(hop.cardinality), "at": hop.at}
        for hop in record.hops
    ]
    assert ItemRecord.from_dict(said) == record


def hop(node: str, outcome: Outcome, retries: int = 0) -> Hop:
    return Hop(node, "p", "p", outcome, retries=retries)


def test_retries_are_those_of_the_last_hop() -> None:
    again = Outcome.EMITTED | Outcome.RETRIED
    assert retries_of([]) == 0
    assert retries_of([hop("a", again, 2), hop("b", Outcome.EMITTED)]) == 0
    assert retries_of([hop("a", Outcome.EMITTED), hop("b", again, 3)]) == 3
    assert retries_of([hop("a", again), hop("b", again), hop("b", again)]) == 2


def test_a_time_and_a_segment_as_text() -> None:
    at = datetime(2026, 11, 15, 8, tzinfo=UTC)
    assert Hop("n", "p", "p", Outcome.EMITTED, at=at).to_dict()["at"] == "2026-11-15T08:00:00Z"
    assert segment("ab", "n") == "ab::n"
