"""The command line: what a person and what a program see, on stdout, on stderr and as the exit code."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import typer.main

import headwater as hw
from headwater.cli.app import app
from headwater.cli.events import Found, Unreadable, _read
from headwater.cli.failures import run_app
from headwater.cli.options import DEFAULT_STORE
from headwater.cli.text import duration, printable
from headwater.examples import orders_events
from headwater.model.plain import plain

DOCS = Path(__file__).parents[1] / "docs" / "cli.md"
REPORT = "shop.daily_revenue"
FAILED_RUN = "01a1cd84-e0c0-7783-9526-951d4e4e3b8b"
RUN_A, RUN_B = "01a1cda9-7fc0-77c6-880f-ee4e7971a120", "01a1d2b4-6480-7d27-ae6b-c938176b64c9"

CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e]")
"""What a terminal would act on. A newline is ours; within a name it has to be escaped, too."""

OUR_VARIABLES = ("HEADWATER_STORE", "HEADWATER_DEBUG", "FORCE_COLOR", "NO_COLOR", "COLUMNS", "TTY_COMPATIBLE")
"""What of the environment could change an output."""

ODD_NAMES = [
    "[red]markup[/red]",
    "[/]",
    "two\nlines",
    "\x1b[31mred\x1b[0m",
    "\x9b31mC1",
    "bell\x07tab\tback\\slash",
    "emoji 🌊👨‍👩‍👧:smile:",
    "quote\"'`$(rm)",
    "\u202eright to left",
    "日本語",
    "  ",
    "-dash",
    "#a@b",
    "x" * 500,
]


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Result]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run a command in this process, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    for name in OUR_VARIABLES:
        monkeypatch.delenv(name, raising=False)

    def run_command(*arguments: str) -> Result:
        capsys.readouterr()
        code = run_app(app, list(arguments))
        return Result(code, *capsys.readouterr())

    return run_command


@pytest.fixture(scope="module")
def demo_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store with the demo's events, for questions only."""
    url = f"sqlite:///{tmp_path_factory.mktemp('demo')}/demo.db"
    with hw.connect(url) as lineage:
        lineage.ingest_many(orders_events())
    return url


@pytest.fixture
def ask(run: Run, demo_url: str) -> Run:
    return lambda *arguments: run(*arguments, "--store", demo_url)


def bare_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in OUR_VARIABLES}


