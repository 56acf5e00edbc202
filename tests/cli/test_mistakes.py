"""Every error is one line on stderr and an exit code."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import Run, process, top_level_commands
from tests.cli.stores import REPORT, RUN_A

MISTAKES: Mapping[str, tuple[tuple[str, ...], int, str]] = {
    "unknown dataset": (("upstream", "nowhere"), 1, "Dataset 'nowhere' is not known. Closest: "),
    "unknown dataset, newline": (("dataset", "no\nwhere"), 1, r"Dataset 'no\nwhere' is not known"),
    "unknown column": (("downstream", REPORT, "--column", "amont"), 1, "Columns: country, day, orders, revenue."),
    "unknown partition": (("upstream", REPORT, "--partition", "day=1"), 1, "Latest partitions: day=2026-11-12, "),
    "unknown run": (("run", "nope"), 1, "Run 'nope' is not known."),
    "unknown run in diff": (("diff", RUN_A, "nope"), 1, "Run 'nope' is not known."),
    "column and partition": (("upstream", REPORT, "-c", "day", "-p", "day=1"), 1, "not for both at once"),
    "run state": (("runs", "--state", "SLEEPING"), 1, "States: UNKNOWN, START"),
    "unknown dataset of runs": (("runs", "--dataset", "nowhere"), 1, "Dataset 'nowhere' is not known."),
    "impact of nothing": (("impact", "nowhere"), 1, "Dataset 'nowhere' is not known."),
    "quality of nothing": (("quality", "nowhere"), 1, "Dataset 'nowhere' is not known."),
    "no file of quality": (("quality", REPORT, "--set", "nowhere.json"), 1, "nowhere.json: No such file"),
    "provenance of nothing": (("provenance", "show", "nowhere"), 1, "Dataset 'nowhere' is not known."),
    "event of provenance": (("provenance", "show", REPORT, "--event", "seen"), 1, "Events: created, modified, "),
    "statement without event": (("provenance", "state", REPORT), 2, "--event"),
    "statement by nobody": (("provenance", "state", REPORT, "--event", "accessed", "--agent", "ann"), 2, "not TYPE:ID"),
    "statement by a name": (("provenance", "state", REPORT, "--event", "accessed", "--agent-name", "x"), 2, "--agent"),
    "statement with half a parameter": (
        ("provenance", "state", REPORT, "--event", "accessed", "--parameter", "x"),
        2,
        "'x' is not NAME=VALUE",
    ),
    "statement that cannot be": (
        ("provenance", "state", REPORT, "--event", "accessed", "--sensitivity", "top"),
        1,
        "context.sensitivity_level must be one of confidential, internal, public, restricted, not 'top'.",
    ),
    "time": (("upstream", REPORT, "--as-of", "yesterday"), 2, "'yesterday' is not a date or a time"),
    "time out of range": (("runs", "--since", "0001-01-01T00:00+23:59"), 2, "is not a date or a time"),
    "depth": (("upstream", REPORT, "--depth", "0"), 2, "--depth"),
    "depth not a number": (("impact", REPORT, "--depth", "deep"), 2, "--depth"),
    "limit": (("datasets", "--limit", "0"), 2, "--limit"),
    "huge limit": (("audit", "--limit", "9" * 30), 2, "--limit"),
    "huge before": (("audit", "--before", "9" * 30), 2, "--before"),
    "missing argument": (("upstream",), 2, "Missing argument 'DATASET'. See headwater upstream --help."),
    "missing file": (("ingest",), 2, "See headwater ingest --help."),
    "unknown option": (("runs", "--colour"), 2, "--colour"),
    "one argument too many": (("run", "a", "b"), 2, "b"),
    "unknown command": (("upstrem",), 2, "Did you mean 'upstream'?"),
    "group without command": (("db",), 2, "See headwater db --help."),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_wrong_usage_is_one_line(run: Run, demo_url: str, mistake: str) -> None:
    arguments, code, words = MISTAKES[mistake]
    known = arguments[0] in top_level_commands() and arguments[0] != "db"
    result = run(*arguments, *(["--store", demo_url] if known else []))
    assert result.out == ""
    assert result.err.startswith("Error: ")
    assert result.err.count("\n") == 1
    assert result.err.endswith("\n")
    assert words in result.err
    assert result.code == code


QUERIES = [
    ("datasets",),
    ("dataset", "a"),
    ("upstream", "a"),
    ("downstream", "a"),
    ("impact", "a"),
    ("quality", "a"),
    ("runs",),
    ("run", "a"),
    ("diff", "a", "b"),
    ("provenance", "show", "a"),
    ("provenance", "state", "a", "--event", "accessed"),
    ("audit",),
    ("verify",),
    ("checkpoint",),
    ("prove", "1"),
    ("keys", "show"),
    ("keys", "rotate"),
    ("db", "upgrade"),
    ("db", "max-direct-edges", "3"),
]


@pytest.mark.parametrize("arguments", QUERIES, ids=" ".join)
def test_queries_create_no_store(run: Run, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    result = run(*arguments, "--store", "sqlite:///mistyped/lineage.db")
    assert (result.code, result.out) == (1, "")
    assert re.fullmatch(r"Error: There is no store at sqlite:///.*mistyped/lineage\.db\..*\n", result.err)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("lineage.db", "is not a store address. Use sqlite:///"),
        ("mysql://host/db", "No store can live at a 'mysql' address."),
        ("sqlite:///.", "does not answer"),
        ("bad\nurl", r"bad\nurl"),
    ],
)
def test_an_invalid_url_is_one_line(run: Run, url: str, words: str) -> None:
    result = run("datasets", "--store", url)
    assert (result.code, result.out, result.err.count("\n")) == (1, "", 1)
    assert words in result.err


def test_a_file_that_is_not_a_database(run: Run, tmp_path: Path) -> None:
    (tmp_path / "notes.db").write_text("these are my notes\n" * 100)
    result = run("datasets", "--store", "sqlite:///notes.db")
    assert (result.code, result.err.count("\n")) == (1, 1)
    assert "cannot be read as a database" in result.err


def test_the_store_comes_from_the_environment(run: Run, demo_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_STORE", demo_url)
    assert len(run("datasets", "--json").json) == 8
    assert run("datasets", "--store", "sqlite:///other.db").code == 1


def test_an_internal_error_is_one_line(run: Run, demo_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(*_: Any, **__: Any) -> None:
        raise KeyError("two\nlines")

    monkeypatch.setattr("headwater.store.store.Store.datasets", fault)
    result = run("datasets", "--store", demo_url)
    assert (result.code, result.err.count("\n")) == (1, 1)
    assert "HEADWATER_DEBUG=1 shows the traceback" in result.err
    monkeypatch.setenv("HEADWATER_DEBUG", "1")
    with pytest.raises(KeyError):
        run("datasets", "--store", demo_url)


def test_debug_shows_the_traceback(tmp_path: Path) -> None:
    result = process("datasets", "--store", "sqlite:///no.db", cwd=tmp_path, env={"HEADWATER_DEBUG": "1"})
    assert result.returncode == 1
    assert "Traceback" in result.stderr
    assert "StoreMissing" in result.stderr
