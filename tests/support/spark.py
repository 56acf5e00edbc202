"""One small Spark for all tests that need one: local, without a page, its tables in a temporary folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support import why_missing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def spark_session(folder: Path) -> Iterator[SparkSession]:
    """Skips, with the reason, where there is no Java. A session that is already there is used and left running."""
    reason = why_missing("java")
    if reason is not None:
        pytest.skip(f"not run: no Java 17 or 21: {reason}")
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    found = SparkSession.getActiveSession()
    session = found or (
        SparkSession.builder.master("local[2]")
        .appName("headwater-tests")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "1g")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.catalogImplementation", "in-memory")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .getOrCreate()
    )
    yield session
    if found is None:
        session.stop()
