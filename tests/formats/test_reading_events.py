"""Reading an event: the three kinds are distinguished by their shape, and everything that real producers send is
accepted."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from headwater.formats.openlineage.event import EventKind, parse_time, read_event
from headwater.model.names import Dataset, Job
from tests.support.events import (
    NAMESPACE,
    Json,
    dataset_event,
    facet,
    job_event,
    read_in_part,
    run_event,
    run_id,
    used,
    written_in_part,
)


def problems(event: Json) -> list[tuple[str, str]]:
    return [(problem.path, problem.reason) for problem in read_event(event).problems]


def test_a_run_event() -> None:
    event = read_event(run_event("START", run="r", job="j", inputs=["a"], outputs=["x"]))
    assert (event.kind, event.event_type, event.run_id) == (EventKind.RUN, "START", run_id("r"))
    assert event.job == Job("scheduler", "j")
    assert [use.dataset for use in event.datasets] == [Dataset(NAMESPACE, "a"), Dataset(NAMESPACE, "x")]
    assert event.problems == ()


def test_a_job_event() -> None:
    event = read_event(job_event(job="j", inputs=["a"]))
    assert (event.kind, event.run_id, event.job) == (EventKind.JOB, None, Job("scheduler", "j"))


def test_a_dataset_event() -> None:
    event = read_event(dataset_event("a"))
    assert event.dataset is not None
    assert (event.kind, event.job, event.dataset.dataset) == (EventKind.DATASET, None, Dataset(NAMESPACE, "a"))


def test_the_shape_decides_and_not_the_schema_url() -> None:
    liar = run_event() | {"schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/DatasetEvent"}
    assert read_event(liar).kind is EventKind.RUN


def test_a_run_of_null_is_no_run() -> None:
    assert read_event(run_event() | {"run": None}).kind is EventKind.JOB


@pytest.mark.parametrize(
    "url",
    [
        "https://openlineage.io/spec/1-0-1/OpenLineage.json#/definitions/RunEvent",
        "https://openlineage.io/spec/0-0-1/OpenLineage.json",
        "https://openlineage.io/spec/99-0-0/OpenLineage.json#/$defs/RunEvent",
        "urn:anything",
    ],
)
def test_any_schema_url_is_accepted(url: str) -> None:
    assert problems(run_event() | {"schemaURL": url}) == []


@pytest.mark.parametrize("url", [None, 7])
def test_a_missing_schema_url_is_flagged(url: object) -> None:
    assert problems(run_event() | {"schemaURL": url}) == [("$.schemaURL", "missing")]


@pytest.mark.parametrize("event_type", ["START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER", None])
def test_event_types(event_type: str | None) -> None:
    assert read_event(run_event(event_type)).event_type == event_type


def test_an_event_type_of_null_is_none() -> None:
    assert read_event(run_event() | {"eventType": None}).event_type is None


NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-15T12:00:00Z", NOON),
        ("2026-11-15T12:00:00.000Z", NOON),
        ("2026-11-15T12:00:00+00:00", NOON),
        ("2026-11-15T13:00:00+01:00", NOON),
        ("2026-11-15T13:00:00+01:00[Europe/Paris]", NOON),
        ("2026-11-15T12:00:00Z[UTC]", NOON),
        ("2026-11-15T02:00:00.123456-10:00", NOON + timedelta(microseconds=123456)),
        ("2026-11-15T12:00:00.1Z", NOON + timedelta(milliseconds=100)),
        ("2026-11-15T12:00:00.123456789Z", NOON + timedelta(microseconds=123456)),
        ("2026-11-15T12:00Z", NOON),
        ("20261115T120000Z", NOON),
        ("1969-07-20T20:17:40Z", datetime(1969, 7, 20, 20, 17, 40, tzinfo=UTC)),
    ],
)
def test_times(text: str, moment: datetime) -> None:
    event = run_event() | {"eventTime": text}
    assert read_event(event).time == moment
    assert problems(event) == []


@pytest.fixture
def in_tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("in_tokyo")
@pytest.mark.parametrize("text", ["2026-11-15T12:00:00", "2026-11-15T12:00:00.000000", "2026-11-15 12:00:00"])
def test_a_time_without_a_zone_is_utc_in_any_local_zone_and_flagged(text: str) -> None:
    event = run_event() | {"eventTime": text}
    assert read_event(event).time == NOON
    assert problems(event) == [("$.eventTime", "no time zone; read as UTC")]


def test_a_date_is_its_midnight() -> None:
    assert parse_time("2026-11-15") == datetime(2026, 11, 15)


@pytest.mark.parametrize("text", [None, 7, "", "soon", "2026-13-01T00:00:00Z", "0001-01-01T00:00:00+14:00"])
def test_invalid_times(text: object) -> None:
    assert parse_time(text) is None


def test_a_run_id_that_is_not_a_uuid_is_flagged() -> None:
    event = run_event() | {"run": {"runId": "manual__2026-11-15"}}
    assert read_event(event).run_id == "manual__2026-11-15"
    assert problems(event) == [("$.run.runId", "not a UUID")]


def test_unknown_facets_and_properties_are_stored_verbatim() -> None:
    odd = facet(deep={"list": [1, 2.5, None, {"ключ": "значение"}]}, big=2**80, empty={}, nul="\x00", half="\ud800")
    event = run_event(
        run_facets={"odd": odd},
        job_facets={"odd": odd},
        inputs=[used("a", facets={"odd": odd}, input_facets={"odd": odd})],
        outputs=[used("x", facets={"odd": odd}, output_facets={"odd": odd})],
    )
    read = read_event(event | {"somethingNew": [1]})
    assert read.run_facets == read.job_facets == {"odd": odd}
    for use in read.datasets:
        assert use.facets == use.io_facets == {"odd": odd}
    assert json.loads(read.body)["somethingNew"] == [1]
    assert read.problems == ()


def test_partitions_of_inputs_and_outputs() -> None:
    event = read_event(run_event(inputs=[read_in_part("a", "p2", "p1")], outputs=[written_in_part("x", "p3")]))
    assert [use.partitions for use in event.datasets] == [("p1", "p2"), ("p3",)]


@pytest.mark.parametrize("form", ["bytes", "bytearray", "text", "mapping", "with a byte order mark", "indented"])
def test_every_form_is_the_same_event(form: str) -> None:
    event = run_event(inputs=["a", "ä"])
    text = json.dumps(event)
    raw: Any = {
        "bytes": text.encode(),
        "bytearray": bytearray(text.encode()),
        "text": json.dumps(event, ensure_ascii=False),
        "mapping": event,
        "with a byte order mark": b"\xef\xbb\xbf" + text.encode(),
        "indented": json.dumps(event, indent=4, sort_keys=True),
    }[form]
    read = read_event(raw)
    canonical = json.dumps(event, sort_keys=True, separators=(",", ":"))
    assert read.digest == hashlib.sha256(canonical.encode()).digest()


def test_the_body_is_stored_as_received() -> None:
    raw = json.dumps(run_event(), indent=3).encode()
    assert read_event(raw).body == raw
