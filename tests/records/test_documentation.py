"""docs/records.md: its requests are taken, its commands run, its Python does what the comments say."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

from headwater.client import Lineage
from tests.cli.conftest import run as run  # noqa: PLC0414 (a fixture)
from tests.cli.running import Run

DOCS = Path(__file__).parents[2] / "docs" / "records.md"
_SPARK = ("compact", "stream", "query")
"""Tried in tests/records/spark."""


def blocks(kind: str) -> list[str]:
    found = re.findall(r"^```(\w*)\n((?s:.*?))^```$", DOCS.read_text(), re.MULTILINE)
    return [block for its, block in found if its == kind]


def test_what_it_shows_is_so(run: Run, tmp_path: Path) -> None:
    (tmp_path / "requests.jsonl").write_text(blocks("jsonl")[0])
    commands = [
        line.split("#")[0] for block in blocks("") for line in block.splitlines() if line.startswith("headwater")
    ]
    assert len(commands) >= 5
    for command in commands:
        _, _, name, *arguments = shlex.split(command)
        if name not in _SPARK:
            result = run("records", name, *arguments, *(["--until-empty"] if name == "work" else []))
            assert (result.code, result.err) == (0, ""), command
    names: dict[str, object] = {}
    exec(blocks("python")[0], names)
    lineage = names["lin"]
    assert isinstance(lineage, Lineage)
    assert [step.node_id for step in lineage.records.trace("invoice-17").traces[0].lineage][-2:] == [
        "total",
        "FINISHED",
    ]
    (trace,) = lineage.records.trace("invoice-17").document()["traces"]
    shown = next(
        json.loads(line.replace("[…]", "[]")) for block in blocks("") for line in block.splitlines() if line[:1] == "{"
    )
    assert {**trace, "lineage": []} == shown
    lineage.close()
