"""Traces of what was written by queries that another day would answer otherwise: with a limit, a sample, a time."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import headwater as hw

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from headwater.rows.answer import Trace

ROWS = [(1, "a", 10), (2, "a", 20), (3, "b", 30), (4, "b", 5), (5, "c", 7)]
SOON = 5  # seconds in which the first two queries have run, and the traces have not
WRITTEN = {
    "recent": "SELECT id FROM o WHERE current_timestamp() < timestamp '{soon}'",
    "recent_within": "SELECT id FROM o WHERE id IN (SELECT id FROM o WHERE now() < timestamp '{soon}')",
    "top": "SELECT k FROM o ORDER BY v DESC LIMIT 2",
    "top_groups": "SELECT count(*) AS n FROM o GROUP BY k ORDER BY max(v) DESC LIMIT 1",
    "ties": "SELECT k FROM o ORDER BY k LIMIT 1",
    "times": "SELECT id, current_timestamp() AS t, current_date() AS d, localtimestamp() AS l, "
    "cast('now' AS timestamp) AS n, current_user() AS u, current_database() AS s, current_timezone() AS z FROM o",
    "formatted": "SELECT id, date_format(current_timestamp(), 'yyyy-MM-dd HH:mm') AS t FROM o",
    "sample": "SELECT * FROM o TABLESAMPLE (60 PERCENT) REPEATABLE (4)",
    "sampled_values": "SELECT v % 2 AS odd FROM o TABLESAMPLE (60 PERCENT) REPEATABLE (4)",
    "steps": "WITH RECURSIVE s (id, k) AS (SELECT id, k FROM o WHERE id = 1 UNION ALL "
    "SELECT o.id, o.k FROM s JOIN o ON o.id = s.id + 1) SELECT * FROM s",
    "random": "SELECT k, rand() AS r FROM o",
}


class Written:
    """Outputs of queries over `o`, and the store that saw them being written."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark, self.folder = spark, folder
        self.store = f"sqlite:///{folder}/lineage.db"

    def write(self) -> None:
        path = str(self.folder / "o")
        self._spark.createDataFrame(ROWS, "id int, k string, v int").coalesce(1).write.parquet(path)
        self._spark.read.parquet(path).createOrReplaceTempView("o")
        hw.enable(self._spark, store=self.store, spool=self.folder / "spool", job="estate")
        try:
            soon = datetime.now(UTC) + timedelta(seconds=SOON)
            for name, sql in WRITTEN.items():
                if "RECURSIVE" in sql and self._spark.version < "4.1":
                    continue  # this Spark has none
                query = sql.format(soon=soon.strftime("%Y-%m-%d %H:%M:%SZ"))
                self._spark.sql(query).coalesce(1).write.parquet(str(self.folder / name))
            assert hw.flush(60)
        finally:
            hw.disable(self._spark)
        time.sleep(max(0.0, (soon - datetime.now(UTC)).total_seconds()))

    def rows(self, name: str) -> DataFrame:
        return self._spark.read.parquet(str(self.folder / name))

    def trace(self, name: str, where: str | None = None) -> Trace:
        return hw.trace(str(self.folder / name), where, spark=self._spark, store=self.store)


@pytest.fixture(scope="module")
def written(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Written:
    made = Written(spark, tmp_path_factory.mktemp("written"))
    made.write()
    return made


def ids(frame: DataFrame) -> list[int]:
    return sorted(row["id"] for row in frame.collect())


def answer(traced: Trace) -> tuple[list[int], str, str]:
    """The ids of the source rows, the grain, and whether it was verified."""
    (grain,) = set(traced.grain.values())
    found = (ids(traced.sources["o"]), grain, traced.verified.answer)
    traced.release()
    return found


@pytest.mark.parametrize(("name", "where", "expected"), [("top", "k = 'a'", [2]), ("top_groups", None, [3, 4])])
def test_rows_beyond_a_limit_are_not_those_within(
    written: Written, name: str, where: str | None, expected: list[int]
) -> None:
    """Other rows of `o`, and another group, give the same values."""
    assert answer(written.trace(name, where)) == (expected, "exact", "yes")


def test_among_equals_the_limit_takes_one(written: Written) -> None:
    traced = written.trace("ties")
    assert any("among equals" in note or "beyond a limit" in note for note in traced.notes)
    found, grain, verified = answer(traced)
    assert (set(found) <= {1, 2}, grain in ("exact", "group"), verified) == (True, True, "yes")


@pytest.mark.parametrize("name", ["recent", "recent_within", "times", "formatted"])
def test_a_query_has_the_time_at_which_it_ran(written: Written, name: str) -> None:
    assert written.rows(name).count() == len(ROWS), "the query ran too late for this test"
    traced = written.trace(name, "id = 2")
    assert traced.parts[0].write is not None
    assert str(traced.parts[0].write.facet["time"]).startswith("20")
    assert answer(traced)[1:] == ("exact", "yes")
    assert 2 in ids(written.trace(name, "id = 2").sources["o"])


def test_samples(written: Written) -> None:
    taken = ids(written.rows("sample"))
    assert 0 < len(taken) < len(ROWS), "a sample of all rows tests nothing"
    assert answer(written.trace("sample")) == (taken, "exact", "yes")
    found, grain, _ = answer(written.trace("sampled_values"))
    assert set(found) <= set(taken) or grain == "group"


def test_a_recursive_query(spark: SparkSession, written: Written) -> None:
    if spark.version >= "4.1":
        assert len(written.rows("steps").collect()) == len(ROWS)
        assert answer(written.trace("steps", "id = 3")) == ([1, 2, 3, 4, 5], "all", "not tried")


def test_rows_that_are_lost_are_not_exact(written: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the answer misses a row, and where the query does not give the asked one."""
    from headwater.rows import verification

    whole = verification._collect_pairs
    monkeypatch.setattr(verification, "_collect_pairs", lambda trace, limit: (whole(trace, limit) or [])[:1])
    traced = written.trace("top_groups")
    assert traced.verified.answer == "no"
    assert "n = 2" in (traced.verified.reason or "")
    assert set(traced.grain.values()) == {"opaque"}


def test_rows_of_no_group_are_not_exact(spark: SparkSession, written: Written) -> None:
    """Even where nothing is verified: a row that claims a group without rows."""
    from headwater.rows.answer import TracePart
    from headwater.rows.backward import trace_known
    from headwater.rows.provenance import RowProvenance

    written.rows("o").createOrReplaceTempView("o")
    plan = spark.sql("select k, count(*) as n from o group by k")._jdf.queryExecution().analyzed()
    for key, grain in (("a", "exact"), ("z", "opaque")):
        rows = spark.createDataFrame([(key, 2)], "k string, n bigint")
        part = TracePart(trace_known(RowProvenance(spark, plan, known=True), rows), [], verify_limit=0)
        assert part.grain == grain


def test_columns_left_to_chance_are_not_compared(written: Written) -> None:
    found, grain, verified = answer(written.trace("random", "k = 'a'"))
    assert (found, grain, verified) == ([1, 2], "group", "yes")


def test_verification_can_be_left_out(spark: SparkSession, written: Written) -> None:
    written.rows("o").createOrReplaceTempView("o")
    frame = spark.sql("select id from o")
    assert str(hw.trace(frame, verify_limit=0).verified) == "not tried: verification is switched off"
    few = hw.trace(frame, verify_limit=2)
    assert str(few.verified) == "not tried: the answer has more than 2 source rows"
    assert few.to_dict()["verified"] == {"answer": "not tried", "reason": few.verified.reason}
