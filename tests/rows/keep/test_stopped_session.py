"""A program that stops Spark right after its last write: the query of that write is kept all the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import why_missing
from tests.support.spark import short_job_environment

pytestmark = pytest.mark.spark

# The capture reads the write only when PySpark has dropped its context, as it may where the machine is busy.
PROGRAM = """
import sys, threading
from pyspark.sql import SparkSession
import headwater as hw
from headwater.rows.kept_queries.capture import QueryCapture

folder = sys.argv[1]
spark = SparkSession.builder.getOrCreate()
spark.range(3).write.parquet(f"{folder}/in")
hw.enable(spark, sink=f"file://{folder}/events.jsonl", spool=f"{folder}/spool")
stopped, keep = threading.Event(), QueryCapture.keep

def keep_after_the_stop(*arguments):
    assert stopped.wait(120)
    return keep(*arguments)

QueryCapture.keep = keep_after_the_stop
spark.read.parquet(f"{folder}/in").where("id > 0").write.parquet(f"{folder}/out")
spark.stop()
stopped.set()
assert hw.flush(120)
"""


def test_the_last_write_before_the_stop_is_kept(tmp_path: Path) -> None:
    if (reason := why_missing("java")) is not None:
        pytest.skip(f"not run: no Java 17 or 21: {reason}")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    environment = {**os.environ, **short_job_environment()}
    ended = subprocess.run(
        [sys.executable, str(program), str(tmp_path)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    events = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    outputs = [output for event in events if event["eventType"] == "COMPLETE" for output in event.get("outputs", ())]
    (rows,) = [output["outputFacets"]["headwater_rows"] for output in outputs]
    assert rows["replayable"], rows["needs"]
    assert rows["written"]["files"]["count"] > 0
