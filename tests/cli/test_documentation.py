"""docs/cli.md has every command and option, and its examples are correct."""

from __future__ import annotations

import json
import re
import shlex
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import headwater as hw
from headwater.examples import orders_events
from headwater.proof.keys import KeyRing
from tests.cli.running import Run, commands
from tests.cli.stores import RUN_B
from tests.support.console import agrees

DOCS = Path(__file__).parents[2] / "docs" / "cli.md"


@pytest.mark.parametrize(("name", "command"), commands(), ids=[name for name, _ in commands()])
def test_every_command_is_documented(name: str, command: Any) -> None:
    sections = re.split(r"^##+ ", DOCS.read_text(), flags=re.MULTILINE)
    mine = [section for section in sections if re.match(rf"`headwater {name}[` ]", section)]
    assert len(mine) == 1, name
    assert f"$ headwater {name}" in mine[0]
    shared = next(section for section in sections if section.startswith("What all commands share"))
    options = [option for parameter in command.params for option in getattr(parameter, "opts", ())]
    # The output of `exec` is the script's, that of `serve` its log; `rows` looks at a folder of tables, and a key is
    # made for any store; a file is validated without one.
    without = {
        "exec": {"--json"},
        "serve": {"--json"},
        "rows list": {"--store"},
        "rows prune": {"--store"},
        "keys new": {"--store"},
        "validate": {"--store"},
    }.get(name, set())
    assert {"--store", "--json"} - set(options) == without
    for option in options:
        if option.startswith("-"):
            assert f"`{option}" in mine[0] or (option in ("--store", "--json") and f"`{option}" in shared), option


def examples() -> list[tuple[str, str]]:
    blocks = re.findall(r"^```console\n\$ (headwater.*)\n((?s:.*?))```$", DOCS.read_text(), re.MULTILINE)
    assert len(blocks) > 15
    # What needs Spark, or what it has left, is run by tests/docs/test_commands.py.
    spark = (
        *("headwater exec", "headwater trace", "headwater why-not", "headwater rows", "headwater replay"),
        *("headwater records compact", "headwater records stream"),
        *("headwater run 01a1e327", "headwater serve"),
    )
    return [(command, expected) for command, expected in blocks if not command.startswith(spark)]


QUALITY = {
    "measured_at": "2026-11-13T03:00:00Z",
    "metrics": {"completeness": 1, "accuracy": 0.98},
    "validations": [
        {"rule_name": "a day for each row", "rule_type": "not_null", "passed": True, "failed_count": 0},
        {
            "rule_name": "no refunds",
            "rule_type": "range",
            "passed": False,
            "failed_count": 2,
            "details": "revenue >= 0",
        },
    ],
    "anomalies": [{"type": "invalid", "severity": "medium", "count": 2, "description": "negative revenue"}],
}


def record_requests() -> list[dict[str, Any]]:
    """The requests of docs/records.md, and one that is refused."""
    requests = re.search(r"```jsonl\n((?s:.*?))```", (DOCS.parent / "records.md").read_text())
    assert requests is not None
    lines = [json.loads(line) for line in requests[1].splitlines()]
    return [*lines, {**lines[0], "record": None, "records": [{"storage_location": ""}]}]


@pytest.mark.parametrize(("command", "expected"), examples(), ids=[command for command, _ in examples()])
def test_documented_examples_are_correct(
    run: Run, demo_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, expected: str
) -> None:
    (tmp_path / "events.jsonl").write_bytes(b"\n".join([*orders_events()[:3], b'{"eventTime": "2026-11-14"}\n']))
    (tmp_path / "quality.json").write_text(json.dumps(QUALITY))
    (tmp_path / ".headwater").mkdir()
    with sqlite3.connect(demo_url.removeprefix("sqlite:///")) as source:
        source.execute("vacuum into ?", (str(tmp_path / ".headwater" / "demo.db"),))
    source.close()
    ring = KeyRing.create(tmp_path / "signing.pem")
    if "rotate" in command or "evidence.json" in command:
        with hw.connect(f"sqlite:///{tmp_path}/.headwater/demo.db") as lineage:
            lineage.checkpoint(key=ring)
            (tmp_path / "evidence.json").write_bytes(lineage.bundle(RUN_B))
    (tmp_path / "requests.jsonl").write_text("\n".join(map(json.dumps, record_requests())))
    monkeypatch.setenv("HEADWATER_STORE", "sqlite:///.headwater/demo.db")
    if command.startswith("headwater records") and "records send" not in command:
        run("records", "send", "requests.jsonl")
        if "records work" not in command:
            run("records", "work", "--until-empty")
    if command.startswith(("headwater import", "headwater validate")):
        run("export", "--out", "graph.json")
    result = run(*shlex.split(command)[1:])
    assert agrees(expected, result.err + result.out), result.err + result.out
