"""Several jobs, one graph: a file's path, a table's name and a view lead to each other in the store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import headwater as hw
from headwater.model.answers import Closure
from headwater.model.names import Dataset
from tests.capture.shop import DERBY
from tests.capture.watching import watched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headwater.store.store import Store


@pytest.fixture
def pipeline(spark: SparkSession, shop: Path, tmp_path: Path) -> Store:
    """raw file → table → view → table by another job → a file read from the table's folder → a database."""
    with watched(spark, tmp_path / "watch") as watch:
        spark.sql(f"CREATE DATABASE chain LOCATION '{tmp_path}/tables'")
        try:
            spark.read.parquet(f"{shop}/orders").write.saveAsTable("chain.staged")
            spark.sql(
                "CREATE VIEW chain.dear AS SELECT id, customer, amount * 2 AS twice FROM chain.staged WHERE id > 1"
            )
            spark.sql(
                "CREATE TABLE chain.totals USING parquet AS "
                "SELECT customer, sum(twice) AS total FROM chain.dear GROUP BY customer"
            )
            cut = spark.read.parquet(f"{tmp_path}/tables/totals").localCheckpoint()
            cut.write.json(f"{tmp_path}/export/2026-11-15")
            exported = spark.read.schema("customer int, total double").json(f"{tmp_path}/export/*")
            exported.write.jdbc(DERBY, "TOTALS", mode="overwrite")
        finally:
            spark.sql("DROP DATABASE chain CASCADE")
        events = watch.new_events()
    store = hw.connect("memory://")
    for event in events:
        assert store.ingest(event).problems == ()
    return store


def table(spark: SparkSession, name: str) -> Dataset:
    warehouse = str(spark.conf.get("spark.sql.warehouse.dir")).removeprefix("file:")
    return Dataset(f"file:{warehouse}", name)


def short(closure: Closure) -> list[str]:
    return [
        Path(node.endpoint.name).name + (f"#{node.part}" if node.part else "")
        for node in sorted(closure.nodes, key=lambda node: (node.depth, node.endpoint.name, node.part or ""))
    ]


def test_downstream_of_the_first_file(pipeline: Store, shop: Path) -> None:
    found = short(pipeline.downstream(Dataset("file", f"{shop}/orders")))
    assert found == ["staged", "chain.dear", "totals", "export", "APP.TOTALS"]


def test_upstream_of_the_last_table(pipeline: Store) -> None:
    found = short(pipeline.upstream(Dataset("derby:memory:shop", "APP.TOTALS")))
    assert found == ["export", "totals", "chain.dear", "staged", "orders"]


def test_a_table_by_its_name_or_its_folder(pipeline: Store, spark: SparkSession, tmp_path: Path) -> None:
    by_name = pipeline.upstream(table(spark, "chain.totals"))
    by_folder = pipeline.upstream(Dataset("file", f"{tmp_path}/tables/totals"))
    assert short(by_name) == short(by_folder) == ["chain.dear", "staged", "orders"]


def test_column_by_column(pipeline: Store, shop: Path) -> None:
    above = short(pipeline.upstream(Dataset("derby:memory:shop", "APP.TOTALS"), column="total"))
    for step in ("export#total", "totals#total", "chain.dear#twice", "staged#amount", "orders#amount"):
        assert step in above
    below = short(pipeline.downstream(Dataset("file", f"{shop}/orders"), column="day"))
    assert below == ["staged#day"]
