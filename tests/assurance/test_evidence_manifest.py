"""`cdme.runManifest`: the same code on the same data has the same hashes, and each change affects its own hash."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import headwater as hw
from headwater.capture.listener import session
from headwater.evidence import checksums, run_evidence
from headwater.evidence.rowhash import hash_of_rows
from headwater.evidence.steps import PlanSteps
from headwater.formats.openlineage.claims.preimages import PREIMAGES, matches_hash, wrong_hashes
from tests.assurance.evidence_jobs import differing, ended, facets_of, label, manifest, proving, put
from tests.capture.watching import Watch
from tests.support.spark import TINY_DATA

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Job = Callable[[], None]
ORDERS = "id,shop,amount\n1,a,10\n2,b,20\n3,a,30\n"
SCHEMA = "id int, shop string, amount int"


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The script that the run reports as its code."""
    file = tmp_path / "code" / "job.py"
    put(file, "one\n")
    monkeypatch.setattr(sys.modules["__main__"], "__file__", str(file), raising=False)
    return file


def orders_job(spark: SparkSession, folder: Path, condition: str = "amount > 10") -> Job:
    def job() -> None:
        orders = spark.read.schema(SCHEMA).option("header", True).csv(str(folder / "orders"))
        orders.where(condition).groupBy("shop").sum("amount").write.mode("overwrite").parquet(str(folder / "daily"))

    return job


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    put(tmp_path / "orders" / "one.csv", ORDERS)
    return tmp_path


@pytest.fixture(params=["files", "bytes", "rows"])
def watch(request: pytest.FixtureRequest, spark: SparkSession, folder: Path, script: Path) -> Iterator[Watch]:
    with proving(spark, folder / "watch", checksums=request.param) as found:
        yield found


def test_equal_runs_and_one_changed_byte(
    spark: SparkSession, watch: Watch, folder: Path, request: pytest.FixtureRequest
) -> None:
    """The result does not depend on this byte, so only the input's checksum changes."""
    mode = request.node.callspec.params["watch"]
    first, second = (manifest(ended(watch, orders_job(spark, folder))) for _ in range(2))
    labels = {name: label(each) for name, each in first.items()}
    assert labels.pop("inputChecksums.orders") == labels.pop("outputChecksums.daily") == f"sha256-{mode}"
    assert set(labels.values()) == {"sha256-rfc8785"}
    # A list of files tells which files there are, and a second run writes others; their content is the same.
    always = {"outputChecksums.daily"} if mode == "files" else set()
    assert differing(first, second) == always
    put(folder / "orders" / "one.csv", ORDERS.replace("1,a,10", "1,a,09"))
    changed = manifest(ended(watch, orders_job(spark, folder)))
    assert differing(first, changed) == {"inputChecksums.orders", *always}


def test_each_change_affects_its_own_hash(spark: SparkSession, folder: Path, script: Path) -> None:
    with proving(spark, folder / "watch", checksums="rows") as watch:
        first = manifest(ended(watch, orders_job(spark, folder)))
        before = spark.conf.get("spark.sql.shuffle.partitions")
        spark.conf.set("spark.sql.shuffle.partitions", "3")
        try:
            assert differing(first, manifest(ended(watch, orders_job(spark, folder)))) == {"configHash"}
        finally:
            spark.conf.set("spark.sql.shuffle.partitions", str(before))
        other = orders_job(spark, folder, "amount > 10 AND shop IS NOT NULL")
        assert differing(first, manifest(ended(watch, other))) == {"designHash"}
        assert differing(first, manifest(ended(watch, orders_job(spark, folder)))) == set()
    put(script, "two\n")
    with proving(spark, folder / "again", checksums="rows") as watch:
        assert differing(first, manifest(ended(watch, orders_job(spark, folder)))) == {"codeHash"}


def test_the_design_includes_the_plan_before_a_checkpoint(spark: SparkSession, folder: Path, script: Path) -> None:
    def job(condition: str) -> Job:
        def write() -> None:
            orders = spark.read.schema(SCHEMA).option("header", True).csv(str(folder / "orders"))
            kept = orders.where(condition).localCheckpoint()
            kept.groupBy("shop").count().write.mode("overwrite").parquet(str(folder / "daily"))

        return write

    with proving(spark, folder / "watch", checksums="rows") as watch:
        first, again, other = (
            manifest(ended(watch, job(condition))) for condition in ("amount > 1", "amount > 1", "amount > 1 OR true")
        )
    assert differing(first, again) == set()
    assert "designHash" in differing(first, other)


