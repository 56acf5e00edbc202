"""What a dead process left: its open runs are ended, for the sinks it had, once."""

from __future__ import annotations

import itertools
import json
import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from headwater.capture.delivery import DeliveryCounts
from headwater.formats.openlineage.event import read_event
from tests.capture.delivery.conftest import Deliver
from tests.capture.delivery.test_jsonl import files_no_larger_than
from tests.capture.delivery.watching import Recorder, files_in, numbered, soon
from tests.support.events import Json, job_event, parent, run_event, run_id


@pytest.fixture
def killed(spool: Path) -> Callable[..., Path]:
    """A spool as it would be found if all processes that use ``at`` were killed now: their files, and no locks."""
    copies = itertools.count(1)

    def copy(at: Path = spool) -> Path:
        return Path(shutil.copytree(at, spool.with_name(f"found {next(copies)}")))

    return copy


def sent(sink: Recorder) -> list[tuple[str, str]]:
    events = [json.loads(event) for event in sink.got]
    return [(event["eventType"], event["run"]["runId"]) for event in events if "run" in event]


Killed = Callable[..., Path]


def test_runs_that_never_ended_fail(deliver: Deliver, killed: Killed) -> None:
    first = deliver(Recorder(down=True))
    for run, kinds in {
        "whole": ["START", "RUNNING", "COMPLETE"],
        "failed": ["START", "FAIL"],
        "aborted": ["START", "ABORT"],
        "open": ["START", "RUNNING"],
        "no start": ["RUNNING"],
        "also open": ["START"],
    }.items():
        for kind in kinds:
            first.send(run_event(kind, run=run))
    first.send(job_event())
    found = killed()
    sink = Recorder(batch=5)
    second = deliver(sink, at=found)
    assert second.flush(60)
    assert sent(sink)[-2:] == [("FAIL", run_id("open")), ("FAIL", run_id("also open"))]
    assert len(sink.got) == 14
    second.close(5)
    third = Recorder()
    assert deliver(third, at=found).flush(60)
    assert third.got == [], "only once"


@pytest.fixture
def validator(shared_data: Path) -> Draft202012Validator:
    schemas = [json.loads(file.read_bytes()) for file in (shared_data / "spec").rglob("*.json")]
    registry: Registry[Any] = Registry().with_resources([(s["$id"], Resource.from_contents(s)) for s in schemas])
    event = next(schema for schema in schemas if schema["$id"].endswith("/OpenLineage.json"))
    facet = next(schema for schema in schemas if schema["$id"].endswith("/ErrorMessageRunFacet.json"))
    whole = {
        "allOf": [
            {"$ref": f"{event['$id']}#/$defs/RunEvent"},
            {"properties": {"run": {"properties": {"facets": {"$ref": facet["$id"]}}}}},
        ]
    }
    return Draft202012Validator(whole, registry=registry)


@pytest.fixture
def failure_of(deliver: Deliver, killed: Killed) -> Callable[[Json], Json]:
    """What is sent for a run that began with this event."""

    def fail(start: Json) -> Json:
        deliver(Recorder(down=True)).send(start)
        sink = Recorder()
        assert deliver(sink, at=killed()).flush(60)
        failure: Json = json.loads(sink.got[-1])
        return failure

    return fail


def test_the_failure_is_a_valid_event(failure_of: Callable[[Json], Json], validator: Draft202012Validator) -> None:
    start = run_event("START", inputs=["a"], outputs=["b"], run_facets={"parent": parent("mother")})
    before = datetime.now(UTC)
    failure = failure_of(start)
    validator.validate(failure)
    assert read_event(failure).problems == ()
    assert failure["eventType"] == "FAIL"
    assert before <= datetime.fromisoformat(failure["eventTime"]) <= datetime.now(UTC)
    assert failure["job"] == start["job"]
    assert failure["run"]["runId"] == start["run"]["runId"]
    assert failure["run"]["facets"]["parent"] == start["run"]["facets"]["parent"]
    assert failure["run"]["facets"]["errorMessage"]["message"] == "The process ended before the run did."
    assert failure["producer"] == start["producer"] == failure["run"]["facets"]["errorMessage"]["_producer"]
    assert failure.keys() == {"eventType", "eventTime", "producer", "schemaURL", "run", "job"}


