"""Ingests events from files of every form, from stdin and from pipes."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from headwater.cli.events import FileEvent, UnreadableFile, _read
from tests.cli.running import Result, Run, process
from tests.cli.stores import FIVE, event, lines


@pytest.mark.parametrize(
    "content",
    [
        lines(FIVE),
        "\n\n" + "\n\n".join(map(json.dumps, FIVE)),
        "\r\n".join(map(json.dumps, FIVE)),
        "\ufeff" + lines(FIVE),
        json.dumps(FIVE),
        "\n  " + json.dumps(FIVE, indent=2),
        "\ufeff" + json.dumps(FIVE),
    ],
    ids=["lines", "blank lines", "CRLF", "BOM", "list", "indented list", "list with BOM"],
)
def test_forms_of_files(run: Run, tmp_path: Path, content: str) -> None:
    (tmp_path / "events").write_bytes(content.encode())
    result = run("ingest", "events")
    assert (result.code, result.err) == (0, "")
    assert result.out == "5 events ingested, 0 duplicates, 0 flagged, 0 refused.\n"
    assert (tmp_path / ".headwater" / "lineage.db").exists()
    again = run("ingest", "events", "--json")
    assert again.json == {"taken": 0, "duplicates": 5, "flagged": [], "refused": []}


@pytest.mark.parametrize("indent", [None, 2])
def test_one_event_in_a_file(run: Run, tmp_path: Path, indent: int | None) -> None:
    (tmp_path / "event.json").write_text(json.dumps(FIVE[0], indent=indent))
    assert run("ingest", "event.json", "--json").json["taken"] == 1


@pytest.mark.parametrize("content", ["", "\n \n", "[]"])
def test_no_events_at_all(run: Run, tmp_path: Path, content: str) -> None:
    (tmp_path / "empty").write_text(content)
    assert run("ingest", "empty") == Result(0, "0 events ingested, 0 duplicates, 0 flagged, 0 refused.\n", "")


def test_stdin(tmp_path: Path) -> None:
    result = process("ingest", "-", "--json", cwd=tmp_path, input=lines([*FIVE, {}]))
    assert result.returncode == 1
    refused = json.loads(result.stdout)["refused"]
    assert refused == [
        {
            "file": "-",
            "index": 5,
            "line": 6,
            "path": "$",
            "reason": "neither a run, a job nor a dataset: one of these keys is needed",
        }
    ]


def test_a_named_pipe(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_text(lines(FIVE))
    os.mkfifo(tmp_path / "fifo")
    with subprocess.Popen(["sh", "-c", "cat events.jsonl > fifo"], cwd=tmp_path):
        result = process("ingest", "fifo", cwd=tmp_path)
    assert result.stdout == "5 events ingested, 0 duplicates, 0 flagged, 0 refused.\n"


def test_events_are_stored_unchanged(run: Run, tmp_path: Path) -> None:
    """Byte for byte: a signature or hash of the producer can be checked later."""
    spelled = json.dumps(FIVE[0]).replace(", ", " ,  ")
    (tmp_path / "events.jsonl").write_text(f"  {spelled}  \n")
    run("ingest", "events.jsonl")
    with sqlite3.connect(tmp_path / ".headwater" / "lineage.db") as database:
        assert database.execute("select body from event").fetchall() == [(spelled.encode(),)]
    database.close()


def test_lines_are_read_one_by_one() -> None:
    """However large the file is: lines are read only when they are needed."""

    class Counting(BytesIO):
        read_so_far = 0

        def __next__(self) -> bytes:
            self.read_so_far += 1
            return super().__next__()

    stream = Counting(lines([event(n) for n in range(1000)]).encode())
    found = _read("f", stream)
    for _ in range(3):
        assert isinstance(next(found), FileEvent)
    assert stream.read_so_far == 3
    assert not any(isinstance(item, UnreadableFile) for item in found)


def test_large_events_make_small_batches(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from headwater.store.store import Store

    sizes = []
    ingest_many = Store.ingest_many

    def counting(self: Store, events: Any, **options: Any) -> Any:
        batch = list(events)
        sizes.append(len(batch))
        return ingest_many(self, batch, **options)

    monkeypatch.setattr(Store, "ingest_many", counting)
    monkeypatch.setattr("headwater.cli.intake._MAX_BATCH_BYTES", 3 * len(lines([event(100)])))
    (tmp_path / "events.jsonl").write_text(lines([event(n) for n in range(100, 110)]))
    assert run("ingest", "events.jsonl", "--json").json["taken"] == 10
    assert sizes == [3, 3, 3, 1]
