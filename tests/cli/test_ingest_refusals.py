"""A refused or flagged event does not affect the rest of its file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from headwater.cli.text import printable
from tests.cli.running import Run
from tests.cli.stores import FIVE, event, lines

BROKEN = [FIVE[0], {"eventTime": "2026-11-01T00:00:00Z"}, FIVE[1], 7, FIVE[2]]


def test_a_refused_event_does_not_affect_others(run: Run, tmp_path: Path) -> None:
    (tmp_path / "broken.jsonl").write_text(lines(BROKEN) + '{"cut off')
    (tmp_path / "broken.json").write_text(json.dumps([*BROKEN, "text", None]))
    (tmp_path / "good.jsonl").write_text(lines(FIVE[3:]))
    result = run("ingest", "broken.jsonl", "broken.json", "good.jsonl")
    assert result.code == 1
    assert result.out == "5 events ingested, 3 duplicates, 0 flagged, 7 refused.\n"
    told = result.err.splitlines()
    assert told[0] == (
        "Refused broken.jsonl line 2, $: neither a run, a job nor a dataset: one of these keys is needed"
    )
    assert told[1] == "Refused broken.jsonl line 4, $: an event is a JSON object, not a number"
    assert told[2].startswith("Refused broken.jsonl line 6, $: not JSON (")
    assert told[3].startswith("Refused broken.json event [1], $: ")
    assert told[5:] == [
        "Refused broken.json event [5], $: an event is a JSON object, not a string",
        "Refused broken.json event [6], $: an event is a JSON object, not null",
    ]


def test_a_broken_first_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "broken.jsonl").write_text('{"eventType": "STA\n' + lines(FIVE))
    result = run("ingest", "broken.jsonl")
    assert (result.code, result.err.count("\n")) == (1, 1)
    assert result.out == "5 events ingested, 0 duplicates, 0 flagged, 1 refused.\n"


@pytest.mark.parametrize("place", [0, 1, 199, 200, 250])
def test_strict_stops_at_the_first_refusal(run: Run, tmp_path: Path, place: int) -> None:
    events: list[Any] = [event(n) for n in range(260)]
    events.insert(place, {})
    events.insert(place + 2, {})
    (tmp_path / "events.jsonl").write_text(lines(events))
    (tmp_path / "more.jsonl").write_text(lines([event(1000)]))
    result = run("ingest", "events.jsonl", "more.jsonl", "--strict", "--json")
    assert result.code == 1
    assert result.json["taken"] == place
    assert [refused["line"] for refused in result.json["refused"]] == [place + 1]
    assert result.err == "Error: 1 event or file was refused.\n"


def test_deviations_are_flagged(run: Run, tmp_path: Path) -> None:
    odd = event(1) | {"run": {"runId": "not-a-uuid"}, "eventTime": "2026-11-01T00:00:00"}
    (tmp_path / "events.jsonl").write_text(lines([event(0), odd]))
    result = run("ingest", "events.jsonl")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("2 events ingested, 0 duplicates, 1 flagged, 0 refused. ")
    assert "--verbose" in result.out
    verbose = run("ingest", "events.jsonl", "--verbose")
    assert verbose.out == "0 events ingested, 2 duplicates, 1 flagged, 0 refused.\n"
    assert verbose.err == (
        "Flagged events.jsonl line 2, $.eventTime: no time zone; read as UTC\n"
        "Flagged events.jsonl line 2, $.run.runId: not a UUID\n"
    )
    assert run("ingest", "events.jsonl", "--json").json["flagged"] == [
        {
            "file": "events.jsonl",
            "index": 1,
            "line": 2,
            "problems": [
                {"path": "$.eventTime", "reason": "no time zone; read as UTC"},
                {"path": "$.run.runId", "reason": "not a UUID"},
            ],
        }
    ]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"hello\nworld\n", "Error: notes.txt is not JSON (Expecting value"),
        (bytes(range(256)), "Error: notes.txt is not UTF-8"),
        (b"5\n", "Error: notes.txt holds neither an event nor a list of events."),
        (b'"text"', "Error: notes.txt holds neither an event nor a list of events."),
        (b"[" * 100_000, "Error: notes.txt is nested too deeply to read."),
        (json.dumps(FIVE, indent=1).encode()[:-30], "Error: notes.txt is not JSON ("),
    ],
    ids=["prose", "binary", "number", "string", "deep", "cut off"],
)
def test_a_file_without_events_is_one_line(run: Run, tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "notes.txt").write_bytes(content)
    (tmp_path / "good.jsonl").write_text(lines(FIVE))
    result = run("ingest", "notes.txt", "good.jsonl")
    assert result.code == 1
    assert result.err.startswith(words)
    assert result.err.count("\n") == 1
    assert result.out == "5 events ingested, 0 duplicates, 0 flagged, 1 refused.\n"
    refused = run("ingest", "notes.txt", "--json").json["refused"]
    assert [(one["file"], one["index"], one["line"], one["path"]) for one in refused] == [
        ("notes.txt", None, None, "$")
    ]


@pytest.mark.parametrize("missing", ["nowhere.jsonl", ".", "no\nwhere"])
def test_a_missing_file_stops_before_anything_is_ingested(run: Run, tmp_path: Path, missing: str) -> None:
    (tmp_path / "good.jsonl").write_text(lines(FIVE))
    result = run("ingest", "good.jsonl", missing)
    assert (result.code, result.out, result.err.count("\n")) == (1, "", 1)
    assert printable(missing) in result.err
    assert not (tmp_path / ".headwater").exists()


def test_an_unreadable_file(run: Run, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("not run: root may read everything")
    (tmp_path / "secret.jsonl").write_text(lines(FIVE))
    (tmp_path / "secret.jsonl").chmod(0)
    result = run("ingest", "secret.jsonl")
    assert (result.code, result.err) == (1, "Error: Cannot read secret.jsonl: Permission denied.\n")


def test_a_truncated_file(run: Run, tmp_path: Path) -> None:
    broken = Path("/proc/self/mem")  # can be opened, and not read
    if not broken.exists():
        pytest.skip("not run: this system has no /proc")
    (tmp_path / "good.jsonl").write_text(lines(FIVE))
    result = run("ingest", str(broken), "good.jsonl")
    assert (result.code, result.err) == (1, "Error: /proc/self/mem cannot be read: Input/output error.\n")
    assert result.out == "5 events ingested, 0 duplicates, 0 flagged, 1 refused.\n"