def process(*arguments: str, cwd: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command as its own process, the way a shell does."""
    environment = bare_environment() | options.pop("env", {})
    return subprocess.run(
        [sys.executable, "-m", "headwater", *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
        **options,
    )


def event(number: int = 0, inputs: Sequence[str] = ("a",), outputs: Sequence[str] = ("b",), **more: Any) -> Any:
    """A run that completed; ``number`` sets it apart from others."""
    return {
        "eventType": "COMPLETE",
        "eventTime": f"2026-11-01T00:{number // 60:02d}:{number % 60:02d}Z",
        "run": {"runId": f"00000000-0000-4000-8000-{number:012d}"},
        "job": {"namespace": "jobs", "name": f"job{number}"},
        "inputs": [{"namespace": "lake", "name": name} for name in inputs],
        "outputs": [{"namespace": "lake", "name": name} for name in outputs],
        "producer": "https://headwater.example/tests",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        **more,
    }


def lines(events: Sequence[Any]) -> str:
    return "".join(json.dumps(one) + "\n" for one in events)


def store_with(path: Path, events: Sequence[Any]) -> str:
    url = f"sqlite:///{path / 'store.db'}"
    with hw.connect(url) as lineage:
        lineage.ingest_many(events)
    return url


# -- starting ---------------------------------------------------------------------------------------------------------


def test_version_and_module(tmp_path: Path) -> None:
    result = process("--version", cwd=tmp_path)
    assert (result.returncode, result.stdout, result.stderr) == (0, f"headwater {hw.__version__}\n", "")


def test_the_entry_point_is_installed(tmp_path: Path) -> None:
    command = Path(sys.executable).with_name("headwater")
    if not command.exists():
        pytest.skip("not run: headwater is not installed beside this Python")
    result = subprocess.run([command, "--version"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert result.stdout == f"headwater {hw.__version__}\n"


@pytest.mark.parametrize("arguments", [(), ("--help",), ("-h",)])
def test_help_lists_every_command_in_its_group(run: Run, arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert (result.code, result.err) == (0, "")
    for heading in ("Start here:", "Where data comes from and goes:", "What ran:", "Proof and upkeep:"):
        assert f"\n{heading}\n" in result.out
    for name in top_level_commands():
        assert re.search(rf"^  {name}  +\S", result.out, re.MULTILINE), name


def test_starting_imports_nothing_heavy(tmp_path: Path) -> None:
    code = "import sys, headwater.cli.app; print(*{name.split('.')[0] for name in sys.modules})"
    result = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert not {"pyspark", "sqlalchemy", "alembic", "openlineage", "rich"} & set(result.stdout.split())


def test_asking_never_imports_pyspark(tmp_path: Path, demo_url: str) -> None:
    code = (
        "import sys\nfrom headwater.cli.app import app\nfrom headwater.cli.failures import run_app\n"
        f"run_app(app, ['upstream', {REPORT!r}, '--store', {demo_url!r}])\n"
        "assert 'pyspark' not in sys.modules and 'alembic' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)


def test_the_default_store_is_the_librarys() -> None:
    from headwater.store.engine import DEFAULT_URL

    assert DEFAULT_STORE == DEFAULT_URL


# -- mistakes ---------------------------------------------------------------------------------------------------------

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
def test_a_mistake_is_one_line(run: Run, demo_url: str, mistake: str) -> None:
    arguments, code, words = MISTAKES[mistake]
    known = arguments[0] in top_level_commands() and arguments[0] != "db"
    result = run(*arguments, *(["--store", demo_url] if known else []))
    assert result.out == ""
    assert result.err.startswith("Error: ")
    assert result.err.count("\n") == 1
    assert result.err.endswith("\n")
    assert words in result.err
    assert result.code == code


ASKING = [
    ("datasets",),
    ("dataset", "a"),
    ("upstream", "a"),
    ("downstream", "a"),
    ("impact", "a"),
    ("runs",),
    ("run", "a"),
    ("diff", "a", "b"),
    ("audit",),
    ("verify",),
    ("db", "upgrade"),
]


@pytest.mark.parametrize("arguments", ASKING, ids=" ".join)
def test_asking_creates_no_store(run: Run, tmp_path: Path, arguments: tuple[str, ...]) -> None:
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
def test_a_bad_address_is_one_line(run: Run, url: str, words: str) -> None:
    result = run("datasets", "--store", url)
    assert (result.code, result.out, result.err.count("\n")) == (1, "", 1)
    assert words in result.err


def test_a_file_that_is_no_database(run: Run, tmp_path: Path) -> None:
    (tmp_path / "notes.db").write_text("these are my notes\n" * 100)
    result = run("datasets", "--store", "sqlite:///notes.db")
    assert (result.code, result.err.count("\n")) == (1, 1)
    assert "cannot be read as a database" in result.err


def test_the_store_comes_from_the_environment(run: Run, demo_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_STORE", demo_url)
    assert len(run("datasets", "--json").json) == 8
    assert run("datasets", "--store", "sqlite:///other.db").code == 1


def test_a_fault_of_ours_is_one_line_too(run: Run, demo_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(*_: Any, **__: Any) -> None:
        raise KeyError("two\nlines")

    monkeypatch.setattr("headwater.store.store.Store.datasets", fault)
    result = run("datasets", "--store", demo_url)
    assert (result.code, result.err.count("\n")) == (1, 1)
    assert "HEADWATER_DEBUG=1 shows where" in result.err
    monkeypatch.setenv("HEADWATER_DEBUG", "1")
    with pytest.raises(KeyError):
        run("datasets", "--store", demo_url)


def test_debug_shows_the_traceback(tmp_path: Path) -> None:
    result = process("datasets", "--store", "sqlite:///no.db", cwd=tmp_path, env={"HEADWATER_DEBUG": "1"})
    assert result.returncode == 1
    assert "Traceback" in result.stderr
    assert "StoreMissing" in result.stderr


def test_ctrl_c_is_quiet(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "headwater", "ingest", "-", "--store", "sqlite:///s.db"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as waiting:
        while not (tmp_path / "s.db").exists() and waiting.poll() is None:
            time.sleep(0.05)
        time.sleep(0.5)
        waiting.send_signal(signal.SIGINT)
        assert waiting.communicate(timeout=30) == (b"", b"")
    assert waiting.returncode == 130


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_reader_that_leaves_is_no_error(tmp_path: Path, form: tuple[str, ...]) -> None:
    url = store_with(tmp_path, [event(n, ["a"], [f"{n}{'x' * 2000}"]) for n in range(100)])
    command = [sys.executable, "-m", "headwater", "downstream", "a", "--store", url, *form]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as left:
        assert left.stdout is not None
        assert left.stderr is not None
        assert left.stdout.readline()
        left.stdout.close()
        assert left.stderr.read() == b""


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_full_disk_is_one_line(demo_url: str, form: tuple[str, ...]) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("not run: this system has no /dev/full")
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "headwater", "datasets", "--store", demo_url, *form]
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (result.returncode, result.stderr) == (1, "Error: No space left on device.\n")


def test_a_closed_stdout_is_survived(demo_url: str) -> None:
    command = shlex.join([sys.executable, "-m", "headwater", "datasets", "--store", demo_url])
    result = subprocess.run(["sh", "-c", f"{command} >&-"], stderr=subprocess.PIPE, text=True, check=False)
    assert result.stderr == ""


# -- answers ----------------------------------------------------------------------------------------------------------

ANSWERS: Mapping[str, tuple[tuple[str, ...], Callable[[Any], Any]]] = {
    "datasets": (("datasets",), lambda s: s.datasets()),
    "datasets, search": (("datasets", "ORDERS"), lambda s: s.datasets("orders")),
    "datasets, namespace": (
        ("datasets", "--namespace", "postgres://erp:5432"),
        lambda s: s.datasets(namespace="postgres://erp:5432"),
    ),
    "datasets, kind": (("datasets", "--kind", "file"), lambda s: s.datasets(kind="file")),
    "datasets, owner": (("datasets", "--owner", "team:data"), lambda s: s.datasets(owner="team:data")),
    "datasets, tag": (("datasets", "--tag", "tier=1"), lambda s: s.datasets(tag="tier=1")),
    "datasets, limit": (("datasets", "-n", "2"), lambda s: s.datasets(limit=2)),
    "datasets, none": (("datasets", "zebra"), lambda s: []),
    "dataset": (("dataset", REPORT), lambda s: s.dataset(REPORT)),
    "upstream": (("upstream", REPORT), lambda s: s.upstream(REPORT)),
    "upstream, column": (("upstream", REPORT, "-c", "revenue"), lambda s: s.upstream(REPORT, column="revenue")),
    "upstream, partition": (
        ("upstream", REPORT, "-p", "day=2026-11-12"),
        lambda s: s.upstream(REPORT, partition="day=2026-11-12"),
    ),
    "upstream, depth": (("upstream", REPORT, "-d", "1"), lambda s: s.upstream(REPORT, depth=1)),
    "upstream, as of": (
        ("upstream", REPORT, "--as-of", "2026-11-12T13:00+01:00"),
        lambda s: s.upstream(REPORT, as_of=utc("2026-11-12T12:00:00+00:00")),
    ),
    "downstream": (("downstream", "raw/orders"), lambda s: s.downstream("raw/orders")),
    "downstream, whole name": (
        ("downstream", "s3://shop-lake/raw/customers", "--column", "email", "--depth", "1"),
        lambda s: s.downstream("s3://shop-lake/raw/customers", column="email", depth=1),
    ),
    "impact": (("impact", "raw/orders"), lambda s: s.impact("raw/orders")),
    "impact, column": (
        ("impact", "raw/orders", "--column", "amount", "--depth", "2", "--as-of", "2026-11-13"),
        lambda s: s.impact("raw/orders", column="amount", depth=2, as_of=utc("2026-11-13T00:00:00+00:00")),
    ),
    "runs": (("runs",), lambda s: s.runs()),
    "runs, filters": (
        ("runs", "--job", "enrich_orders", "--namespace", "shop", "--state", "complete", "--since", "2026-11-12"),
        lambda s: s.runs(job="enrich_orders", namespace="shop", state="COMPLETE", since=utc("2026-11-12T00:00:00Z")),
    ),
    "runs, dataset": (
        ("runs", "--dataset", REPORT, "--until", "2026-11-11", "--limit", "3"),
        lambda s: s.runs(dataset=REPORT, until=utc("2026-11-11T00:00:00Z"), limit=3),
    ),
    "run": (("run", FAILED_RUN), lambda s: s.run(FAILED_RUN)),
    "diff": (("diff", RUN_A, RUN_B), lambda s: s.diff(RUN_A, RUN_B)),
    "audit": (("audit", "--limit", "5"), lambda s: s.audit(limit=5)),
    "audit, filters": (
        ("audit", "--event-type", "event.ingested", "--resource", FAILED_RUN, "--before", "40"),
        lambda s: s.audit(event_type="event.ingested", resource=FAILED_RUN, before=40),
    ),
    "audit, nobody": (("audit", "--actor", "nobody", "--correlation-id", "x"), lambda s: []),
    "verify": (("verify",), lambda s: dict(zip(("holds", "entries", "head"), (True, *s.verify()), strict=True))),
}


def utc(text: str) -> Any:
    from datetime import datetime

    return datetime.fromisoformat(text)


@pytest.mark.parametrize("answer", ANSWERS)
def test_json_is_the_librarys_answer(ask: Run, demo_url: str, answer: str) -> None:
    arguments, expected = ANSWERS[answer]
    result = ask(*arguments, "--json")
    assert (result.code, result.err) == (0, "")
    assert result.out.isascii()
    with hw.connect(demo_url, create=False) as lineage:
        assert result.json == plain(expected(lineage))


@pytest.mark.parametrize("answer", ANSWERS)
def test_text_is_plain_lines(ask: Run, answer: str) -> None:
    """Into a pipe: no colour, no blanks at the end of a line, nothing cut."""
    result = ask(*ANSWERS[answer][0])
    assert (result.code, result.err) == (0, "")
    assert result.out.endswith("\n")
    assert not CONTROL.search(result.out)
    assert "..." not in result.out
    assert not re.search(r" $", result.out, re.MULTILINE)


def test_upstream_of_a_dataset(ask: Run) -> None:
    result = ask("upstream", REPORT)
    assert result.out.splitlines()[0] == "s3://shop-lake/gold/daily_revenue"
    assert "└── s3://shop-lake/silver/orders_enriched\n" in result.out
    assert "derived from, declared by erp/export_fx_rates, no run\n" in result.out
    assert re.search(r"filtered from \(FILTER, TRANSFORMATION\), by shop/clean_orders, run 01a1d2a2-\S+\n", result.out)
    assert result.out.endswith("\n6 datasets, deepest 3 hops.\n")


def test_columns_say_in_words_how_they_depend(ask: Run) -> None:
    out = ask("upstream", REPORT, "--column", "revenue").out
    assert "raw/fx_rates#rate  direct\n" in out
    assert "raw/orders#status  indirect\n" in out
    assert "erp.public.fx_rates (as a whole)  unknown\n" in out
    assert "nobody recorded which columns" in out
    assert "17 columns in 6 datasets, deepest 3 hops.\n" in out
    masked = ask("downstream", "raw/customers", "--column", "email", "--depth", "1").out
    assert "TRANSFORMATION, masked, sha2(lower(email), 256), by shop/enrich_orders, run " in masked


def test_what_was_cut_says_so(ask: Run) -> None:
    assert ask("upstream", REPORT, "--depth", "2").out.endswith("\nCut at depth 2: there is more.\n")
    assert "Cut at" not in ask("upstream", REPORT, "--depth", "3").out


def test_as_of_looks_back(ask: Run) -> None:
    assert "fx_rates" in ask("upstream", REPORT).out
    before = ask("upstream", REPORT, "--as-of", "2026-11-13").out
    assert "fx_rates" not in before
    assert before.endswith("4 datasets, deepest 3 hops, as of 2026-11-13 00:00:00 UTC.\n")


def test_nothing_is_said_plainly(ask: Run) -> None:
    assert ask("upstream", "raw/orders").out == "s3://shop-lake/raw/orders\nNothing upstream is recorded.\n"
    empty = ask("downstream", "raw/orders", "--as-of", "2020-01-01").out
    assert "Nothing downstream is recorded, as of 2020-01-01 00:00:00 UTC.\n" in empty
    assert "reaches no other asset.\n" in ask("impact", REPORT).out
    assert ask("datasets", "zebra").out == "No dataset fits.\n"
    assert ask("runs", "--state", "ABORT").out == "No run fits.\n"
    assert ask("audit", "--actor", "nobody").out == "No entry fits.\n"


def test_an_empty_store_says_so(run: Run, tmp_path: Path) -> None:
    url = store_with(tmp_path, [])
    assert run("datasets", "--store", url).out == "No datasets are recorded.\n"
    assert run("runs", "--store", url).out == "No runs are recorded.\n"
    assert run("audit", "--store", url).out == "The audit log is empty.\n"
    assert run("verify", "--store", url).out == "The audit log holds: 0 entries.\n"
    for command in ("datasets", "runs", "audit"):
        assert run(command, "--store", url, "--json").out == "[]\n"
    assert run("upstream", "a", "--store", url).err.endswith("The store holds no datasets yet.\n")


def test_a_cycle_is_named(run: Run, tmp_path: Path) -> None:
    url = store_with(tmp_path, [event(1, ["a"], ["b"]), event(2, ["b"], ["a"])])
    out = run("upstream", "b", "--store", url).out
    assert "1 dataset, deepest 1 hop.\n" in out
    assert "It is part of a cycle" in out


def test_a_deep_answer_is_a_list(run: Run, tmp_path: Path) -> None:
    url = store_with(tmp_path, [event(n, [f"t{n}"], [f"t{n + 1}"]) for n in range(120)])
    out = run("downstream", "t0", "--store", url).out
    assert re.search(r"^2 +lake/t2 +lake/t1 +derived from, by jobs/job1, run \S+$", out, re.MULTILINE)
    assert out.endswith("100 datasets, deepest 100 hops.\nCut at depth 100: there is more.\n")


def test_a_job_that_is_an_end_says_so(run: Run, tmp_path: Path) -> None:
    facet = {"_producer": "p", "_schemaURL": "s"}
    source = {"type": "JOB", "namespace": "elsewhere", "name": "generator"}
    target = {"type": "DATASET", "namespace": "lake", "name": "b", "inputs": [source]}
    job = {"namespace": "jobs", "name": "j", "facets": {"lineage": facet | {"entries": [target]}}}
    url = store_with(tmp_path, [event(inputs=(), job=job)])
    assert "elsewhere/generator (a job)\n" in run("upstream", "b", "--store", url).out


def test_a_dataset_whole(ask: Run) -> None:
    out = ask("dataset", REPORT).out
    for words in (
        "kind        table",
        "owner       team:finance",
        "tags        report, tier=1",
        "aliases     hive://metastore:9083/shop.daily_revenue",
        "  revenue  decimal(18,2)",
        "4 partitions",
        "holds now",
    ):
        assert words in out


def test_a_list_that_goes_on_says_so(ask: Run) -> None:
    assert ask("datasets", "--limit", "8").out.endswith("Stopped at 8 rows; --limit gives more.\n")
    assert "Stopped" not in ask("datasets", "--limit", "9").out


def test_impact_names_columns_owners_and_readers(ask: Run) -> None:
    out = ask("impact", "raw/orders", "--column", "amount").out
    assert out.startswith("A change of s3://shop-lake/raw/orders#amount reaches 4 assets:\n")
    assert "columns     revenue (direct)" in out
    assert "columns     every column (unknown)" in out
    assert "owner       team:finance" in out
    assert "Read by, with nothing written on\n  bi/revenue_dashboard\n" in out


def test_a_failed_run(ask: Run) -> None:
    out = ask("run", FAILED_RUN).out
    assert "state    FAIL\n" in out
    assert "error    Job aborted: executor 3 lost" in out
    assert "It did not complete, so no lineage is drawn from it." in out


def test_a_run_with_children(ask: Run) -> None:
    children = ask("runs", "--job", "shop_daily", "--json").json
    out = ask("run", children[0]["run_id"]).out
    assert "Runs it started" in out
    assert "shop/daily_revenue" in out
    assert "Reads\n  Nothing.\n" in out


def test_a_diff(ask: Run) -> None:
    out = ask("diff", RUN_A, RUN_B).out
    assert "added    s3://shop-lake/raw/fx_rates  the whole dataset\n" in out
    assert "A  direct, AGGREGATION, sum(amount)\n" in out
    assert "B  direct, AGGREGATION, sum(amount * coalesce(rate, 1))\n" in out
    assert "Both did the same" in ask("diff", RUN_A, RUN_A).out
    removed = ask("diff", RUN_B, RUN_A).out
    assert "removed  s3://shop-lake/raw/fx_rates  the whole dataset\n" in removed


# -- names are data ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def odd_store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Every name, word and text of an event is odd, one event for each of the odd names."""
    facet: Any = {"_producer": "p", "_schemaURL": "s"}

    def odd_event(name: str) -> Any:
        how = {"type": "DIRECT", "subtype": name, "description": name}
        source = {"namespace": "src", "name": "all", "field": name, "transformations": [how]}
        partitions = [{"identifier": name, "dimensions": {}}]
        output = {
            "namespace": name,
            "name": name,
            "facets": {
                "schema": facet | {"fields": [{"name": name, "type": name, "description": name}]},
                "ownership": facet | {"owners": [{"name": name}]},
                "tags": facet | {"tags": [{"key": name, "value": name}]},
                "documentation": facet | {"description": name},
                "version": facet | {"datasetVersion": name},
                "symlinks": facet | {"identifiers": [{"namespace": "alias", "name": name, "type": "TABLE"}]},
                "columnLineage": facet | {"fields": {name: {"inputFields": [source]}}},
            },
            "outputFacets": {"subset": facet | {"outputCondition": {"type": "partition", "partitions": partitions}}},
        }
        error = facet | {"message": name, "programmingLanguage": name}
        return event() | {
            "run": {"runId": name, "facets": {"errorMessage": error, name: facet}},
            "job": {"namespace": name, "name": name},
            "inputs": [{"namespace": "src", "name": "all"}],
            "outputs": [output],
        }

    return store_with(tmp_path_factory.mktemp("odd"), [odd_event(name) for name in ODD_NAMES])


def check_odd(run: Run, odd_store: str, names: Sequence[str], command: str, *arguments: str) -> None:
    options = [argument for argument in arguments if argument.startswith("--")]
    operands = [argument for argument in arguments if not argument.startswith("--")]
    text = run(command, *options, "--store", odd_store, "--", *operands)
    assert (text.code, text.err) == (0, "")
    assert not CONTROL.search(text.out)
    answer = run(command, *options, "--store", odd_store, "--json", "--", *operands)
    found = set(strings(answer.json))
    for name in names:
        assert not name.strip() or printable(name) in text.out
        assert name in found


@pytest.mark.parametrize(
    "command", [("datasets",), ("downstream", "src/all"), ("impact", "src/all"), ("runs",), ("audit",)]
)
def test_lists_of_odd_names(run: Run, odd_store: str, command: tuple[str, ...]) -> None:
    check_odd(run, odd_store, ODD_NAMES, *command)


@pytest.mark.parametrize("name", ODD_NAMES, ids=ascii)
def test_odd_names_are_shown_harmlessly_and_answered_exactly(run: Run, odd_store: str, name: str) -> None:
    whole = f"{name}/{name}"
    check_odd(run, odd_store, [name], "dataset", whole)
    check_odd(run, odd_store, [name], "upstream", whole, f"--column={name}")
    check_odd(run, odd_store, [name], "upstream", f"alias/{name}", f"--partition={name}")
    check_odd(run, odd_store, [name], "run", name)
    check_odd(run, odd_store, [name], "diff", name, ODD_NAMES[0])


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


def test_errors_show_odd_names_harmlessly(run: Run, odd_store: str) -> None:
    result = run("upstream", "src/all", "--column", "no\x1b[31m\nsuch", "--store", odd_store)
    assert (result.code, result.err.count("\n")) == (1, 1)
    assert not CONTROL.search(result.err)


@pytest.mark.parametrize("environment", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C"}])
def test_a_terminal_without_unicode(tmp_path: Path, environment: dict[str, str]) -> None:
    url = store_with(tmp_path, [event(1, ["źródło 🌊"], ["日本語"])])
    result = process("upstream", "日本語", "--store", url, cwd=tmp_path, env=environment)
    assert (result.returncode, result.stderr) == (0, "")
    assert process("upstream", "日本", "--store", url, cwd=tmp_path, env=environment).stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "shown"),
    [("plain [b]", "plain [b]"), ("a\nb", r"a\nb"), ("\x1b", r"\x1b"), ("\u202e", r"\u202e"), ("\udcff", r"\udcff")],
)
def test_printable(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 ms"),
        (0.45, "450 ms"),
        (12.34, "12.3 s"),
        (59, "59 s"),
        (60, "1 min"),
        (200, "3 min 20 s"),
        (7500, "2 h 5 min"),
        (270_000, "3 d 3 h"),
        (-5, "-5 s"),
    ],
)
def test_duration(seconds: float, words: str) -> None:
    from datetime import timedelta

    assert duration(timedelta(seconds=seconds)) == words


