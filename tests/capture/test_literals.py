"""`literals="mask"` and `"drop"`: no value of a query leaves the process, and what that costs is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import headwater as hw
from headwater.capture.listener import session
from headwater.errors import HeadwaterError, NotReplayable
from headwater.formats.openlineage.claims.preimages import wrong_hashes
from headwater.rows.kept_queries.restore import restore
from tests.capture.telling import Run, runs_of
from tests.capture.watching import APPLICATION, Watch
from tests.rows.keep.keeping import trusted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VALUE = "Erika Mustermann"
NUMBER = "8675309"


def job(spark: SparkSession, here: Path, literals: str) -> None:
    """A write with values everywhere, of a view with one, and one that fails with another."""
    with hw.run("literals", literals=literals):
        spark.sql(
            f"CREATE TABLE cases.t_{literals} USING parquet AS SELECT concat(name, '{VALUE}') AS c, id + {NUMBER} AS n "
            f"FROM cases.v WHERE name <> '{VALUE}' AND id NOT IN (1{NUMBER}, 2{NUMBER}) "
            f"AND name NOT LIKE ALL ('{VALUE}%', 'x')"
        )
    with pytest.raises(Exception, match="Erika"), hw.run("fails", literals=literals):
        raise ValueError(f"{VALUE} is not known")


def runs(spark: SparkSession, watch: Watch, here: Path, literals: str) -> tuple[Run, Run, str]:
    spark.sql(f"CREATE VIEW cases.v AS SELECT id, coalesce(name, '{VALUE}') AS name FROM shop.customers")
    watch.new_events()
    job(spark, here, literals)
    events = watch.new_events()
    first, second = runs_of(events, APPLICATION)
    return first, second, json.dumps(events)


def rows_of(run: Run) -> dict[str, Any]:
    (output,) = run.outputs
    found: dict[str, Any] = output["outputFacets"]["headwater_rows"]
    return found


@pytest.mark.parametrize("literals", ["mask", "drop"])
def test_no_value_leaves(spark: SparkSession, watch: Watch, here: Path, literals: str) -> None:
    run, failed, text = runs(spark, watch, here, literals)
    assert VALUE not in text
    assert NUMBER not in text
    sql = [event["job"]["facets"]["sql"]["query"] for event in run.events if "sql" in event["job"]["facets"]]
    manifest, trace = (run.last["run"]["facets"][name] for name in ("cdme.runManifest", "cdme.morphismTrace"))
    if literals == "mask":
        assert any("name <> ?" in query for query in sql)
        assert wrong_hashes(manifest) == []
        assert "design" in manifest
        assert "+ ?)" in json.dumps(trace)
    else:
        assert sql == []
        assert "design" not in manifest
        assert manifest["designHash"]
    message = failed.last["run"]["facets"]["errorMessage"]
    assert message["message"].startswith("ValueError (")
    assert 'File "' in message["stackTrace"]


def test_what_is_kept_of_rows_says_what_it_cannot_answer(spark: SparkSession, watch: Watch, here: Path) -> None:
    run, _, _ = runs(spark, watch, here, "mask")
    kept = rows_of(run)
    assert "plan" not in kept
    assert kept["literals"] == "mask"
    assert [source["datasets"] for source in kept["sources"]]
    with pytest.raises(NotReplayable) as refused:
        restore(spark, trusted(kept))
    assert str(refused.value) == (
        'The run cannot be replayed: it ran with literals="mask", so its query, which holds literals, was not kept; '
        'rows="full" would have kept pair tables, in which rows can be looked up'
    )


def test_values_stay_where_nothing_is_said(spark: SparkSession, watch: Watch, here: Path) -> None:
    run, failed, text = runs(spark, watch, here, "keep")
    assert VALUE in text
    assert rows_of(run)["replayable"] is True
    assert VALUE in failed.last["run"]["facets"]["errorMessage"]["message"]


def test_the_environment_says_it_for_all(
    spark: SparkSession, watch: Watch, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HEADWATER_LITERALS", "hide")
    with pytest.raises(HeadwaterError, match="literals='hide' is not known"):
        hw.enable(spark, sink="console", spool=tmp_path)
    with pytest.raises(HeadwaterError, match="literals='all' is not known"), hw.run("x", literals="all"):
        pass
    assert session.active()