def test_the_hashed_text_is_beside_its_hash(
    spark: SparkSession, folder: Path, script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with proving(spark, folder / "watch") as watch:
        told = ended(watch, orders_job(spark, folder))["cdme.runManifest"]
        assert wrong_hashes(told) == []
        assert json.loads(told["design"])["kind"] == "write"
        assert [matches_hash(told[name], told[what]) for name, what in PREIMAGES.items()] == [True, True, True]
        other = told | {"design": told["design"].replace('"write"', '"append"')}
        assert wrong_hashes(other) == ["designHash"]
        monkeypatch.setattr(run_evidence, "_MAX_DESIGN_BYTES", 100)
        short = ended(watch, orders_job(spark, folder))["cdme.runManifest"]
    assert "design" not in short
    assert short["designHash"] == told["designHash"]


def test_settings_without_effect_on_results_are_not_configuration(
    spark: SparkSession, folder: Path, script: Path
) -> None:
    with proving(spark, folder / "watch") as watch:
        config = ended(watch, orders_job(spark, folder))["cdme.runManifest"]["config"]
    assert config["settings"]["spark.sql.shuffle.partitions"] == TINY_DATA["spark.sql.shuffle.partitions"]
    assert "spark.sql.session.timeZone" in config["settings"]
    assert not [name for name in config["settings"] if "warehouse" in name or not name.startswith("spark.sql.")]
    assert not [value for value in config["settings"].values() if str(folder) in value]


def test_the_commit_and_uncommitted_changes(spark: SparkSession, folder: Path, script: Path) -> None:
    def git(*arguments: str) -> None:
        names = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        subprocess.run(["git", *names, *arguments], cwd=script.parent, check=True, capture_output=True)

    git("init")
    git("add", ".")
    git("commit", "-m", "first")
    told = []
    for text in ("one\n", "two\n"):
        put(script, text)
        with proving(spark, folder / "watch") as watch:
            told.append(ended(watch, orders_job(spark, folder))["cdme.runManifest"]["code"])
    assert [each["dirty"] for each in told] == [False, True]
    assert told[0]["commit"] == told[1]["commit"]
    assert told[0]["script"] == "job.py"


def test_a_file_too_large_is_named(
    spark: SparkSession, folder: Path, script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(folder / "orders" / "two.csv", ORDERS + "4,c,40\n")
    monkeypatch.setattr(checksums, "MAX_FILE_BYTES", len(ORDERS))
    with proving(spark, folder / "watch", checksums="bytes") as watch:
        told = ended(watch, orders_job(spark, folder))["cdme.runManifest"]
    (name,) = [name for name in told["inputChecksums"] if name.endswith("orders")]
    assert label(told["inputChecksums"][name]) == "sha256-bytes+files"
    assert told["filesNotRead"][name] == ["two.csv"]


def test_the_checksum_of_rows_is_independent_of_their_order(spark: SparkSession) -> None:
    rows = [(1, None, 0.5), (2, "x", -0.0), (2, "x", -0.0)]
    frame = spark.createDataFrame(rows, "a int, b string, c double")
    assert hash_of_rows(frame) == hash_of_rows(frame.orderBy("a", ascending=False).repartition(3))
    others = [
        frame.distinct(),
        frame.limit(0),
        frame.selectExpr("a", "coalesce(b, 'null') AS b", "c"),
        frame.selectExpr("a", "b", "c AS d"),
        frame.selectExpr("cast(a AS long) AS a", "b", "c"),
        frame.selectExpr("a", "b", "abs(c) AS c"),
    ]
    found = [hash_of_rows(each) for each in (frame, *others)]
    assert len(set(found)) == len(found)


def test_a_copy_has_the_rows_of_its_source(spark: SparkSession, tmp_path: Path, script: Path) -> None:
    spark.range(10).repartition(3).write.parquet(str(tmp_path / "in"))
    with proving(spark, tmp_path / "watch", checksums="rows") as watch:
        frame = spark.read.parquet(str(tmp_path / "in")).orderBy("id", ascending=False)
        told = manifest(ended(watch, lambda: frame.write.parquet(str(tmp_path / "out"))))
    assert told["inputChecksums.in"] == told["outputChecksums.out"]


def test_a_source_without_files_is_named(spark: SparkSession, tmp_path: Path, script: Path) -> None:
    with proving(spark, tmp_path / "watch") as watch:
        frame = spark.createDataFrame([(1,)], "a int")
        told = ended(watch, lambda: frame.write.parquet(str(tmp_path / "out")))["cdme.runManifest"]
    assert told["inputChecksums"] == {}
    assert list(told["withoutChecksum"].values()) == ["it was made in the program: there is no file to hash"]


def test_without_stored_rows(spark: SparkSession, folder: Path, script: Path) -> None:
    with proving(spark, folder / "watch") as watch:
        first = manifest(ended(watch, orders_job(spark, folder)))
    with proving(spark, folder / "again", rows="off") as watch:
        assert differing(first, manifest(ended(watch, orders_job(spark, folder)))) == {"outputChecksums.daily"}


def test_a_write_that_fails(spark: SparkSession, folder: Path, script: Path) -> None:
    with proving(spark, folder / "watch") as watch:
        first = manifest(ended(watch, orders_job(spark, folder)))
        orders = spark.read.schema(SCHEMA).option("header", True).csv(str(folder / "orders"))
        with pytest.raises(Exception, match="boom"):
            orders.selectExpr("cast(raise_error('boom') AS int) AS never", "id").write.parquet(str(folder / "never"))
        (run,) = watch.new_runs()
        told = manifest(facets_of(run))
    assert run.states[-1] == "FAIL"
    assert told["inputChecksums.orders"] == first["inputChecksums.orders"]
    assert (told["configHash"], told["codeHash"]) == (first["configHash"], first["codeHash"])
    assert not [name for name in told if name.startswith("outputChecksums")]


def test_a_write_that_fails_before_it_is_planned(spark: SparkSession, folder: Path) -> None:
    orders_job(spark, folder)
    with proving(spark, folder / "watch") as watch:
        orders = spark.read.schema(SCHEMA).option("header", True).csv(str(folder / "orders"))
        both = orders.join(orders.withColumnRenamed("id", "other"), how="inner")
        spark.conf.set("spark.sql.crossJoin.enabled", False)
        try:
            with pytest.raises(Exception, match="cartesian"):
                both.select("other").write.parquet(str(folder / "never"))
        finally:
            spark.conf.unset("spark.sql.crossJoin.enabled")
        (run,) = watch.new_runs()  # and no fault was logged
    facet = facets_of(run)["cdme.runManifest"]
    assert run.states[-1] == "FAIL"
    (reason,) = facet["withoutChecksum"].values()
    assert reason == "the run failed before Spark had planned how to read it"


def test_several_writes_of_one_run(spark: SparkSession, folder: Path, script: Path) -> None:
    with proving(spark, folder / "watch") as watch:
        for _ in range(2):
            with hw.run("nightly", partition="today"):
                orders_job(spark, folder)()
                spark.read.parquet(str(folder / "daily")).write.mode("overwrite").csv(str(folder / "copy"))
        runs = watch.new_runs()
    first, second = (manifest(facets_of(run)) for run in runs)
    changing = {"inputChecksums.daily", "outputChecksums.daily", "outputChecksums.copy"}
    assert differing(first, second) == changing
    assert first["inputChecksums.daily"] == first["outputChecksums.daily"], "what was written is what was read"
    trace = facets_of(runs[0])["cdme.morphismTrace"]["targetAttributes"]
    assert {name.rpartition("/")[2] for name in trace} >= {"daily.shop", "copy.shop"}


def test_a_fault_does_not_affect_the_job(
    spark: SparkSession,
    folder: Path,
    script: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(*_: object) -> PlanSteps:
        raise ZeroDivisionError("no reason")

    with proving(spark, folder / "watch") as watch:
        monkeypatch.setattr(PlanSteps, "read", broken)
        with caplog.at_level(logging.WARNING, logger="headwater"):
            for _ in range(2):
                orders_job(spark, folder)()
            assert hw.flush(60)
        (capture,) = session.active()
        assert capture.status()["faults"] == 2
        events = [line for line in (folder / "watch" / "events.jsonl").read_text().splitlines() if "COMPLETE" in line]
    assert caplog.text.count("no reason") == 1
    assert len(events) == 2
    assert all("cdme.runManifest" in line and "cdme.typeUnification" not in line for line in events)
    assert spark.read.parquet(str(folder / "daily")).count() == 2
    del watch


def test_it_ends_in_a_certificate(spark: SparkSession, folder: Path, script: Path) -> None:
    address = f"sqlite:///{folder}/store.db"
    spark.read.csv(str(folder / "orders"), SCHEMA, header=True).write.parquet(str(folder / "kept"))
    hw.enable(spark, store=address, namespace="tests", spool=folder / "spool")
    try:
        with hw.run("nightly", ledger=True) as run_id:
            kept = spark.read.parquet(str(folder / "kept"))
            kept.where("amount > 10").groupBy("shop").sum("amount").write.parquet(str(folder / "daily"))
        assert run_id is not None
        assert hw.flush(60)
    finally:
        hw.disable(spark)
    with hw.connect(address) as lin:
        (found,) = lin.certificates(run_id=run_id)
        assert lin.verify().certificates == 1
    assert {each.name: each.holds for each in found.invariants} == {
        "manifest": True,
        "balance": True,
        "grain": True,
        "types": True,
    }
    assert (found.undecided, found.claims_version) == ((), 2)
    assert [name.rpartition("/")[2] for name in found.source_state_hashes] == ["kept"]
    assert [name.rpartition("/")[2] for name in found.target_state_hashes] == ["daily"]
    assert "cdme.morphismTrace" in found.evidence_hashes