# -- on a terminal ----------------------------------------------------------------------------------------------------


def on_a_terminal(*arguments: str, cwd: Path, columns: int = 80) -> tuple[int, str]:
    """Run a command on a terminal of its own; its exit code and all that it showed."""
    import fcntl
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = bare_environment() | {"TERM": "xterm-256color"}
    command = [sys.executable, "-m", "headwater", *arguments]
    with subprocess.Popen(command, cwd=cwd, env=environment, stdin=theirs, stdout=theirs, stderr=theirs) as child:
        os.close(theirs)
        shown = b""
        while select.select([ours], [], [], 60)[0]:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # how Linux says that the other end has closed
                break
            if not piece:
                break
            shown += piece
    os.close(ours)
    return child.returncode, shown.decode()


def test_a_narrow_terminal(tmp_path: Path, demo_url: str) -> None:
    code, shown = on_a_terminal("upstream", REPORT, "--store", demo_url, cwd=tmp_path, columns=76)
    assert code == 0
    assert "\x1b[" in shown
    bare = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown).splitlines()
    assert max(map(len, bare)) <= 76
    # A name and a run id are whole, however narrow it is.
    assert any(line.endswith("s3://shop-lake/silver/orders_enriched") for line in bare)
    assert any(line.endswith("by shop/clean_orders, run 01a1d2a2-ff60-71ae-924a-fd5e7234cd21") for line in bare)


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (("datasets",), ["s3://shop-lake/silver/orders_enriched", "hive://metastore:9083/shop.orders_enriched"]),
        (("runs",), [FAILED_RUN, "shop/enrich_orders"]),
        (("run", FAILED_RUN), ["s3://shop-lake/silver/orders_enriched", "s3://shop-lake/raw/customers#email"]),
        (("diff", RUN_A, RUN_B), [RUN_A, RUN_B, "s3://shop-lake/gold/daily_revenue#revenue"]),
        (("impact", "raw/orders"), ["01a1d2bd-8c40-7f3d-878d-ae407b71b44f", "bi/revenue_dashboard"]),
    ],
    ids=lambda value: value[0],
)
def test_names_are_not_broken_on_a_narrow_terminal(
    tmp_path: Path, demo_url: str, arguments: tuple[str, ...], names: list[str]
) -> None:
    code, shown = on_a_terminal(*arguments, "--store", demo_url, cwd=tmp_path, columns=80)
    assert code == 0
    bare = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)
    assert max(map(len, bare.splitlines())) <= 80
    for name in names:
        assert name in bare


