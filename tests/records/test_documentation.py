"""docs/records.md: its requests are accepted, and its Python does what the comments say.

Its commands are run by tests/docs/test_commands.py.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from headwater.client import Lineage
from tests.cli.conftest import run as run  # noqa: PLC0414 (a fixture)
from tests.cli.running import Run

DOCS = Path(__file__).parents[2] / "docs" / "records.md"


def blocks(kind: str) -> list[str]:
    found = re.findall(r"^```(\w*)\n((?s:.*?))^```$", DOCS.read_text(), re.MULTILINE)
    return [block for its, block in found if its == kind]


def test_its_examples_are_correct(run: Run, tmp_path: Path) -> None:
    (tmp_path / "requests.jsonl").write_text(blocks("jsonl")[0])
    for command in (("send", "requests.jsonl"), ("work", "--until-empty")):
        assert run("records", *command).code == 0
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
