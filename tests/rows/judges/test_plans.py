"""Some hundred plans, each traced for every row: nothing missing, nothing in vain, and the answer knows it.

Three judges, none of which is the trace: another engine runs the query again on the rows of one output row; it does so
without each of these rows in turn, which has to show; and the answer's own verification has to agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import headwater as hw
from tests.rows.judges.comparing import copies_of
from tests.rows.judges.lab import Lab, write
from tests.rows.judges.occurrences import Named, occurrence_names
from tests.rows.judges.plans import BOTH, SPARK_ALONE
from tests.rows.judges.reexecution import faults
from tests.rows.judges.small_tables import SCHEMAS, small_tables
from tests.rows.judges.traced import Traced, trace
from tests.support.duck import Duck

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEED = 2  # no table is empty
_MAX_ROWS = 4  # output rows whose sources are left out one by one
SHORT = {
    *("LEFT JOIN by a range", "groups in a FULL JOIN", "NOT EXISTS by both", "NOT IN by a range", "IN by or"),
    *("count in a list by a range", "sum in LATERAL by equality", "a sliding sum over a", "EXCEPT ALL of groups"),
    *("group: GROUPING SETS", "limit: without its key", "limit: in LATERAL", "NOT EXISTS within NOT EXISTS"),
    *("a scalar within a scalar", "a CTE in a subquery"),
}
SHORT_ALONE = {"rows with timestamp", "two generators", "UNPIVOT", "a union of subqueries by row"}


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    for name, table in small_tables(SEED).items():
        write(table, folder / name)
    return folder


def test_there_are_two_hundred() -> None:
    assert len(BOTH) + len(SPARK_ALONE) >= 200
    assert BOTH.keys() >= SHORT
    assert SPARK_ALONE.keys() >= SHORT_ALONE


def _selected(titles: Mapping[str, object], short: set[str]) -> list[object]:
    return [pytest.param(title, marks=[] if title in short else [pytest.mark.long]) for title in titles]


@pytest.mark.parametrize("title", _selected(BOTH, SHORT))
def test_every_row_comes_back_from_its_own_rows(spark: SparkSession, tables: Path, tmp_path: Path, title: str) -> None:
    if spark.version < "4" and title == "limit: in LATERAL":
        pytest.skip("not run: Spark 3.5 does not analyze a LIMIT in such a place")
    plan = BOTH[title]
    named = occurrence_names(plan.sql, SCHEMAS)
    lab = Lab(spark, tables, tmp_path / "occurrences")
    with lab.duck as duck:
        traced = trace(lab.frame(named), named.tables, verify_limit=1_000)
        assert faults(duck, named, traced) == []
        if plan.every and set(traced.grains.values()) == {"exact"}:
            assert in_vain(duck, named, traced) == []
    labelled = {"all", "opaque"} & set(traced.grains.values())
    assert labelled or traced.verified == "yes", traced.verified


def in_vain(duck: Duck, named: Named, traced: Traced) -> list[str]:
    """Traced rows without which the query still gives the output row as often."""
    found = []
    for row, out_id in list(traced.rows)[:_MAX_ROWS]:
        own = {name: traced.pairs[name].get(out_id, frozenset()) for name in named.tables.keys() - named.negated}
        for name, places in own.items():
            for spared in places:
                for other, others in own.items():
                    kept = others - {spared} if other == name else others
                    duck.restrict(other, named.tables[other], [(out_id, *place) for place in kept])
                again = duck.run(named.duck, out_id)
                for other, others in own.items():
                    duck.restrict(other, named.tables[other], [(out_id, *place) for place in others])
                if copies_of(row, again) >= copies_of(row, duck.run(named.duck, out_id)):
                    found.append(f"{row} does not need {spared} of {name}")
    return found


@pytest.mark.parametrize("title", _selected(SPARK_ALONE, SHORT_ALONE))
def test_words_of_spark_alone(spark: SparkSession, tables: Path, title: str) -> None:
    """Judged by Spark: each output row alone, from its own rows alone."""
    for name in SCHEMAS:
        spark.read.parquet(str(tables / name)).createOrReplaceTempView(name)
    frame = spark.sql(SPARK_ALONE[title])
    together = hw.trace(frame)
    assert together.verified.answer == "yes", together.verified
    assert together.rows.drop("out_id").distinct().count() == frame.distinct().count()
    together.release()


FORMATS = ("orc", "json", "csv", "parquet")


@pytest.mark.parametrize("format", _selected(dict.fromkeys(FORMATS), {"json"}))
def test_every_format(spark: SparkSession, tables: Path, tmp_path: Path, format: str) -> None:
    schema = "id int, a int, b int, s string"
    spark.read.parquet(str(tables / "t")).coalesce(1).write.format(format).save(str(tmp_path / "t"))
    read = spark.read.format(format).schema(schema).load(str(tmp_path / "t"))
    grouped = hw.trace(read.groupBy("a").count(), "a = 1")
    ids = {row["id"] for row in grouped.sources["t"].collect()}
    assert ids == {row["id"] for row in read.where("a = 1").collect()}
    assert (grouped.verified.answer, set(grouped.grain.values())) == ("yes", {"exact"})
    grouped.release()