def test_progress_is_shown_and_taken_away(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_text(lines([event(n) for n in range(300)]) + "{}\n")
    code, shown = on_a_terminal("ingest", "events.jsonl", "--store", "sqlite:///s.db", cwd=tmp_path, columns=100)
    assert code == 1
    assert "Taking events in" in shown
    assert "Refused events.jsonl line 301" in shown
    assert "300 events taken, 0 duplicates, 0 flagged, 1 refused." in shown


# -- ingest -----------------------------------------------------------------------------------------------------------

FIVE = [event(n) for n in range(5)]


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
def test_the_forms_of_a_file(run: Run, tmp_path: Path, content: str) -> None:
    (tmp_path / "events").write_bytes(content.encode())
    result = run("ingest", "events")
    assert (result.code, result.err) == (0, "")
    assert result.out == "5 events taken, 0 duplicates, 0 flagged, 0 refused.\n"
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
    assert run("ingest", "empty") == Result(0, "0 events taken, 0 duplicates, 0 flagged, 0 refused.\n", "")


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


def test_a_pipe_for_a_file(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_text(lines(FIVE))
    os.mkfifo(tmp_path / "fifo")
    with subprocess.Popen(["sh", "-c", "cat events.jsonl > fifo"], cwd=tmp_path):
        result = process("ingest", "fifo", cwd=tmp_path)
    assert result.stdout == "5 events taken, 0 duplicates, 0 flagged, 0 refused.\n"


BROKEN = [FIVE[0], {"eventTime": "2026-11-01T00:00:00Z"}, FIVE[1], 7, FIVE[2]]


def test_a_refused_event_does_not_cost_the_others(run: Run, tmp_path: Path) -> None:
    (tmp_path / "broken.jsonl").write_text(lines(BROKEN) + '{"cut off')
    (tmp_path / "broken.json").write_text(json.dumps([*BROKEN, "text", None]))
    (tmp_path / "good.jsonl").write_text(lines(FIVE[3:]))
    result = run("ingest", "broken.jsonl", "broken.json", "good.jsonl")
    assert result.code == 1
    assert result.out == "5 events taken, 3 duplicates, 0 flagged, 7 refused.\n"
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
    assert result.out == "5 events taken, 0 duplicates, 0 flagged, 1 refused.\n"


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


def test_off_specification_is_flagged(run: Run, tmp_path: Path) -> None:
    odd = event(1) | {"run": {"runId": "not-a-uuid"}, "eventTime": "2026-11-01T00:00:00"}
    (tmp_path / "events.jsonl").write_text(lines([event(0), odd]))
    result = run("ingest", "events.jsonl")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("2 events taken, 0 duplicates, 1 flagged, 0 refused. ")
    assert "--verbose" in result.out
    verbose = run("ingest", "events.jsonl", "--verbose")
    assert verbose.out == "0 events taken, 2 duplicates, 1 flagged, 0 refused.\n"
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
    assert result.out == "5 events taken, 0 duplicates, 0 flagged, 1 refused.\n"
    refused = run("ingest", "notes.txt", "--json").json["refused"]
    assert [(one["file"], one["index"], one["line"], one["path"]) for one in refused] == [
        ("notes.txt", None, None, "$")
    ]


@pytest.mark.parametrize("missing", ["nowhere.jsonl", ".", "no\nwhere"])
def test_a_missing_file_stops_before_anything_is_taken(run: Run, tmp_path: Path, missing: str) -> None:
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


def test_a_file_that_breaks_off(run: Run, tmp_path: Path) -> None:
    broken = Path("/proc/self/mem")  # can be opened, and not read
    if not broken.exists():
        pytest.skip("not run: this system has no /proc")
    (tmp_path / "good.jsonl").write_text(lines(FIVE))
    result = run("ingest", str(broken), "good.jsonl")
    assert (result.code, result.err) == (1, "Error: /proc/self/mem cannot be read: Input/output error.\n")
    assert result.out == "5 events taken, 0 duplicates, 0 flagged, 1 refused.\n"


def test_events_are_kept_as_they_came(run: Run, tmp_path: Path) -> None:
    """Byte for byte: what the producer signed or hashed can be checked later."""
    spelled = json.dumps(FIVE[0]).replace(", ", " ,  ")
    (tmp_path / "events.jsonl").write_text(f"  {spelled}  \n")
    run("ingest", "events.jsonl")
    with sqlite3.connect(tmp_path / ".headwater" / "lineage.db") as database:
        assert database.execute("select body from event").fetchall() == [(spelled.encode(),)]
    database.close()


def test_lines_are_read_one_by_one() -> None:
    """However large the file: what has not been asked for has not been read."""

    class Counting(BytesIO):
        read_so_far = 0

        def __next__(self) -> bytes:
            self.read_so_far += 1
            return super().__next__()

    stream = Counting(lines([event(n) for n in range(1000)]).encode())
    found = _read("f", stream)
    for _ in range(3):
        assert isinstance(next(found), Found)
    assert stream.read_so_far == 3
    assert not any(isinstance(item, Unreadable) for item in found)


def test_large_events_make_small_batches(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from headwater.store.store import Store

    sizes = []
    ingest_many = Store.ingest_many

    def counting(self: Store, events: Any, **options: Any) -> Any:
        batch = list(events)
        sizes.append(len(batch))
        return ingest_many(self, batch, **options)

    monkeypatch.setattr(Store, "ingest_many", counting)
    monkeypatch.setattr("headwater.cli.intake._MOST_BYTES", 3 * len(lines([event(100)])))
    (tmp_path / "events.jsonl").write_text(lines([event(n) for n in range(100, 110)]))
    assert run("ingest", "events.jsonl", "--json").json["taken"] == 10
    assert sizes == [3, 3, 3, 1]


# -- proof and upkeep -------------------------------------------------------------------------------------------------


def test_verify_names_the_first_thing_that_does_not_hold(run: Run, tmp_path: Path) -> None:
    url = store_with(tmp_path, FIVE)
    assert run("verify", "--store", url).out.startswith("The audit log holds: 5 entries.\nLast hash: ")
    with sqlite3.connect(tmp_path / "store.db") as database:
        triggers = database.execute("select name from sqlite_master where type = 'trigger' and tbl_name = 'audit'")
        for (name,) in triggers.fetchall():
            database.execute(f"drop trigger {name}")
        database.execute("update audit set actor_id = 'somebody else' where seq = 3")
    database.close()
    result = run("verify", "--store", url)
    assert (result.code, result.out) == (1, "")
    assert result.err == "Error: The audit log does not hold at entry 3: its content does not match its hash\n"
    result = run("verify", "--store", url, "--json")
    assert result.code == 1
    assert result.json == {"holds": False, "entry": 3, "reason": "its content does not match its hash"}


def test_db_upgrade(run: Run, tmp_path: Path) -> None:
    from headwater.store.migrations import HEAD

    url = store_with(tmp_path, FIVE)
    assert run("db", "upgrade", "--store", url).out.endswith(f"is at version {HEAD} already.\n")
    answer = run("db", "upgrade", "--store", url, "--json").json
    assert (answer["before"], answer["after"]) == (HEAD, HEAD)
    (tmp_path / "empty.db").touch()
    made = run("db", "upgrade", "--store", "sqlite:///empty.db")
    assert made.out.endswith(f"is made, at version {HEAD}.\n")
    assert run("datasets", "--store", "sqlite:///empty.db", "--json").out == "[]\n"


# -- the documentation ------------------------------------------------------------------------------------------------


def commands() -> list[tuple[str, Any]]:
    """Every command by its full name: `upstream`, `db upgrade`."""

    def walk(group: Any, prefix: str) -> Iterator[tuple[str, Any]]:
        for name, command in group.commands.items():
            if hasattr(command, "commands"):
                yield from walk(command, f"{prefix}{name} ")
            else:
                yield prefix + name, command

    return list(walk(typer.main.get_command(app), ""))


def top_level_commands() -> list[str]:
    return list(dict.fromkeys(name.split()[0] for name, _ in commands()))


@pytest.mark.parametrize(("name", "command"), commands(), ids=[name for name, _ in commands()])
def test_every_command_is_documented(name: str, command: Any) -> None:
    sections = re.split(r"^##+ ", DOCS.read_text(), flags=re.MULTILINE)
    mine = [section for section in sections if re.match(rf"`headwater {name}[` ]", section)]
    assert len(mine) == 1, name
    assert f"$ headwater {name}" in mine[0]
    shared = next(section for section in sections if section.startswith("What all commands share"))
    options = [option for parameter in command.params for option in getattr(parameter, "opts", ())]
    assert {"--store", "--json"} <= set(options)
    for option in options:
        if option.startswith("-"):
            assert f"`{option}" in mine[0] or (option in ("--store", "--json") and f"`{option}" in shared), option


def examples() -> list[tuple[str, str]]:
    blocks = re.findall(r"^```console\n\$ (headwater.*)\n((?s:.*?))```$", DOCS.read_text(), re.MULTILINE)
    assert len(blocks) > 15
    return blocks


@pytest.mark.parametrize(("command", "expected"), examples(), ids=[command for command, _ in examples()])
def test_documented_examples_are_true(
    run: Run, demo_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, expected: str
) -> None:
    """`...` stands for anything: within a line, or for any number of lines."""
    (tmp_path / "events.jsonl").write_bytes(b"\n".join([*orders_events()[:3], b'{"eventTime": "2026-11-14"}\n']))
    (tmp_path / ".headwater").mkdir()
    with sqlite3.connect(demo_url.removeprefix("sqlite:///")) as source:
        source.execute("vacuum into ?", (str(tmp_path / ".headwater" / "demo.db"),))
    source.close()
    monkeypatch.setenv("HEADWATER_STORE", "sqlite:///.headwater/demo.db")
    result = run(*shlex.split(command)[1:])
    pattern = "".join(
        "(?:.*\n)*" if line == "..." else ".*".join(map(re.escape, line.split("..."))) + "\n"
        for line in expected.splitlines()
    )
    assert re.fullmatch(pattern, result.err + result.out), result.err + result.out
