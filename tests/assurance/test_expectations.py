"""Expectations of a run, and their results in its event and its certificate."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import headwater as hw
from headwater.model.certificates import Breach, Certificate
from headwater.model.expectations import MEASURES
from tests.assurance.evidence_jobs import proving
from tests.capture.watching import Watch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"measure": "rows"}, "There is no measure 'rows'. There are: rows_written"),
        ({"measure": "rows_written"}, "Give at_least, at_most or both"),
        ({"measure": "rows_written", "at_least": "1"}, "'1' is not a bound for rows_written"),
        ({"measure": "rows_written", "at_most": math.nan}, "nan is not a bound"),
        ({"measure": "rows_written", "at_most": True}, "True is not a bound"),
        (
            {"measure": "rows_written", "at_most": 1, "materiality": "grave"},
            "There are: IMMATERIAL, MATERIAL, CRITICAL",
        ),
    ],
)
def test_invalid_expectations_are_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(hw.HeadwaterError, match=says.replace(".", r"\.")):
        hw.expect(given.pop("measure"), **given)


@pytest.mark.parametrize(
    ("low", "high", "observed", "holds"),
    [
        (1, None, 1, True),
        (1, None, 0, False),
        (None, 5, 5, True),
        (None, 5, 6, False),
        (1, 5, 0, False),
        (1, 5, 3, True),
    ],
)
def test_both_bounds_are_within(low: int | None, high: int | None, observed: int, holds: bool) -> None:
    told = hw.expect("rows_written", at_least=low, at_most=high).judged({"rows_written": observed})
    assert (told["holds"], told["observed"]) == (holds, observed)


def test_an_unmeasured_expectation_does_not_hold() -> None:
    for measure in MEASURES:
        told = hw.expect(measure, at_least=0, name="some").judged({})
        assert (told["name"], told["holds"], told["observed"]) == ("some", False, "not measured")


@pytest.fixture(scope="module")
def watch(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watch]:
    with proving(spark, tmp_path_factory.mktemp("watch")) as found:
        yield found


@pytest.fixture
def orders(spark: SparkSession, tmp_path: Path) -> str:
    spark.range(100).selectExpr("id", "id * 1.5D as amount").write.parquet(f"{tmp_path}/orders")
    return f"{tmp_path}/orders"


def certified(watch: Watch) -> tuple[dict[str, Any], Certificate]:
    (run,) = [run for run in watch.new_runs() if run.job == "promised"]
    with hw.connect("memory://") as lin:
        lin.ingest_many(watch.all_events)
        (certificate,) = lin.certificates(run_id=run.run_id)
        lin.verify()
    return run.last["run"]["facets"], certificate


def test_expectations_of_a_run(spark: SparkSession, watch: Watch, orders: str, tmp_path: Path) -> None:
    promised = [
        hw.expect("rows_written", at_least=1, at_most=60),
        hw.expect("rows_read", at_least=100, at_most=100),
        hw.expect("bytes_written", at_least=1),
        hw.expect("filtered_share", at_most=0.25, materiality="critical", name="few are left out"),
        hw.expect("errored_rows", at_most=0),
        hw.expect("lossy_casts", at_most=0, materiality="IMMATERIAL"),
        hw.expect("grain_violations", at_most=0),
    ]
    with hw.run("promised", expectations=promised):
        half = spark.read.parquet(orders).where("id < 60").selectExpr("id", "cast(amount as int) as amount")
        half.write.parquet(f"{tmp_path}/out")
    facets, certificate = certified(watch)
    assert facets["cdme.accountingLedger"]["filteredCount"] == 40
    found = {each["measure"]: each["observed"] for each in facets["headwater_expectations"]["expectations"]}
    assert found.pop("bytes_written") > 100
    assert found == {
        "rows_written": 60,
        "rows_read": 100,
        "filtered_share": 0.4,
        "errored_rows": 0,
        "lossy_casts": 1,
        "grain_violations": 0,
    }
    broken = {each.name: each for each in certificate.invariants if not each.holds}
    assert {name: each.breach for name, each in broken.items()} == {
        "few are left out": Breach.CRITICAL,
        "lossy_casts at most 0": Breach.IMMATERIAL,
    }
    assert (broken["few are left out"].threshold, broken["few are left out"].detail) == ("at most 0.25", "observed 0.4")
    assert certificate.contract_version == facets["cdme.runManifest"]["contractVersion"]
    assert str(certificate.contract_version).startswith("sha256-rfc8785:")


def test_the_contract_is_the_hash_of_the_expectations(
    spark: SparkSession, watch: Watch, orders: str, tmp_path: Path
) -> None:
    """Another expectation is another contract; the result is not a part of it."""
    versions = []
    for place, (rows, bound) in enumerate(((5, 1), (9, 1), (9, 2))):
        with hw.run("promised", expectations=[hw.expect("rows_written", at_least=bound)]):
            spark.read.parquet(orders).limit(rows).write.parquet(f"{tmp_path}/{place}")
        versions.append(certified(watch)[1].contract_version)
    assert versions[0] == versions[1] != versions[2]


def test_a_run_that_wrote_nothing(watch: Watch) -> None:
    with hw.run("promised", expectations=[hw.expect("rows_written", at_least=1, materiality="CRITICAL")]):
        pass
    facets, certificate = certified(watch)
    assert facets["headwater_expectations"]["expectations"][0]["observed"] == 0
    assert [(each.name, each.breach) for each in certificate.invariants] == [
        ("manifest", None),
        ("rows_written at least 1", Breach.CRITICAL),
    ]


def test_expectations_of_a_pipeline(spark: SparkSession, watch: Watch, orders: str, tmp_path: Path) -> None:
    p = hw.Pipeline("promised", namespace="tests")
    p.source("orders", lambda spark: spark.read.parquet(orders), key="id")
    p.transform("some", "orders", lambda df: df.where("id >= 10"))
    p.sink("out", "some", format="parquet", path=f"{tmp_path}/out", mode="overwrite")
    p.expect("filtered_rows", at_most=10).expect("processed_rows", at_least=95, name="nearly all")
    full = hw.LineageOptions(mode="full", location=f"{tmp_path}/items")
    p.run(spark, options=full, progress=False)
    facets, certificate = certified(watch)
    told = [(each["observed"], each["holds"]) for each in facets["headwater_expectations"]["expectations"]]
    assert told == [(10, True), (90, False)]
    assert ("nearly all", Breach.MATERIAL) in {(each.name, each.breach) for each in certificate.invariants}
