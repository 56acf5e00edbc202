"""The settings of a session with Delta or Iceberg tables.

done = run_driver(script, folder=tmp_path, settings=delta_settings())
"""

from __future__ import annotations

from pathlib import Path

from tests.support.jars import jars_or_skip


def delta_settings() -> dict[str, str]:
    """The session catalog is Delta's: `CREATE TABLE t … USING delta`."""
    return {
        "spark.jars": jars_or_skip("delta"),
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.databricks.delta.snapshotPartitions": "2",  # 50 tasks for every look at a table by default
    }


def iceberg_settings(warehouse: Path) -> dict[str, str]:
    """A catalog `lake` with its tables in a folder: `CREATE TABLE lake.db.t … USING iceberg`."""
    return {
        "spark.jars": jars_or_skip("iceberg"),
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "hadoop",
        "spark.sql.catalog.lake.warehouse": str(warehouse),
    }
