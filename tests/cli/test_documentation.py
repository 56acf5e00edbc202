"""docs/cli.md names every command and option, and its examples are true."""

from __future__ import annotations

import re
import shlex
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from headwater.examples import orders_events
from tests.cli.running import Run, commands

DOCS = Path(__file__).parents[2] / "docs" / "cli.md"


@pytest.mark.parametrize(("name", "command"), commands(), ids=[name for name, _ in commands()])
def test_every_command_is_documented(name: str, command: Any) -> None:
    sections = re.split(r"^##+ ", DOCS.read_text(), flags=re.MULTILINE)
    mine = [section for section in sections if re.match(rf"`headwater {name}[` ]", section)]
    assert len(mine) == 1, name
    assert f"$ headwater {name}" in mine[0]
    shared = next(section for section in sections if section.startswith("What all commands share"))
    options = [option for parameter in command.params for option in getattr(parameter, "opts", ())]
    assert {"--store", "--json"} - set(options) == ({"--json"} if name == "exec" else set()), (
        "its output is the script's"
    )
    for option in options:
        if option.startswith("-"):
            assert f"`{option}" in mine[0] or (option in ("--store", "--json") and f"`{option}" in shared), option


def examples() -> list[tuple[str, str]]:
    blocks = re.findall(r"^```console\n\$ (headwater.*)\n((?s:.*?))```$", DOCS.read_text(), re.MULTILINE)
    assert len(blocks) > 15
    # What needs Spark is tried in tests/capture.
    return [(command, expected) for command, expected in blocks if not command.startswith("headwater exec")]


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
