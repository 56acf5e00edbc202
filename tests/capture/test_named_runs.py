"""`hw.run`: one run, whatever is written in the block."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import headwater as hw
from tests.capture.telling import Run
from tests.capture.watching import APPLICATION, Watch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def numbers(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([(1, "a"), (2, "b")], "id int, name string")


def parent_of(run: Run) -> tuple[str, str]:
    facet = run.last["run"]["facets"]["parent"]
    return facet["job"]["name"], facet["run"]["runId"]


def entries(run: Run) -> dict[str, set[str]]:
    """Target → its inputs, as the `lineage` facets say."""
    return {
        entry["name"]: {item["name"] for item in entry["inputs"]}
        for event in run.events
        for entry in event["job"]["facets"].get("lineage", {}).get("entries", ())
    }


def test_two_writes_are_one_run_and_keep_their_own_inputs(spark: SparkSession, watch: Watch, here: Path) -> None:
    for name in ("a", "b"):
        numbers(spark).write.parquet(f"{here}/{name}")
    watch.new_events()
    with hw.run("nightly", partition="2026-11-15") as run_id:
        spark.read.parquet(f"{here}/a").write.parquet(f"{here}/x")
        spark.read.parquet(f"{here}/b").write.parquet(f"{here}/y")
    (run,) = watch.new_runs()
    assert (run.job, run.run_id) == ("nightly", run_id)
    assert run.states == ["START", "RUNNING", "RUNNING", "COMPLETE"]
    assert entries(run) == {f"{here}/x": {f"{here}/a"}, f"{here}/y": {f"{here}/b"}}
    assert parent_of(run)[0] == APPLICATION
    for output in run.outputs:
        condition = output["outputFacets"]["subset"]["outputCondition"]
        assert [partition["identifier"] for partition in condition["partitions"]] == ["2026-11-15"]
    with hw.connect("memory://") as lin:
        lin.ingest_many(watch.all_events)
        assert [node.endpoint.name for node in lin.upstream(f"{here}/x").nodes if node.depth == 1] == [f"{here}/a"]


def test_an_exception_fails_the_run_and_goes_on(spark: SparkSession, watch: Watch, here: Path) -> None:
    def job() -> None:
        with hw.run("nightly"):
            numbers(spark).write.parquet(f"{here}/x")
            raise ZeroDivisionError("no reason")

    with pytest.raises(ZeroDivisionError):
        job()
    (run,) = watch.new_runs()
    assert run.states == ["START", "RUNNING", "FAIL"]
    error = run.last["run"]["facets"]["errorMessage"]
    assert (error["message"], error["programmingLanguage"]) == ("ZeroDivisionError: no reason", "PYTHON")
    assert "test_named_runs.py" in error["stackTrace"]


def test_a_failed_write_that_the_user_caught_is_no_part_of_the_run(
    spark: SparkSession, watch: Watch, here: Path
) -> None:
    with hw.run("nightly"):
        numbers(spark).write.parquet(f"{here}/x")
        with pytest.raises(Exception, match="boom"):
            numbers(spark).selectExpr("cast(raise_error('boom') AS int) AS never").write.parquet(f"{here}/y")
    (run,) = watch.new_runs()
    assert run.states == ["START", "RUNNING", "COMPLETE"]
    assert [output["name"] for output in run.outputs] == [f"{here}/x"]


def test_a_run_within_a_run(spark: SparkSession, watch: Watch, here: Path) -> None:
    with hw.run("outer") as outer:
        numbers(spark).write.parquet(f"{here}/x")
        with hw.run("inner"):
            numbers(spark).write.parquet(f"{here}/y")
        numbers(spark).write.parquet(f"{here}/z")
    runs = {run.job: run for run in watch.new_runs()}
    assert {output["name"] for output in runs["outer"].outputs} == {f"{here}/x", f"{here}/z"}
    assert {output["name"] for output in runs["inner"].outputs} == {f"{here}/y"}
    assert parent_of(runs["inner"]) == ("outer", outer)


def test_runs_in_threads_do_not_mix(spark: SparkSession, watch: Watch, here: Path) -> None:
    def work(number: int) -> None:
        with hw.run(f"job-{number}"):
            numbers(spark).write.parquet(f"{here}/{number}")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    found = {run.job: [output["name"] for output in run.outputs] for run in watch.new_runs()}
    assert found == {f"job-{number}": [f"{here}/{number}"] for number in range(4)}


def test_threads_within_one_run_belong_to_it(spark: SparkSession, watch: Watch, here: Path) -> None:
    with hw.run("fan-out"), ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda number: numbers(spark).write.parquet(f"{here}/{number}"), range(3)))
    (run,) = watch.new_runs()
    assert {output["name"] for output in run.outputs} == {f"{here}/{number}" for number in range(3)}


@pytest.mark.parametrize(("options", "told"), [({}, True), ({"telemetry": False}, False)])
def test_measurements_can_be_left_out(
    spark: SparkSession, watch: Watch, here: Path, options: dict[str, Any], told: bool
) -> None:
    with hw.run("measured", **options):
        numbers(spark).write.parquet(f"{here}/x")
    (run,) = watch.new_runs()
    assert ("headwater_telemetry" in run.last["run"]["facets"]) is told


def test_nodes_can_be_left_out(spark: SparkSession, watch: Watch, here: Path) -> None:
    names = []
    for leave_out in ([], ["Scan ExistingRDD"]):
        with hw.run("measured", leave_out=leave_out):
            numbers(spark).where("id > 1").write.mode("overwrite").parquet(f"{here}/x")
        (run,) = watch.new_runs()
        (write,) = run.last["run"]["facets"]["headwater_telemetry"]["writes"]
        names.append([node["name"] for node in write["nodes"]])
    assert set(names[0]) - set(names[1]) == {"Scan ExistingRDD"}


def test_nulls_and_distinct_values_where_asked(spark: SparkSession, watch: Watch, here: Path) -> None:
    frame = spark.createDataFrame(
        [(1, "a", {"k": 1}), (2, "a", None), (3, None, None)], "id int, name string, m map<string,int>"
    )
    for asked, expected in (
        (True, {"id": (0, 3), "name": (1, 1), "m": (2, None)}),
        (["name"], {"name": (1, 1)}),
        (False, None),
    ):
        with hw.run("measured", quality=asked):
            frame.write.mode("overwrite").parquet(f"{here}/x")
        (run,) = watch.new_runs()
        facet = run.output["facets"].get("dataQualityMetrics")
        assert (facet is None) is (expected is None)
        if facet is not None and expected is not None:
            found = facet["columnMetrics"]
            assert {name: (c["nullCount"], c.get("distinctCount")) for name, c in found.items()} == expected
            assert facet["rowCount"] == 3
