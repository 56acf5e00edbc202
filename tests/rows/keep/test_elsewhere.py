"""Another process, another day: nothing is there but the event, the data and Spark."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT
from tests.rows.keep.keeping import Keeping, rows_of


def test_comes_back_in_another_process(keeping: Keeping, tmp_path: Path) -> None:
    from pyspark.sql import functions as F

    bonus = 1000
    plus = F.udf(lambda n: n + bonus, "long")
    frames = [
        keeping.spark.table("items").where("k = 2").select(plus("id").alias("more")),
        keeping.spark.sql(
            """WITH x AS (SELECT k, max(id) AS m FROM items GROUP BY k)
               SELECT x.m, g, (SELECT count(*) FROM items) AS n FROM x JOIN groups USING (k)
               WHERE k IN (SELECT k FROM items WHERE v > 10)"""
        ),
    ]
    expected = [dict(rows_of(frame)) for frame in frames]
    (tmp_path / "facets.json").write_text(json.dumps([keeping.frame(frame) for frame in frames]))
    command = [sys.executable, "-m", "tests.rows.keep.elsewhere", "facets.json", "answers.json"]
    command[3:] = [str(tmp_path / name) for name in command[3:]]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stderr[-4000:]
    assert json.loads((tmp_path / "answers.json").read_text()) == expected
