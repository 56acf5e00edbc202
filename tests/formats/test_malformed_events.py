"""Invalid events are refused in one line, with the JSON path of the culprit."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from headwater.errors import EventRefused
from headwater.formats.openlineage.event import RawEvent, read_event
from tests.support.events import Json, dataset_event, facet, job_event, run_event, used, written_in_part


def refusal(raw: RawEvent) -> EventRefused:
    with pytest.raises(EventRefused) as refused:
        read_event(raw)
    line = str(refused.value)
    assert line.isprintable()
    assert len(line) < 400
    assert line == f"Event refused at {refused.value.path}: {refused.value.reason}"
    return refused.value


def nested(levels: int) -> bytes:
    return (
        json.dumps(run_event(run_facets={"f": facet(deep=0)}))
        .replace('"deep": 0', '"deep": ' + "[" * levels + "]" * levels)
        .encode()
    )


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "not JSON"),
        (b"   ", "not JSON"),
        (b"{", "not JSON"),
        (b"{'a': 1}", "not JSON"),
        (b'{"a": 1,}', "not JSON"),
        (b'{"a": 1} {"b": 2}', "not JSON"),
        (b"\xff\xfe{\x00}\x00", "not UTF-8 (invalid start byte at byte 0)"),
        (b'{"a": "\xe4"}', "not UTF-8"),
        (b"\x00", "not JSON"),
        (b"<html>", "not JSON"),
        (b"[]", "an event is a JSON object, not an array"),
        (b"[{}]", "an event is a JSON object, not an array"),
        (b"7", "an event is a JSON object, not a number"),
        (b"7.5", "an event is a JSON object, not a number"),
        (b"true", "an event is a JSON object, not a boolean"),
        (b"null", "an event is a JSON object, not null"),
        (b'"text"', "an event is a JSON object, not a string"),
        (b"{}", "neither a run, a job nor a dataset"),
        (b"[" * 100_000, "nested too deeply to read"),
        (b'{"a":' * 100_000, "nested too deeply to read"),
        ("\ud800", "not JSON"),
    ],
)
def test_not_an_event_at_all(raw: RawEvent, reason: str) -> None:
    refused = refusal(raw)
    assert refused.path == "$"
    assert refused.reason.startswith(reason)


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_constants_that_are_not_json(constant: str) -> None:
    body = json.dumps(run_event(run_facets={"f": facet(v=0)})).replace('"v": 0', f'"v": {constant}')
    assert refusal(body).reason == f"not JSON ({constant} is not a JSON value)"
    mapping = run_event(run_facets={"f": facet(v=float(constant))})
    assert refusal(mapping).reason.startswith("not JSON")


@pytest.mark.parametrize("number", ["1e999", "-1e999"])
def test_a_number_beyond_the_range_of_doubles(number: str) -> None:
    """It is JSON, but would be written again as `Infinity`, which is not."""
    body = json.dumps(run_event(run_facets={"f": facet(v=0)})).replace('"v": 0', f'"v": {number}')
    assert refusal(body).reason == "contains a number that is too large to store"


def test_a_number_of_5000_digits() -> None:
    body = json.dumps(run_event(run_facets={"f": facet(v=0)})).replace('"v": 0', '"v": ' + "9" * 5_000)
    assert refusal(body).path == "$"


def test_a_number_of_300_digits_is_accepted() -> None:
    event = read_event(run_event(run_facets={"f": facet(v=10**300)}))
    assert (event.run_facets or {})["f"]["v"] == 10**300


def test_nesting_has_a_limit_that_does_not_depend_on_the_callers_stack() -> None:
    assert read_event(nested(150)).problems == ()
    for levels in (200, 900, 950, 100_000):
        assert refusal(nested(levels)).path == "$"


@pytest.mark.parametrize("value", [{1, 2}, object(), b"bytes"])
def test_a_mapping_with_values_that_are_not_json(value: object) -> None:
    assert refusal(run_event() | {"odd": value}).reason.startswith("not JSON")


def test_a_mapping_that_contains_itself() -> None:
    event = run_event()
    event["self"] = event
    assert refusal(event).path == "$"


def with_value(event: Json, place: tuple[str | int, ...], value: Any) -> Json:
    changed = copy.deepcopy(event)
    target: Any = changed
    for step in place[:-1]:
        target = target[step]
    target[place[-1]] = value
    return changed


def path_of(place: tuple[str | int, ...]) -> str:
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)


RUN = run_event(inputs=[used("a", facets={}, input_facets={})], outputs=["w", used("x", facets={}, output_facets={})])
TEXTS: list[tuple[str | int, ...]] = [
    ("eventTime",),
    ("producer",),
    ("run", "runId"),
    ("job", "namespace"),
    ("job", "name"),
    ("inputs", 0, "namespace"),
    ("inputs", 0, "name"),
    ("outputs", 1, "namespace"),
    ("outputs", 1, "name"),
]
OBJECTS: list[tuple[str | int, ...]] = [
    ("run",),
    ("run", "facets"),
    ("job",),
    ("job", "facets"),
    ("inputs", 0),
    ("inputs", 0, "facets"),
    ("inputs", 0, "inputFacets"),
    ("outputs", 1),
    ("outputs", 1, "facets"),
    ("outputs", 1, "outputFacets"),
]


@pytest.mark.parametrize("place", TEXTS, ids=path_of)
@pytest.mark.parametrize("value", [7, 1.5, True, [], {}, ["text"]], ids=repr)
def test_another_type_instead_of_text(place: tuple[str | int, ...], value: object) -> None:
    refused = refusal(with_value(RUN, place, value))
    assert refused.path == path_of(place)
    assert refused.reason.startswith("must be a string, not ")


@pytest.mark.parametrize("place", TEXTS, ids=path_of)
def test_empty_text(place: tuple[str | int, ...]) -> None:
    refused = refusal(with_value(RUN, place, None))
    assert (refused.path, refused.reason) == (path_of(place), "missing")


@pytest.mark.parametrize("place", OBJECTS, ids=path_of)
@pytest.mark.parametrize("value", [7, "text", True, ["text"]], ids=repr)
def test_another_type_instead_of_an_object(place: tuple[str | int, ...], value: object) -> None:
    refused = refusal(with_value(RUN, place, value))
    assert refused.path == path_of(place)
    assert refused.reason.startswith("must be an object, not ")


@pytest.mark.parametrize("key", ["inputs", "outputs"])
@pytest.mark.parametrize("value", [7, "text", {}, True], ids=repr)
def test_another_type_instead_of_an_array(key: str, value: object) -> None:
    refused = refusal(RUN | {key: value})
    assert refused.path == f"$.{key}"
    assert refused.reason.startswith("must be an array, not ")


@pytest.mark.parametrize("value", ["DONE", "complete", "", 7, ["START"], {}], ids=repr)
def test_an_invalid_event_type(value: object) -> None:
    refused = refusal(RUN | {"eventType": value})
    assert refused.path == "$.eventType"
    assert refused.reason == "must be one of ABORT, COMPLETE, FAIL, OTHER, RUNNING, START"


@pytest.mark.parametrize(
    "value", ["", "yesterday", "2026-11-15T25:00:00Z", "15.11.2026", "9999-12-31T23:59:59-01:00", "1\n2" * 99]
)
def test_an_invalid_time(value: str) -> None:
    refused = refusal(RUN | {"eventTime": value})
    assert refused.path == "$.eventTime"
    assert refused.reason.startswith("not an ISO 8601 time")


def test_an_empty_run_id() -> None:
    refused = refusal(with_value(RUN, ("run", "runId"), ""))
    assert (refused.path, refused.reason) == ("$.run.runId", "empty")


@pytest.mark.parametrize("missing", ["job", "eventTime", "producer"])
def test_a_run_event_with_missing_members(missing: str) -> None:
    event = copy.deepcopy(RUN)
    del event[missing]
    assert refusal(event).path == f"$.{missing}"


@pytest.mark.parametrize("text", ["nul \x00 in it", "half \ud83d of a pair"])
@pytest.mark.parametrize("place", [place for place in TEXTS if len(place) > 1], ids=path_of)
def test_names_that_no_database_can_store(place: tuple[str | int, ...], text: str) -> None:
    refused = refusal(with_value(RUN, place, text))
    assert refused.path == path_of(place)
    assert refused.reason == "contains a NUL or half a surrogate pair, which a database cannot store"


@pytest.mark.parametrize("text", ["\x00", "\ud83d"])
def test_names_that_no_database_can_store_in_facets(text: str) -> None:
    assert refusal(run_event(outputs=["w", written_in_part("x", text)])).path.startswith("$.outputs[1]")
    assert refusal(run_event(run_facets={text: facet()})).path == "$.run.facets"
    assert refusal(job_event(job_facets={text: facet()})).path == "$.job.facets"
    assert refusal(dataset_event(text)).path == "$.dataset.name"
    assert refusal(dataset_event(used("x", facets={text: facet()}))).path == "$.dataset.facets"


def test_a_surrogate_pair_is_one_character() -> None:
    body = json.dumps(run_event(inputs=["🌊"]))
    assert "\\ud83c\\udf0a" in body
    assert read_event(body).inputs[0].dataset.name == "🌊"