def test_a_start_without_facets(failure_of: Callable[[Json], Json], validator: Draft202012Validator) -> None:
    start = run_event("START")
    del start["run"]["facets"]
    validator.validate(failure_of(start))
    broken = failure_of(start)
    del broken["run"]["facets"]["errorMessage"]["message"]
    assert not validator.is_valid(broken), "the validator does look there"


def test_what_was_delivered_still_has_an_end_to_come(deliver: Deliver, killed: Killed) -> None:
    """Also where the START is in a segment that was given back long ago."""
    sink = Recorder(batch=100)
    first = deliver(sink, limit=200_000)
    first.send(run_event("START", run="open"))
    for number in range(1000):
        first.send(numbered(number, size=1000))
        if number % 50 == 0:
            assert first.flush(60)
    assert first.flush(60)
    found = killed()
    assert b"START" not in b"".join(log.read_bytes() for log in found.rglob("*.log"))
    assert deliver(sink, at=found).flush(60)
    assert sent(sink)[-1] == ("FAIL", run_id("open"))
    assert len(sink.got) == 1002


def test_a_delivery_that_was_closed_says_nothing_about_its_runs(deliver: Deliver) -> None:
    first = deliver(Recorder(down=True))
    first.send(run_event("START"))
    first.close(0)
    second = Recorder()
    assert deliver(second).flush(60)
    assert sent(second) == [("START", run_id("run"))]


def test_the_end_of_a_process_can_be_told(deliver: Deliver) -> None:
    sink = Recorder()
    delivery = deliver(sink)
    delivery.send(run_event("START", run="a"))
    delivery.send(run_event("START", run="b"))
    delivery.send(run_event("COMPLETE", run="a"))
    delivery.fail_open_runs()
    delivery.fail_open_runs()
    assert delivery.flush(60)
    assert sent(sink)[3:] == [("FAIL", run_id("b"))]


def test_the_adopter_dies_in_turn(deliver: Deliver, killed: Killed) -> None:
    deliver(Recorder(down=True)).send(run_event("START"))
    found = killed()
    down = Recorder(down=True)
    second = deliver(down, at=found)
    soon(lambda: down.attempts)
    second.send(numbered(1))
    sink = Recorder()
    assert deliver(sink, at=killed(found)).flush(60)
    assert [kind for kind, _ in sent(sink)] == ["START", "FAIL", "OTHER"]


def test_the_dead_go_first_and_in_their_order(deliver: Deliver, killed: Killed) -> None:
    for process in range(3):
        delivery = deliver(Recorder(down=True))
        for number in range(5):
            delivery.send(numbered(process * 5 + number))
    sink = Recorder(batch=4)
    last = deliver(sink, at=killed())
    last.send(numbered(15))
    assert last.flush(60)
    assert sink.numbers == list(range(16))


def test_what_was_adopted_is_removed_while_we_go_on(deliver: Deliver, killed: Killed) -> None:
    deliver(Recorder(down=True)).send(numbered(0))
    found = killed()
    sink = Recorder()
    second = deliver(sink, at=found)
    assert second.flush(60)
    soon(lambda: len(list(found.iterdir())) == 1)
    assert second.counts["recorder"] == DeliveryCounts(1, 0, 0, 0)


def test_each_sink_gets_what_it_still_lacks(deliver: Deliver, killed: Killed) -> None:
    a, b = Recorder("a"), Recorder("b", down=True)
    first = deliver(a, b)
    for number in range(5):
        first.send(numbered(number))
    soon(lambda: first.counts["a"].waiting == 0)
    found = killed()
    only_a, c = Recorder("a"), Recorder("c")
    second = deliver(only_a, c, at=found)
    assert second.flush(60)
    assert only_a.got == c.got == []
    assert any(name.endswith(".log") for name in files_in(found)), "it waits for b"
    second.close(5)
    only_b = Recorder("b")
    third = deliver(only_b, at=found)
    assert third.flush(60)
    assert only_b.numbers == list(range(5))
    third.close(5)
    assert list(found.iterdir()) == []


def test_a_torn_last_line_is_dropped(deliver: Deliver, spool: Path, killed: Killed) -> None:
    """Wherever it tore."""
    first = deliver(Recorder(down=True))
    first.send(run_event("START"))
    first.send(numbered(1))
    (log,) = spool.rglob("*.log")
    whole = log.stat().st_size
    first.send(numbered(2))
    for size in {*range(whole, log.stat().st_size, 50), log.stat().st_size - 1}:
        found = killed()
        (torn,) = found.rglob("*.log")
        os.truncate(torn, size)
        sink = Recorder()
        second = deliver(sink, at=found)
        assert second.flush(60)
        assert [json.loads(event).get("number", "-") for event in sink.got] == ["-", 1, "-"]
        assert sent(sink)[-1] == ("FAIL", run_id("run"))
        second.close(5)
        assert list(found.iterdir()) == []


