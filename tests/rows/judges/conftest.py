"""Spark for the oracles, with the Python function that DuckDB knows too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.rows.judges.small_tables import twist
from tests.support.spark import TINY_DATA, spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    with spark_session(TINY_DATA) as session:
        session.udf.register("twist", twist, "int")
        yield session
