"""A real Spark Connect session, server and all, where the client's libraries are installed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.support.spark_driver import run_driver

pytestmark = pytest.mark.spark

NEEDED = ("grpc", "grpc_status", "google.rpc", "pandas", "pyarrow", "zstandard")

SCRIPT = """
from pyspark.sql import SparkSession
import headwater as hw

spark = SparkSession.builder.remote("local").getOrCreate()
assert spark.range(3).count() == 3  # it is a session that works
try:
    hw.enable(spark, sink="console")
except hw.HeadwaterError as refusal:
    print("refused:", refusal)
assert spark.range(4).count() == 4  # and still does
spark.stop()
"""


def lacking() -> list[str]:
    found = []
    for name in NEEDED:
        try:
            here = find_spec(name) is not None
        except ModuleNotFoundError:  # the package that it is in
            here = False
        found += [] if here else [name]
    return found


def test_a_connect_session_is_refused_in_one_line(tmp_path: Path) -> None:
    if missing := lacking():
        pytest.skip(f"not run: Spark Connect needs {', '.join(missing)}")
    done = run_driver(SCRIPT, folder=tmp_path, settings={})
    assert done.returncode == 0, done.stderr[-3000:]
    (refusal,) = (line for line in done.stdout.splitlines() if line.startswith("refused:"))
    assert "Spark Connect client does not see the plans" in refusal
