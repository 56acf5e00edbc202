"""The commands `headwater records …`, as in a shell."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from headwater.cli.spark import CommandPhase
from headwater.client import Lineage
from tests.cli.conftest import run as run  # noqa: PLC0414 (a fixture)
from tests.cli.running import Run, bare_environment
from tests.records.test_queue import poison, request

ROOT_ID = "invoice-17"


def line(node: str, *parents: str, action: str = "STEP", **more: Any) -> dict[str, Any]:
    return {
        "root_id": ROOT_ID,
        "parent_ids": list(parents or (ROOT_ID,)),
        "action_taken": action,
        "storage_location": f"s3://lake/{node}",
        "node_id": node,
        "recordedAt": "2026-11-16T12:00:00Z",
        **more,
    }


LINES = [line("raw", action="RAW"), line("one", "raw"), line("two", "raw"), line("sum", "one", "two", action="SUM")]


@pytest.fixture
def sent(run: Run, tmp_path: Path) -> Run:
    """Commands in a folder with a store that has four sent and loaded records."""
    (tmp_path / "requests.jsonl").write_text("\n".join(map(json.dumps, LINES)) + "\n\n")
    assert run("records", "send", "requests.jsonl").code == 0
    assert run("records", "work", "--until-empty").out == "4 records loaded, 0 roots archived.\n"
    return run


def test_an_invalid_line_is_refused_by_number_and_the_others_are_accepted(run: Run, tmp_path: Path) -> None:
    bad = {**LINES[0], "node_id": None, "records": [{"node_id": "x"}, {"node_id": 5}]}
    lines = [json.dumps(LINES[0]), "{", "", json.dumps(bad), '"\xff', json.dumps(LINES[1])]
    (tmp_path / "r.jsonl").write_bytes("\n".join(lines).encode("latin-1"))
    result = run("records", "send", "r.jsonl")
    assert (result.code, result.out) == (1, "3 records accepted, 3 refused.\n")
    assert result.err.splitlines() == [
        "Refused r.jsonl line 2: it is not JSON: Expecting property name enclosed in double quotes at character 3",
        "Refused r.jsonl line 4, record 1: node_id is a string, not a number",
        "Refused r.jsonl line 5: it is not UTF-8",
    ]
    told = run("records", "send", "r.jsonl", "--json")
    assert (told.code, told.json["taken"], told.json["node_ids"]) == (1, 3, ["raw", "x", "one"])
    assert told.json["refused"][1] == {
        "file": "r.jsonl",
        "line": 4,
        "record": 1,
        "reason": "node_id is a string, not a number",
    }
    assert told.err == "Error: 3 records or lines were refused.\n"


def test_from_stdin_and_many_at_once(tmp_path: Path) -> None:
    lines = "\n".join(json.dumps(request(f"n{number}")) for number in range(12_000))
    done = headwater("records", "send", "-", cwd=tmp_path, input=lines)
    assert (done.returncode, done.stdout, done.stderr) == (0, "12,000 records accepted, 0 refused.\n", "")
    status = json.loads(headwater("records", "status", "--json", cwd=tmp_path).stdout)
    assert status["load_waiting"] == 12_000


def headwater(*arguments: str, cwd: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "headwater", *arguments],
        cwd=cwd,
        env=bare_environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        **options,
    )


def test_the_tree(sent: Run) -> None:
    assert sent("records", "trace", ROOT_ID).out.splitlines() == [
        "invoice-17",
        "└── raw  RAW  2026-11-16 12:00:00  s3://lake/raw",
        "    ├── one  STEP  2026-11-16 12:00:00  s3://lake/one",
        "    │   └── sum  SUM  2026-11-16 12:00:00  s3://lake/sum  2 parents",
        "    └── two  STEP  2026-11-16 12:00:00  s3://lake/two",
        "        └── sum  see above",
        "",
        "4 records, 1 leaf. Times are UTC.",
    ]
    told = sent("records", "trace", ROOT_ID, "--json").json
    assert [step["node_id"] for step in told["traces"][0]["lineage"]] == ["raw", "one", "two", "sum", "FINISHED"]


def test_problems_are_shown(sent: Run, tmp_path: Path) -> None:
    more = [
        line("late", "lost"),
        line("late", "lost", action="OTHER"),
        line("a", "b"),
        line("b", "a"),
        line("alone", "raw", action="SKIPPED"),
    ]
    (tmp_path / "more.jsonl").write_text("\n".join(map(json.dumps, more)))
    sent("records", "send", "more.jsonl")
    sent("records", "work", "--once")
    out = sent("records", "trace", ROOT_ID).out
    assert "├── lost  not recorded\n│   └── late  " in out
    assert "conflict: 1 other content" in out
    assert "a  STEP  2026-11-16 12:00:00  s3://lake/a  on a cycle\n" in out
    assert "1 parent was never recorded" in out
    assert "2 nodes lie on a cycle." in out
    told = sent("records", "trace", ROOT_ID, "--json").json
    assert (told["orphans"], told["cycle"], len(told["conflicts"])) == (["lost"], ["a", "b"], 1)
    only = sent("records", "trace", ROOT_ID, "--action", "SKIPPED")
    assert "2 records, 1 leaf" in only.out
    assert "sum" not in only.out
    assert "lost" not in only.out


def test_a_deep_root_is_a_list(run: Run, tmp_path: Path) -> None:
    names = [ROOT_ID, *(f"n{number}" for number in range(60))]
    lines = [json.dumps(line(name, names[place])) for place, name in enumerate(names[1:])]
    (tmp_path / "deep.jsonl").write_text("\n".join(lines))
    run("records", "send", "deep.jsonl")
    run("records", "work", "--once")
    out = run("records", "trace", ROOT_ID).out
    assert out.splitlines()[2].split() == ["Node", "Parents", "Action", "When", "(UTC)", "Location"]
    assert len(out.splitlines()) == 60 + 5


def test_an_unknown_root(sent: Run) -> None:
    result = sent("records", "trace", "invoice-71")
    assert (result.code, result.out) == (1, "")
    assert result.err == "Error: Root 'invoice-71' is not known. Closest: invoice-17.\n"


def test_the_trace_queue_and_the_status(sent: Run, tmp_path: Path) -> None:
    assert sent("records", "trace", ROOT_ID, "--enqueue").out.startswith("invoice-17 is on the trace queue.")
    assert sent("records", "status", "--json").json["trace_waiting"] == 1
    assert sent("records", "work", "--once", "--json").json["traced"] == 1
    told = sent("records", "status", "--json").json
    assert (told["hot"], told["archived"], told["trace_waiting"]) == (4, 4, 0)
    assert told["archive"] == str(tmp_path / ".headwater" / "records")
    assert "Archived      4 records in 2 files\n" in sent("records", "status").out
    assert sent("records", "trace", ROOT_ID, "--enqueue", "--action", "RAW").code == 1


def test_search(sent: Run) -> None:
    assert [one["node_id"] for one in sent("records", "find", "--node", "sum", "--json").json] == ["sum"]
    assert sent("records", "find", "--action", "SUM").out.splitlines()[1].split()[0] == "sum"
    assert sent("records", "find", "--location", "s3://elsewhere").out == "No matching records.\n"
    assert len(sent("records", "find", "--since", "2026-11-16", "--root", ROOT_ID, "--json").json) == 4
    limited = sent("records", "find", "--limit", "2").out
    assert "Stopped at 2 rows" in limited


def test_dead_letters(sent: Run, tmp_path: Path) -> None:
    assert sent("records", "dead-letters").out == "There are no dead letters.\n"
    with Lineage(f"sqlite:///{tmp_path}/.headwater/lineage.db") as lineage:
        poison(lineage.records, ["x"])
    assert sent("records", "work", "--once", "--max-tries", "1").out.endswith("1 failed, 1 dead letter.\n")
    (letter,) = sent("records", "dead-letters", "--json").json
    assert (letter["body"], letter["reason"]) == (
        ["x"],
        "the message is not a record: a record is an object, not a list",
    )
    assert "a record is an object" in sent("records", "dead-letters").out
    assert sent("records", "replay").err == "Error: Name the dead letters by their numbers, or all of them by --all.\n"
    assert sent("records", "replay", "99").code == 1
    assert sent("records", "replay", str(letter["id"])).out == "1 dead letter is back in the queue.\n"
    assert sent("records", "replay", "--all", "--json").json == {"replayed": []}


@pytest.mark.parametrize("wrong", ["1", "1x", "-1s", "soon"])
def test_durations_need_a_unit(run: Run, wrong: str) -> None:
    result = run("records", "work", "--once", "--window", wrong)
    assert result.code == 2
    assert "is not a duration. Write 500ms, 30s, 1m, 24h or 7d." in result.err
    assert run("records", "work", "--once", "--compact-at", "25:00").code == 2
    assert run("records", "work", "--once", "--until-empty").code == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_worker_between_two_batches(tmp_path: Path, number: signal.Signals) -> None:
    url = f"sqlite:///{tmp_path}/.headwater/lineage.db"
    with Lineage(url) as lineage:
        lineage.records.send([request(f"n{i}") for i in range(300)])
    worker = subprocess.Popen(
        [sys.executable, "-m", "headwater", "records", "work", "--window", "1s", "--json"],
        cwd=tmp_path,
        env=bare_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with Lineage(url) as lineage:
        deadline = time.monotonic() + 120
        while lineage.records.status().hot < 300 and time.monotonic() < deadline:
            time.sleep(0.02)
    worker.send_signal(number)
    out, err = worker.communicate(timeout=120)
    assert (worker.returncode, err, json.loads(out)["loaded"]) == (0, "", 300)


def test_progress_on_a_terminal(tmp_path: Path) -> None:
    """A bar while records are sent, and a line that is updated while they are loaded."""
    (tmp_path / "r.jsonl").write_text("\n".join(json.dumps(request(f"n{i}")) for i in range(6_000)))
    assert "Sending records" in on_a_terminal("records", "send", "r.jsonl", cwd=tmp_path)
    assert "records loaded" in on_a_terminal("records", "work", "--until-empty", cwd=tmp_path)


def test_the_bar_names_its_phase() -> None:
    phase = CommandPhase()
    assert [phase.describe(0, 0), phase.describe(1, 4)] == ["Reading the plan", "Spark: 1 of 4 tasks"]
    phase.set("Tracing")
    assert [phase.describe(0, 0), phase.describe(1, 4)] == ["Tracing", "Tracing: 1 of 4 tasks"]


def on_a_terminal(*arguments: str, cwd: Path) -> str:
    """The output on stderr, if that is a terminal."""
    ours, theirs = pty.openpty()
    environment = bare_environment() | {"TERM": "xterm", "COLUMNS": "100"}
    process = subprocess.Popen(
        [sys.executable, "-m", "headwater", *arguments],
        cwd=cwd,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            shown += os.read(ours, 65_536)
        except OSError:  # nobody is at the other end any more
            break
    os.close(ours)
    assert process.wait(timeout=300) == 0
    return shown.decode(errors="replace")
