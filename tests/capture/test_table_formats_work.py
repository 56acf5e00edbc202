"""The pinned Delta and Iceberg jars do on this Spark what the tests of capture need of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.spark_driver import run_driver
from tests.support.spark_tables import delta_settings, iceberg_settings

pytestmark = pytest.mark.spark

SCRIPT = """
import json, sys
from pyspark.sql import SparkSession

format, table = sys.argv[1:]
spark = SparkSession.builder.getOrCreate()
for statement in (
    f"CREATE TABLE {table} (id BIGINT, name STRING) USING {format}",
    f"INSERT INTO {table} VALUES (1, 'one'), (2, 'two'), (3, 'three')",
    f"CREATE TABLE {table}_changes USING {format} AS SELECT id * 2 AS id, upper(name) AS name FROM {table}",
    f'''MERGE INTO {table} AS target USING {table}_changes AS source ON target.id = source.id
        WHEN MATCHED THEN UPDATE SET name = source.name WHEN NOT MATCHED THEN INSERT *''',
    f"UPDATE {table} SET name = concat(name, '!') WHERE id = 3",
    f"DELETE FROM {table} WHERE id = 1",
):
    spark.sql(statement)
print(json.dumps(sorted(map(tuple, spark.table(table).collect()))))
spark.stop()
"""


@pytest.mark.parametrize(("table_format", "table"), [("delta", "orders"), ("iceberg", "lake.shop.orders")])
def test_tables_are_created_merged_updated_and_deleted_from(table_format: str, table: str, tmp_path: Path) -> None:
    settings = delta_settings() if table_format == "delta" else iceberg_settings(tmp_path / "lake")
    done = run_driver(SCRIPT, table_format, table, folder=tmp_path, settings=settings)
    assert done.returncode == 0, done.stderr[-3000:]
    rows = json.loads(done.stdout.splitlines()[-1])
    assert rows == [[2, "ONE"], [3, "three!"], [4, "TWO"], [6, "THREE"]]
