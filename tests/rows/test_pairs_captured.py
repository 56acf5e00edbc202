"""Pair tables as a job gets them: asked for once, written behind its back, told of in the event of its run."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

import headwater as hw
from headwater.cli.app import app
from headwater.engines.paths import local_path
from headwater.errors import HeadwaterError
from headwater.rows.pairs.lookup import PairTables
from headwater.store.store import Store
from tests.capture.watching import Watch, watched

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture(scope="module")
def orders(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    folder = str(tmp_path_factory.mktemp("orders") / "orders")
    spark.range(100).selectExpr("id", "id % 9 AS customer", "id * 2 AS amount").write.parquet(folder)
    return spark.read.parquet(folder)


@pytest.fixture(scope="module")
def watch(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watch]:
    with watched(spark, tmp_path_factory.mktemp("watch")) as found:
        yield found


def facets(events: list[Any]) -> list[Any]:
    runs = [event["run"]["facets"] for event in events if event.get("eventType") == "COMPLETE"]
    return [each["cdme.adjointMetadata"] for each in runs if "cdme.adjointMetadata" in each]


def test_a_run_tells_where_its_row_tables_are(watch: Watch, orders: DataFrame, tmp_path: Path) -> None:
    watch.new_events()
    with hw.run("daily", rows="full", rows_location=str(tmp_path / "rows")) as run_id:
        orders.groupBy("customer").count().write.parquet(f"{tmp_path}/counts")
        orders.where("amount > 100").write.parquet(f"{tmp_path}/large")
    events = watch.new_events()
    (facet,) = facets(events)
    assert set(facet["reverseJoinLocations"]) == {"output-0/block-1/source-0", "output-1/block-0/source-0"}
    assert [each["agreement"]["checked"] for each in facet["outputs"]] == ["read", "compared"]
    with PairTables(facet) as counts, PairTables(facet, output=1) as large:
        counts.verify()
        assert local_path(counts.layout.location) == tmp_path / "rows" / str(run_id) / "0"
        (out,) = counts.output_rows("customer = 4")
        assert sorted(row["id"] for row in counts.source_rows(counts.sources([out.id])[0])) == list(range(4, 100, 9))
        (one,) = large.output_rows("id = 77")
        assert [row["amount"] for row in large.source_rows(large.sources([one.id])[0])] == [154]
    written = {output["name"] for event in events for output in event.get("outputs", ())}
    assert written == {f"{tmp_path}/counts", f"{tmp_path}/large"}, "what we write ourselves is no run of the user"
    with Store("memory://") as store:
        for event in events:
            store.ingest(event)
        assert "cdme.adjointMetadata" in store.run(str(run_id)).run_facets


def test_looked_up_on_the_command_line_without_spark(
    watch: Watch, orders: DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch.new_events()
    with hw.run("daily", rows="full", rows_location=str(tmp_path / "rows")) as run_id:
        orders.groupBy("customer").count().write.parquet(f"{tmp_path}/counts")
    address = f"sqlite:///{tmp_path}/lineage.db"
    with Store(address) as store:
        store.ingest_many(watch.new_events())
    monkeypatch.setitem(sys.modules, "pyspark", None)  # whoever imports it now fails
    asked = ["rows", "lookup", str(run_id), "--where", "customer = 4", "--store", address, "--verify"]
    told = CliRunner().invoke(app, [*asked, "--json"])
    assert told.exit_code == 0, told.output
    found = json.loads(told.stdout)
    assert [row["customer"] for row in found["rows"]] == [4]
    (source,) = found["sources"]
    assert (source["grain"], source["count"]) == ("exact", 11)
    assert sorted(row["id"] for row in source["rows"]) == list(range(4, 100, 9))
    text = CliRunner().invoke(app, [*asked, "--rows", "2"]).stdout
    assert "… and 9 more" in text
    for condition, message in (
        (
            "custmer = 4",
            r"The condition does not fit: there is no column 'custmer'\. Rows are identified by: customer\.",
        ),
        ("customer =", r"The condition is refused .*It cannot be parsed from this position on\."),
        ("customer = 'x'", r"The condition does not fit: .*'x'.* Rows are identified by: customer\."),
        ("customer IN (SELECT 4)", r"The condition is refused \(\(SELECT 4\)\)\. It contains a subquery\."),
    ):
        wrong = CliRunner().invoke(app, ["rows", "lookup", str(run_id), "--where", condition, "--store", address])
        assert isinstance(wrong.exception, HeadwaterError)
        assert re.fullmatch(message, str(wrong.exception))


def test_rows_that_were_added_to_others(watch: Watch, orders: DataFrame, tmp_path: Path) -> None:
    orders.where("id < 5").write.parquet(f"{tmp_path}/all")
    watch.new_events()
    with hw.run("append", rows="full", rows_location=str(tmp_path / "rows")):
        orders.where("id >= 90").write.mode("append").parquet(f"{tmp_path}/all")
    (facet,) = facets(watch.new_events())
    assert facet["outputs"][0]["agreement"] == {"checked": "compared"}
    assert facet["outputs"][0]["rows"] == 10


def test_what_cannot_be_kept_is_said_and_hurts_nothing(watch: Watch, orders: DataFrame, tmp_path: Path) -> None:
    watch.new_events()
    with hw.run("by chance", rows="full", rows_location=str(tmp_path / "rows")):
        orders.where("rand() > 0.5").write.parquet(f"{tmp_path}/some")
    (facet,) = facets(watch.new_events())
    assert "rand" in facet["outputs"][0]["invalid"]
    assert facet["reverseJoinLocations"] == {}
    assert not list((tmp_path / "rows").rglob("*.parquet"))


def test_the_output_is_the_same_with_and_without(watch: Watch, orders: DataFrame, tmp_path: Path) -> None:
    written = {}
    for mode in ("off", "full"):
        with hw.run("same", rows=mode, rows_location=str(tmp_path / "rows")):
            orders.groupBy("customer").sum("amount").write.parquet(f"{tmp_path}/{mode}")
        watch.new_events()
        files = sorted(Path(f"{tmp_path}/{mode}").glob("*.parquet"))
        written[mode] = [file.read_bytes() for file in files]
    assert written["full"] == written["off"]
