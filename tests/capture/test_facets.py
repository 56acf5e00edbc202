"""What the facets say is right: of the run, the job and the datasets."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import headwater as hw
from tests.capture.telling import Json, Run
from tests.capture.watching import APPLICATION, Watch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture
def orders(spark: SparkSession, shop: Path) -> DataFrame:
    return spark.read.parquet(f"{shop}/orders")


def only_run(watch: Watch) -> Run:
    (run,) = watch.new_runs()
    return run


def test_the_engine_the_job_and_the_code(spark: SparkSession, watch: Watch, here: Path, orders: DataFrame) -> None:
    orders.write.parquet(f"{here}/out")
    run = only_run(watch)
    for event in run.events:
        engine = event["run"]["facets"]["processing_engine"]
        assert (engine["name"], engine["version"]) == ("spark", spark.version)
        assert engine["openlineageAdapterVersion"] == hw.__version__
        kind = event["job"]["facets"]["jobType"]
        assert (kind["processingType"], kind["integration"], kind["jobType"]) == ("BATCH", "SPARK", "JOB")
        code = event["job"]["facets"]["sourceCodeLocation"]
        assert code["url"].startswith("file://")
    head = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    assert code.get("version") in (head, None)  # the script that runs the tests may lie outside a repository


def test_the_run_has_the_application_as_its_parent(watch: Watch, here: Path, orders: DataFrame) -> None:
    orders.write.parquet(f"{here}/out")
    run = only_run(watch)
    parents = {event["run"]["facets"]["parent"]["run"]["runId"] for event in run.events}
    (application,) = {e["run"]["runId"] for e in watch.all_events if "run" in e and e["job"]["name"] == APPLICATION}
    assert parents == {application}
    job = run.last["run"]["facets"]["parent"]["job"]
    assert (job["namespace"], job["name"]) == ("tests", APPLICATION)


def test_a_named_run_is_one_run_of_several_writes(watch: Watch, here: Path, orders: DataFrame) -> None:
    with hw.run("daily", partition="2026-11-14") as run_id:
        orders.select("id").write.parquet(f"{here}/ids")
        orders.select("amount").write.parquet(f"{here}/amounts")
    run = only_run(watch)
    assert (run.run_id, run.job, run.states) == (run_id, "daily", ["START", "RUNNING", "RUNNING", "COMPLETE"])
    for output in run.outputs:
        (partition,) = output["outputFacets"]["subset"]["outputCondition"]["partitions"]
        assert partition["identifier"] == "2026-11-14"
    told = run.last["run"]["facets"]["headwater_telemetry"]["writes"]
    assert [Path(write["output"]["name"]).name for write in told] == ["ids", "amounts"]


def test_sql_is_kept(spark: SparkSession, watch: Watch, here: Path) -> None:
    text = "CREATE TABLE t USING parquet AS SELECT id FROM shop.orders"
    spark.sql(text)
    facets = only_run(watch).last["job"]["facets"]
    assert facets["sql"]["query"] == text
    assert facets["jobType"]["jobType"] == "QUERY"


def test_a_failure_says_why(spark: SparkSession, watch: Watch, here: Path) -> None:
    with pytest.raises(Exception, match="not this"):
        spark.sql("SELECT CAST(raise_error('not this') AS int) AS x").write.parquet(f"{here}/out")
    error = only_run(watch).last["run"]["facets"]["errorMessage"]
    assert "not this" in error["message"]
    assert error["programmingLanguage"] == "JAVA"


def test_a_nested_schema(spark: SparkSession, watch: Watch, here: Path) -> None:
    kind = "a array<struct<x: int, y: decimal(10,2)>>, m map<string, struct<z: date>>, s struct<t: struct<u: binary>>"
    spark.createDataFrame([], kind).write.parquet(f"{here}/out")
    fields = only_run(watch).output["facets"]["schema"]["fields"]
    assert [_outline(field) for field in fields] == [
        "a array(_element struct(x integer, y decimal(10,2)))",
        "m map(key string, value struct(z date))",
        "s struct(t struct(u binary))",
    ]


def _outline(field: Json) -> str:
    inner = ", ".join(_outline(below) for below in field.get("fields") or ())
    return f"{field['name']} {field['type']}" + (f"({inner})" if inner else "")


def test_where_a_table_lies_and_who_keeps_its_name(spark: SparkSession, watch: Watch, here: Path) -> None:
    spark.sql("CREATE TABLE t USING orc AS SELECT id FROM shop.orders")
    facets = only_run(watch).output["facets"]
    warehouse = str(spark.conf.get("spark.sql.warehouse.dir"))
    assert facets["dataSource"] == facets["dataSource"] | {"name": "file", "uri": f"file:{here}/t"}
    assert facets["storage"] == facets["storage"] | {"storageLayer": "file", "fileFormat": "orc"}
    assert facets["catalog"] == facets["catalog"] | {
        "framework": "spark",
        "type": "in-memory",
        "name": "spark_catalog",
        "warehouseUri": warehouse,
        "source": "spark",
    }
    (alias,) = facets["symlinks"]["identifiers"]
    assert (alias["name"], alias["type"]) == ("cases.t", "TABLE")


@pytest.mark.parametrize(("mode", "change"), [("error", "CREATE"), ("overwrite", "OVERWRITE"), ("append", None)])
def test_the_change_of_state(watch: Watch, here: Path, orders: DataFrame, mode: str, change: str | None) -> None:
    orders.write.mode(mode).parquet(f"{here}/out")
    facets = only_run(watch).output["facets"]
    assert facets.get("lifecycleStateChange", {}).get("lifecycleStateChange") == change


def test_computed_columns_have_the_types_of_the_written_schema(
    spark: SparkSession, watch: Watch, here: Path, orders: DataFrame
) -> None:
    chosen = orders.selectExpr(
        "id + 1 AS next", "sum(amount) OVER () AS total", "struct(day, id) AS pair", "array(id) AS ids"
    )
    chosen.write.parquet(f"{here}/out")
    spark.sql("CREATE TABLE t (n decimal(10,2), day string) USING parquet")
    spark.sql("INSERT INTO t SELECT id * 2, concat(day, '') FROM shop.orders")
    spark.sql("CREATE VIEW v AS SELECT n + 1 AS more FROM t")
    files, table, view = watch.new_runs()
    assert _types(files) == {"next": "integer", "total": "double", "pair": "struct", "ids": "array"}
    assert _types(table) == {"n": "decimal(10,2)", "day": "string"}
    assert _types(view) == {"more": "decimal(11,2)"}


def _types(run: Run) -> dict[str, str]:
    return {field["name"]: field["type"] for field in run.output["facets"]["schema"]["fields"]}