def test_a_line_that_a_power_cut_damaged(deliver: Deliver, killed: Killed, warnings: list[str]) -> None:
    first = deliver(Recorder(down=True))
    for number in range(3):
        first.send(numbered(number))
    found = killed()
    (log,) = found.rglob("*.log")
    log.write_bytes(log.read_bytes().replace(b'"number":1', bytes(10)))
    sink = Recorder()
    assert deliver(sink, at=found).flush(60)
    assert sink.numbers == [0, 2]
    assert any("1 damaged lines in" in warning for warning in warnings)


def test_a_cursor_that_a_power_cut_damaged(deliver: Deliver, killed: Killed) -> None:
    """Better an event twice than never."""
    sink = Recorder()
    first = deliver(sink)
    first.send(numbered(0))
    assert first.flush(60)
    found = killed()
    (cursor,) = found.rglob("*.cursor")
    content = cursor.read_bytes()
    cursor.write_bytes(bytes(20) + content[20:])
    assert deliver(sink, at=found).flush(60)
    assert sink.numbers == [0, 0]


def test_no_room_for_the_failures(deliver: Deliver, killed: Killed, warnings: list[str]) -> None:
    """They are due as soon as there is."""
    deliver(Recorder(down=True)).send(run_event("START"))
    found = killed()
    (log,) = found.rglob("*.log")
    sink = Recorder()
    with files_no_larger_than(log.stat().st_size + 10):
        second = deliver(sink, at=found)
        assert second.flush(60)
        second.close(5)
    assert sink.got == []
    assert any("cannot be taken over: File too large" in warning for warning in warnings)
    assert deliver(sink, at=found).flush(60)
    assert [kind for kind, _ in sent(sink)] == ["START", "FAIL"]


def test_leftovers_of_all_kinds_do_not_disturb(deliver: Deliver, spool: Path, warnings: list[str]) -> None:
    (spool / "empty").mkdir(parents=True)
    (spool / "mine").mkdir()
    (spool / "mine" / "notes.txt").write_text("not a log")
    (spool / "file").write_text("")
    (spool / "only a lock").mkdir()
    (spool / "only a lock" / "lock").write_text("")
    (spool / "half made").mkdir()
    (spool / "half made" / "lock").write_text("")
    (spool / "half made" / "0123456789abcdef.cursor").write_text("")
    (spool / "strange").mkdir()
    (spool / "strange" / "lock").write_text("")
    (spool / "strange" / "job.log").write_text("")
    sink = Recorder()
    delivery = deliver(sink)
    delivery.send(numbered(0))
    assert delivery.flush(60)
    delivery.close(5)
    assert sorted(path.name for path in spool.iterdir()) == ["file", "mine", "strange"]
    (told,) = warnings
    assert told.startswith(f"The events that a process left in {spool}/strange cannot be taken over: invalid literal")


def test_lines_of_a_later_version_are_left_out(deliver: Deliver, killed: Killed, warnings: list[str]) -> None:
    first = deliver(Recorder(down=True))
    first.send(numbered(0))
    found = killed()
    (log,) = found.rglob("*.log")
    content = b"Z\tnull\t{}"
    log.write_bytes(b"%08x\t%b\n" % (crc32(content), content) + log.read_bytes())
    sink = Recorder()
    assert deliver(sink, at=found).flush(60)
    assert sink.numbers == [0]
    assert any("1 damaged lines" in warning for warning in warnings)


def test_a_log_that_cannot_be_read_is_told_and_left(deliver: Deliver, killed: Killed, warnings: list[str]) -> None:
    deliver(Recorder(down=True)).send(numbered(0))
    found = killed()
    (log,) = found.rglob("*.log")
    log.rename(log.with_suffix(".kept"))
    log.mkdir()
    sink = Recorder()
    second = deliver(sink, at=found)
    second.send(numbered(1))
    assert second.flush(60)
    assert sink.numbers == [1]
    assert any("cannot be taken over: Is a directory" in warning for warning in warnings)
