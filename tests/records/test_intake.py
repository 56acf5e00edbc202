"""Requests: which are accepted, which are refused, and with which message."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest

from headwater.model.records import Record, Refusal
from headwater.records.intake.requests import read_record, read_request
from headwater.records.intake.sending import queue_body
from headwater.records.ledger import Records
from tests.records.conftest import load_all
from tests.records.oracle import NOON

WHOLE = {"root_id": "r", "parent_id": "p", "action_taken": "A", "storage_location": "s3://b/k"}


def read(request: Any) -> tuple[list[Record], list[Refusal]]:
    taken, refused = read_request(request, 7, NOON)
    return [record for _, record in taken], refused


def reason(request: Any) -> str:
    taken, (refusal,) = read(request)
    assert (taken, refusal.index) == ([], 7)
    return refusal.reason


def without(*fields: str, **more: Any) -> dict[str, Any]:
    return {name: value for name, value in WHOLE.items() if name not in fields} | more


def test_the_whole_request_for_one_record() -> None:
    ((record,), refused) = read(WHOLE)
    assert refused == []
    assert re.fullmatch("[0-9a-f]{20}", record.node_id)
    assert record == Record("r", record.node_id, ("p",), "A", "s3://b/k", NOON)
    assert record.document() == {
        "root_id": "r",
        "parent_id": "p",
        "action_taken": "A",
        "recordedAt": 1794830400,
        "storage_location": "s3://b/k",
        "node_id": record.node_id,
    }


def test_fields_of_a_record_take_precedence() -> None:
    own = {"node_id": "n", "root_id": "R", "parent_id": "P", "action_taken": "B", "storage_location": "other"}
    for request in ({**WHOLE, "record": own}, {**WHOLE, "records": [own]}, {"records": [own]}):
        assert read(request)[0] == [Record("R", "n", ("P",), "B", "other", NOON)]


def test_several_parents() -> None:
    ((record,), _) = read({**without("parent_id"), "parent_ids": ["a", "b", "a"], "node_id": "n"})
    assert record.parent_ids == ("a", "b")
    assert record.document()["parent_id"] == "a"
    assert record.document()["parent_ids"] == ["a", "b"]
    ((record,), _) = read({**WHOLE, "records": [{"parent_ids": ["x", "y"], "node_id": "n"}]})
    assert record.parent_ids == ("x", "y")


def test_the_order_of_parents_does_not_matter() -> None:
    one, other = (Record("r", "n", parents, "A", "l", NOON) for parents in (("a", "b"), ("b", "a")))
    assert one.digest == other.digest
    assert one.digest != Record("r", "n", ("a",), "A", "l", NOON).digest
    assert Record("r", "ab", ("c",), "A", "l", NOON).digest != Record("r", "a", ("bc",), "A", "l", NOON).digest


@pytest.mark.parametrize(
    ("time", "moment"),
    [
        (0, datetime(1970, 1, 1, tzinfo=UTC)),
        (1794830400.25, datetime(2026, 11, 16, 12, 0, 0, 250_000, tzinfo=UTC)),
        ("2026-11-16T13:00:00+01:00", NOON),
        ("2026-11-16T12:00:00Z", NOON),
        ("2026-11-16T12:00:00", NOON),
        ("2026-11-16", datetime(2026, 11, 16, tzinfo=UTC)),
    ],
)
def test_times(time: Any, moment: datetime) -> None:
    ((record,), _) = read({**WHOLE, "recordedAt": time})
    assert record.recorded_at == moment


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ("text", "a request is an object, not a string"),
        (None, "a request is an object, not null"),
        ({}, "it has neither `record` nor `records` nor a storage_location of its own"),
        ({**WHOLE, "record": {}, "records": [{}]}, "it has both `record` and `records`"),
        ({**WHOLE, "records": {}}, "records is a list, not an object"),
        ({**WHOLE, "records": []}, "records is empty"),
        (
            {**WHOLE, "node_id": "n", "records": [{}]},
            "node_id names one record, and there are `records`: each has its own",
        ),
        ({**WHOLE, "record": 3}, "a record is an object, not a number"),
        (without("root_id"), "root_id is missing"),
        (without("parent_id"), "parent_id is missing"),
        (without("action_taken"), "action_taken is missing"),
        (without("storage_location", record={}), "storage_location is missing"),
        ({**WHOLE, "root_id": ""}, "root_id is empty"),
        ({**WHOLE, "root_id": 1}, "root_id is a string, not a number"),
        ({**WHOLE, "action_taken": True}, "action_taken is a string, not true or false"),
        ({**WHOLE, "root_id": "x" * 1_025}, "root_id has 1,025 characters; the limit is 1,024"),
        ({**WHOLE, "action_taken": "x" * 257}, "action_taken has 257 characters; the limit is 256"),
        ({**WHOLE, "storage_location": "x" * 8_193}, "storage_location has 8,193 characters; the limit is 8,192"),
        (
            {**WHOLE, "node_id": "a\0b"},
            "node_id contains a NUL or half a surrogate pair, which a database cannot store",
        ),
        (
            {**WHOLE, "parent_id": "\ud800"},
            "parent_id contains a NUL or half a surrogate pair, which a database cannot store",
        ),
        ({**WHOLE, "parent_ids": "p"}, "parent_ids is a list, not a string"),
        ({**WHOLE, "parent_ids": []}, "parent_ids has 0 entries; the limit is 1 to 10,000"),
        ({**WHOLE, "parent_ids": ["a", ""]}, "parent_ids[1] is empty"),
        ({**WHOLE, "parent_ids": ["a", "b"]}, "parent_id is not among parent_ids"),
        ({**WHOLE, "recordedAt": "soon"}, "recordedAt cannot be read as a time in ISO 8601"),
        ({**WHOLE, "recordedAt": True}, "recordedAt is seconds since 1970 or an ISO 8601 time, not true or false"),
        ({**WHOLE, "recordedAt": 1794830400000}, "recordedAt lies outside the years 1900 to 9999; is it seconds?"),
        ({**WHOLE, "recordedAt": float("nan")}, "recordedAt lies outside the years 1900 to 9999; is it seconds?"),
        ({**WHOLE, "recordedAt": 10**400}, "recordedAt lies outside the years 1900 to 9999; is it seconds?"),
        ({**WHOLE, "recordedAt": "0001-01-01T00:00:00+23:00"}, "recordedAt cannot be read as a time in ISO 8601"),
        ({**WHOLE, "recordedAt": "1800-01-01"}, "recordedAt lies outside the years 1900 to 9999"),
    ],
)
def test_refusals(request_: Any, words: str) -> None:
    assert reason(request_) == words


def test_published_times_keep_microseconds() -> None:
    record = Record("r", "n", ("a", "b"), "A", "l", NOON.replace(microsecond=123_457))
    assert read_record(queue_body(record)) == record
    assert read_record(record.document()) == Record("r", "n", ("a", "b"), "A", "l", NOON)
    with pytest.raises(ValueError, match="node_id is missing"):
        read_record({**record.document(), "node_id": None})


def test_valid_records_are_accepted_and_others_refused_by_number(records: Records) -> None:
    sent = records.send(
        [
            {**WHOLE, "node_id": "n0"},
            "nothing",
            {**WHOLE, "records": [{"node_id": "n1"}, {"node_id": ""}, 5, {"node_id": "n2"}]},
            without("root_id"),
        ]
    )
    assert sent.node_ids == ("n0", "n1", "n2")
    assert [(one.index, one.record) for one in sent.taken] == [(0, None), (2, 0), (2, 3)]
    assert [(one.index, one.record) for one in sent.refused] == [(1, None), (2, 1), (2, 2), (3, None)]
    assert sent.refused[1].reason == "node_id is empty"
    assert load_all(records) == 3
    assert {one.record.node_id for one in records.find()} == {"n0", "n1", "n2"}


def test_one_request_needs_no_list_and_any_text_is_preserved(records: Records) -> None:
    odd = "näme \U0001f300 'quoted' \"twice\" \\ %s ; -- \u202e \n"
    sent = records.send({**WHOLE, "root_id": odd, "node_id": odd, "action_taken": odd, "storage_location": odd})
    assert sent.node_ids == (odd,)
    assert load_all(records) == 1
    (found,) = records.find(root=odd, node=odd, action=odd, location=odd)
    assert (found.record.root_id, found.record.storage_location) == (odd, odd)
    assert records.trace(odd).traces[0].record_id == odd
