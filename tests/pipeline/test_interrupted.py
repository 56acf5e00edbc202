"""A program whose pipeline is interrupted with Ctrl-C: its run ends, and its items have records."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import headwater as hw
from tests.support import why_missing
from tests.support.spark import short_job_environment

pytestmark = pytest.mark.spark

PROGRAM = """
import sys, time
from pyspark.sql import SparkSession
import headwater as hw
from headwater.pipeline.sinks import JsonFileSink, JsonlSink

def slow(row):
    open("called", "a").close()
    time.sleep(600)
    return {"id": row.id}

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
p = hw.Pipeline("slow", namespace="tests")
p.source("rows", lambda spark: spark.range(4), key="id")
p.transform("some", "rows", lambda df: df.where("id > 0"))
p.map("slow", "some", slow, schema="id long")
p.sink("out", "slow", format="parquet", path="out")
p.run(
    spark,
    options=hw.LineageOptions(mode="full", location="items"),
    store="sqlite:///lineage.db",
    sinks=[JsonlSink("items.jsonl"), JsonFileSink("report.json")],
)
"""


def test_ctrl_c(tmp_path: Path) -> None:
    if (reason := why_missing("java")) is not None:
        pytest.skip(f"not run: no Java 17 or 21: {reason}")
    (tmp_path / "program.py").write_text(PROGRAM)
    with (
        (tmp_path / "told").open("w") as told,
        subprocess.Popen(
            [sys.executable, "program.py"],
            cwd=tmp_path,
            env=os.environ | short_job_environment(),
            stdout=told,
            stderr=told,
            start_new_session=True,
        ) as program,
    ):
        try:
            deadline = time.monotonic() + 180
            while not (tmp_path / "called").exists():
                assert program.poll() is None, (tmp_path / "told").read_text()
                assert time.monotonic() < deadline, "the function was never called"
                time.sleep(0.1)
            os.kill(program.pid, signal.SIGINT)
            assert program.wait(180) not in (0, None)  # it did not wait for the function
        finally:
            if program.poll() is None:
                os.killpg(program.pid, signal.SIGKILL)
    assert "KeyboardInterrupt" in (tmp_path / "told").read_text()
    assert json.loads((tmp_path / "report.json").read_text())["state"] == "ABORT"
    records = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()]
    assert len(records) == len({record["correlation_id"] for record in records}) == 4
    assert not (tmp_path / "out").exists()
    with hw.connect(f"sqlite:///{tmp_path}/lineage.db") as lin:
        (run,) = [run for run in lin.runs() if run.job.name == "slow"]
        assert run.state in ("FAIL", "ABORT")
