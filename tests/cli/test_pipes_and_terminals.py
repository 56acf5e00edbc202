"""Output to a closed pipe, a full disk, a narrow terminal or one without Unicode; and Ctrl-C."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.running import bare_environment
from tests.cli.stores import FAILED_RUN, REPORT, RUN_A, RUN_B, event, lines, store_with

NEXT = "--- the next command ---"
ONE_AFTER_THE_OTHER = f"""
import json, sys
from headwater.cli.app import app
from headwater.cli.failures import run_app
for command in json.loads(sys.argv[1]):
    print(run_app(app, command))
    print("{NEXT}", flush=True)
"""
"""Commands in one process, for tests that look at what they show: to start it takes longer than each of them."""


def in_one_process(commands: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """A Python command line that runs several commands in one process."""
    return ("-c", ONE_AFTER_THE_OTHER, json.dumps(commands, ensure_ascii=False))


def parts(shown: str) -> list[tuple[int, str]]:
    """The exit code and the output of each command."""
    *found, rest = shown.replace("\r\n", "\n").split(f"{NEXT}\n")
    assert rest == ""
    return [(int(code), out) for out, _, code in (part.rstrip("\n").rpartition("\n") for part in found)]


def test_ctrl_c_is_quiet(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "headwater", "ingest", "-", "--store", "sqlite:///s.db"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as waiting:
        assert waiting.stdin is not None
        waiting.stdin.write(b"\n" * 1_000_000)  # more than a pipe holds: it is written when it is being read
        waiting.stdin.flush()
        waiting.send_signal(signal.SIGINT)
        assert waiting.communicate(timeout=30) == (b"", b"")
    assert waiting.returncode == 130


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_closed_pipe_is_not_an_error(tmp_path: Path, form: tuple[str, ...]) -> None:
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


def test_a_closed_stdout(demo_url: str) -> None:
    command = shlex.join([sys.executable, "-m", "headwater", "datasets", "--store", demo_url])
    result = subprocess.run(["sh", "-c", f"{command} >&-"], stderr=subprocess.PIPE, text=True, check=False)
    assert result.stderr == ""


@pytest.mark.parametrize("environment", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C"}])
def test_a_terminal_without_unicode(tmp_path: Path, environment: dict[str, str]) -> None:
    url = store_with(tmp_path, [event(1, ["źródło 🌊"], ["日本語"])])
    commands = [["upstream", name, "--store", url] for name in ("日本語", "日本")]
    result = subprocess.run(
        [sys.executable, *in_one_process(commands)],
        cwd=tmp_path,
        env=bare_environment() | environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    (known, shown), (unknown, nothing) = parts(result.stdout)
    assert (known, unknown, nothing) == (0, 1, "")
    assert shown
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1


def on_a_terminal(*arguments: str, cwd: Path, columns: int = 80) -> tuple[int, str]:
    """Runs a command on a terminal of its own; returns its exit code and output."""
    return python_on_a_terminal("-m", "headwater", *arguments, cwd=cwd, columns=columns)


def python_on_a_terminal(*arguments: str, cwd: Path, columns: int) -> tuple[int, str]:
    import fcntl
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = bare_environment() | {"TERM": "xterm-256color"}
    command = [sys.executable, *arguments]
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


NAMES_SHOWN: dict[tuple[str, ...], list[str]] = {
    ("datasets",): ["s3://shop-lake/silver/orders_enriched", "hive://metastore:9083/shop.orders_enriched"],
    ("runs",): [FAILED_RUN, "shop/enrich_orders"],
    ("run", FAILED_RUN): ["s3://shop-lake/silver/orders_enriched", "s3://shop-lake/raw/customers#email"],
    ("diff", RUN_A, RUN_B): [RUN_A, RUN_B, "s3://shop-lake/gold/daily_revenue#revenue"],
    ("impact", "raw/orders"): ["01a1d2bd-8c40-7f3d-878d-ae407b71b44f", "bi/revenue_dashboard"],
}


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory, demo_url: str) -> dict[tuple[str, ...], tuple[int, str]]:
    """The output of these commands on a terminal of 80 columns."""
    commands = [[*arguments, "--store", demo_url] for arguments in NAMES_SHOWN]
    code, shown = python_on_a_terminal(*in_one_process(commands), cwd=tmp_path_factory.mktemp("narrow"), columns=80)
    assert code == 0
    return dict(zip(NAMES_SHOWN, parts(shown), strict=True))


@pytest.mark.parametrize("arguments", NAMES_SHOWN, ids=lambda arguments: arguments[0])
def test_names_are_not_broken_on_a_narrow_terminal(
    narrow: dict[tuple[str, ...], tuple[int, str]], arguments: tuple[str, ...]
) -> None:
    code, shown = narrow[arguments]
    assert code == 0
    bare = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)
    assert max(map(len, bare.splitlines())) <= 80
    for name in NAMES_SHOWN[arguments]:
        assert name in bare


def test_progress_is_shown_and_removed(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_text(lines([event(n) for n in range(300)]) + "{}\n")
    code, shown = on_a_terminal("ingest", "events.jsonl", "--store", "sqlite:///s.db", cwd=tmp_path, columns=100)
    assert code == 1
    assert "Ingesting events" in shown
    assert "Refused events.jsonl line 301" in shown
    assert "300 events ingested, 0 duplicates, 0 flagged, 1 refused." in shown
