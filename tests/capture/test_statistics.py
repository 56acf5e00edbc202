"""What is said to have been read and written is what is really there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.capture.telling import Json, Run
from tests.capture.watching import Watch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture(autouse=True, scope="module")
def _compiled_stages(spark: SparkSession) -> Iterator[None]:
    """As Spark runs by itself: what is counted is then counted inside of stages that were compiled as a whole."""
    name = "spark.sql.codegen.wholeStage"
    before = str(spark.conf.get(name))
    spark.conf.set(name, "true")
    yield
    spark.conf.set(name, before)


@pytest.fixture
def many(spark: SparkSession, shop: Path) -> DataFrame:
    return spark.range(0, 1000, 1, 3).selectExpr("cast(id as string) as id", "cast(id % 7 as string) as day")


def on_disk(folder: Path) -> dict[str, int]:
    files = [file for file in folder.rglob("*") if file.is_file() and file.name[0] not in "._"]
    return {"fileCount": len(files), "size": sum(file.stat().st_size for file in files)}


def written(run: Run) -> Json:
    facet = run.output["outputFacets"]["outputStatistics"]
    return {key: facet[key] for key in ("rowCount", "size", "fileCount")}


@pytest.mark.parametrize("format", ["parquet", "orc", "csv", "json"])
def test_an_output_as_it_is_on_disk(watch: Watch, here: Path, many: DataFrame, format: str) -> None:
    many.write.format(format).save(f"{here}/out")
    (run,) = watch.new_runs()
    assert written(run) == {"rowCount": 1000, **on_disk(here / "out")}


def test_partitions_and_buckets(watch: Watch, here: Path, many: DataFrame) -> None:
    many.write.partitionBy("day").parquet(f"{here}/out")
    many.write.bucketBy(4, "id").saveAsTable("t")
    partitioned, bucketed = watch.new_runs()
    assert written(partitioned) == {"rowCount": 1000, **on_disk(here / "out")}
    assert written(bucketed) == {"rowCount": 1000, **on_disk(here / "t")}


def test_what_was_added_not_what_is_there(watch: Watch, here: Path, many: DataFrame) -> None:
    many.write.parquet(f"{here}/out")
    before = on_disk(here / "out")
    many.limit(10).write.mode("append").parquet(f"{here}/out")
    _, added = watch.new_runs()
    after = on_disk(here / "out")
    assert written(added) == {"rowCount": 10, **{key: after[key] - before[key] for key in after}}


def test_a_table_made_by_a_query(spark: SparkSession, watch: Watch, here: Path, many: DataFrame) -> None:
    many.createOrReplaceTempView("many")
    spark.sql("CREATE TABLE t USING parquet AS SELECT id FROM many WHERE day = '3'")
    spark.catalog.dropTempView("many")
    (run,) = watch.new_runs()
    assert written(run) == {"rowCount": 143, **on_disk(here / "t")}


def test_an_input_as_it_was_read(spark: SparkSession, watch: Watch, here: Path, many: DataFrame) -> None:
    many.write.partitionBy("day").parquet(f"{here}/in")
    spark.read.parquet(f"{here}/in").where("day = '3'").write.parquet(f"{here}/out")
    _, run = watch.new_runs()
    (read,) = (dataset["inputFacets"]["inputStatistics"] for dataset in run.inputs)
    assert {key: read[key] for key in ("rowCount", "size", "fileCount")} == {
        "rowCount": 143,
        **on_disk(here / "in" / "day=3"),
    }


def test_rows_node_by_node(watch: Watch, here: Path, many: DataFrame) -> None:
    many.where("id < '5'").groupBy("day").count().write.parquet(f"{here}/out")
    (run,) = watch.new_runs()
    (write,) = run.last["run"]["facets"]["headwater_telemetry"]["writes"]
    nodes = write["nodes"]
    assert Path(write["output"]["name"]) == here / "out"
    assert nodes[0]["parent"] == -1
    assert all(nodes[node["parent"]] is not node and node["parent"] < place for place, node in enumerate(nodes))
    rows = {node["name"].split(" (")[0]: node["rows"] for node in nodes if "rows" in node}
    kept = sum(1 for number in range(1000) if str(number) < "5")
    assert (rows["Range"], rows["Filter"]) == (1000, kept)
    aggregates = [node["rows"] for node in nodes if node["name"] == "HashAggregate"]
    assert aggregates[0] == 7
    assert any(node.get("latencyMs", 0) > 0 for node in nodes)


def test_several_batches_add_up(spark: SparkSession, watch: Watch, here: Path, shop: Path) -> None:
    def keep(batch: DataFrame, _number: int) -> None:
        batch.write.mode("append").parquet(f"{here}/out")

    source = spark.readStream.schema("id int").option("maxFilesPerTrigger", 1).parquet(f"{shop}/by_day")
    query = source.writeStream.foreachBatch(keep).option("checkpointLocation", f"{here}/cp")
    query.trigger(availableNow=True).start().awaitTermination()
    (run,) = watch.new_runs()
    assert run.states == ["START", "RUNNING", "COMPLETE"]
    assert written(run) == {"rowCount": 4, **on_disk(here / "out")}
    (read,) = (dataset["inputFacets"]["inputStatistics"] for dataset in run.last["inputs"])
    assert read["rowCount"] == 4
