"""`headwater provenance` shows recorded statements."""

from __future__ import annotations

from pathlib import Path

from tests.cli.running import Run
from tests.cli.stores import event, store_with

HEADINGS = ["When (UTC)", "Event", "By", "Operation", "Purpose", "Run"]


def test_statements_are_shown(run: Run, tmp_path: Path) -> None:
    url = store_with(tmp_path, [event(1)])
    words = ("--agent", "user:ann", "--agent-name", "Ann", "--operation", "export", "--method", "csv")
    context = (
        "--purpose",
        "tax audit",
        "--legal-basis",
        "law",
        "--retention-period",
        "P1Y",
        "--sensitivity",
        "internal",
    )
    at = ("--at", "2026-11-02T08:00", "--parameter", "rows=3", "--parameter", "to=a=b")
    stated = run("provenance", "state", "b", "--event", "accessed", *words, *context, *at, "--store", url)
    assert (stated.code, stated.err) == (0, "")
    assert stated.out.startswith("Recorded. Event ")
    again = run("provenance", "state", "b", "--event", "accessed", *words, *context, *at, "--store", url)
    assert again.out.startswith("Already recorded.")
    listed = run("provenance", "show", "b", "--store", url).out.splitlines()
    assert listed[0].split("  ")[0] == HEADINGS[0]
    assert [each for each in HEADINGS if each not in listed[0]] == []
    told = "2026-11-02 08:00:00  accessed  user ann (Ann)  export csv  tax audit, law, kept P1Y, internal  stated"
    assert " ".join(listed[1].split()) == " ".join(told.split())
    assert " ".join(listed[2].split()).startswith("2026-11-01 00:00:01 created job jobs/job1 transform 00000000-")
    (first, _) = run("provenance", "show", "b", "--store", url, "--json").json
    assert first["operation"] == {"type": "export", "method": "csv", "parameters": {"rows": "3", "to": "a=b"}}


def test_no_provenance(run: Run, tmp_path: Path) -> None:
    declared = event(1)
    del declared["run"], declared["eventType"]
    url = store_with(tmp_path, [declared])
    assert run("provenance", "show", "a", "--store", url).out == "No provenance is recorded.\n"
    assert run("provenance", "show", "a", "--event", "deleted", "--store", url).out == "No matching events.\n"
    assert run("provenance", "show", "a", "--store", url, "--json").json == []


def test_names_are_data(run: Run, tmp_path: Path) -> None:
    url = store_with(tmp_path, [event(1)])
    agent = "user:\x1b[31m[bold]ann"
    assert run("provenance", "state", "b", "--event", "deleted", "--agent", agent, "--store", url).code == 0
    assert r"user \x1b[31m[bold]ann" in run("provenance", "show", "b", "--store", url).out
