"""`headwater quality` shows the newest report in full and one line for each earlier one."""

from __future__ import annotations

import json
from pathlib import Path

import headwater as hw
from tests.cli.running import Run
from tests.support.events import run_event


def test_the_newest_in_full_and_the_others_below(run: Run, tmp_path: Path, sqlite_url: str) -> None:
    with hw.connect(sqlite_url) as lineage:
        lineage.ingest(run_event(outputs=["x"]))
    assert run("quality", "x", "--store", sqlite_url).out == "No quality is recorded for x.\n"
    odd = {"rule_name": "no\nline\x1b[31m", "passed": False, "failed_count": 1200}
    for day, document in ((1, {"metrics": {"accuracy": 0.99999}}), (2, {"validations": [odd, {}]})):
        (tmp_path / "q.json").write_text(json.dumps({"measured_at": f"2026-11-0{day}T00:00:00Z", **document}))
        told = run("quality", "x", "--set", str(tmp_path / "q.json"), "--store", sqlite_url)
        assert told.code == 0, told.err
    lines = told.out.splitlines()
    assert lines[0] == "Quality of warehouse/x"
    assert "0 of 2 rules hold" in lines
    assert any(r"no\nline\x1b[31m" in line and "no" in line and "1,200" in line for line in lines)
    assert any("not reported" in line for line in lines)
    assert lines[-1].split() == ["2026-11-01", "00:00:00", "stated", "99.99", "%", "no", "rules"]
    only = json.loads(run("quality", "x", "-n", "1", "--json", "--store", sqlite_url).out)
    assert [one["report"]["measured_at"] for one in only] == ["2026-11-02T00:00:00Z"]
    (tmp_path / "q.json").write_text("[]")
    refused = run("quality", "x", "--set", str(tmp_path / "q.json"), "--store", sqlite_url)
    assert (refused.code, refused.out) == (1, "")
    assert "a quality document is an object" in refused.err
