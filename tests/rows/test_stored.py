"""Traces of what was written, with nothing but the store and the data: back through the jobs, and forward."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import headwater as hw
from headwater.errors import InputsChanged, NotReplayable, PythonNotAllowed, RowsError
from headwater.rows.forward_chain import trace_forward_chain
from headwater.rows.stored_writes import StoredWrites

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Estate:
    """A folder of tables and the store that saw them being written."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark, self.folder = spark, folder
        self.store = f"sqlite:///{folder}/lineage.db"
        hw.enable(spark, store=self.store, spool=folder / "spool", job="estate")

    def at(self, name: str) -> str:
        return str(self.folder / name)

    def read(self, name: str) -> DataFrame:
        return self.spark.read.parquet(self.at(name))

    def trace(self, name: str, where: str | None = None, **asked: Any) -> Any:
        assert hw.flush(60)
        return hw.trace(self.at(name), where, spark=self.spark, store=self.store, **asked)


@pytest.fixture
def estate(spark: SparkSession, shop: Path, tmp_path: Path) -> Iterator[Estate]:
    for name in ("orders", "customers"):
        shutil.copytree(shop / name, tmp_path / name)
    made = Estate(spark, tmp_path)
    try:
        yield made
    finally:
        hw.disable(spark)


@pytest.fixture(scope="module")
def daily(spark: SparkSession, shop: Path, tmp_path_factory: pytest.TempPathFactory) -> Estate:
    """Two jobs, captured once for all who trace what they wrote. Nobody watches any more; who changes a file puts it
    back."""
    folder = tmp_path_factory.mktemp("daily")
    for name in ("orders", "customers"):
        shutil.copytree(shop / name, folder / name)
    estate = Estate(spark, folder)
    try:
        write_daily(estate)
        assert hw.flush(60)
    finally:
        hw.disable(spark)
    return estate


@contextmanager
def without(estate: Estate, name: str) -> Iterator[None]:
    """While the table is gone."""
    hidden = (estate.folder / name).rename(estate.folder / f"hidden-{name}")
    try:
        yield
    finally:
        shutil.rmtree(estate.at(name), ignore_errors=True)
        hidden.rename(estate.at(name))


def write_daily(estate: Estate) -> None:
    named = estate.read("orders").join(estate.read("customers"), "customer").select("id", "name", "amount")
    named.write.parquet(estate.at("named"))
    estate.read("named").groupBy("name").sum("amount").toDF("name", "total").orderBy("total").write.parquet(
        estate.at("daily")
    )


def ids(frame: DataFrame) -> list[int]:
    return sorted(row["id"] for row in frame.collect())


def test_back_through_two_jobs_to_the_first_sources(daily: Estate) -> None:
    trace = daily.trace("daily", "name = 'Ann'", depth=None)
    assert [row.asDict()["total"] for row in trace.rows.collect()] == [30]
    assert ids(trace.sources["named"]) == [1, 2]
    (further,) = trace.further.values()
    assert ids(further.sources["orders"]) == [1, 2]
    assert [row["name"] for row in further.sources["customers"].collect()] == ["Ann"]
    assert not further.further
    assert not further.ends


def test_depth_one_stops_at_what_was_read(daily: Estate) -> None:
    assert not daily.trace("daily", "name = 'Ann'").further


def test_a_run_is_traced_by_its_id(daily: Estate) -> None:
    with hw.connect(daily.store) as store:
        run = store.output_facets("headwater_rows", dataset=f"file/{daily.at('daily')}")[0].run_id
    trace = hw.trace(run, "name = 'Bob'", spark=daily.spark, store=daily.store)
    assert ids(trace.sources["named"]) == [3, 4]


def test_a_run_with_two_outputs_asks_which(estate: Estate) -> None:
    with hw.run("both") as run:
        estate.read("orders").where("id < 3").write.parquet(estate.at("low"))
        estate.read("orders").where("id > 3").write.parquet(estate.at("high"))
    assert hw.flush(60)
    with pytest.raises(RowsError, match=r"2 outputs that match.*low.*high|2 outputs that match.*high.*low"):
        hw.trace(str(run), spark=estate.spark, store=estate.store)
    trace = hw.trace(str(run), spark=estate.spark, store=estate.store, output="high")
    assert ids(trace.sources["orders"]) == [4, 5, 6]


def test_rows_of_several_appends_are_traced_through_their_own_run(estate: Estate) -> None:
    for below, above in ((0, 3), (3, 5)):
        part = estate.read("orders").where(f"id > {below} and id <= {above}").selectExpr("id", "amount * 2 as twice")
        part.write.mode("append").parquet(estate.at("twice"))
    trace = estate.trace("twice", "id in (1, 5)")
    assert len(trace.parts) == 2
    assert ids(trace.rows) == ids(trace.sources["orders"]) == [1, 5]


def test_files_added_to_an_input_do_no_harm_but_changed_ones_are_named(estate: Estate) -> None:
    write_daily(estate)
    estate.spark.createDataFrame([(9, "a", 1)], "id int, customer string, amount int").write.mode("append").parquet(
        estate.at("orders")
    )
    assert ids(estate.trace("daily", "name = 'Ann'", depth=2).further.popitem()[1].sources["orders"]) == [1, 2]
    shutil.rmtree(estate.at("named"))
    with pytest.raises(InputsChanged, match=r"named/part-.* is gone"):
        estate.trace("daily", "name = 'Ann'")


def test_a_trace_that_cannot_go_on_says_why_and_keeps_what_it_has(daily: Estate) -> None:
    with without(daily, "orders"):
        trace = daily.trace("daily", "name = 'Ann'", depth=None)
        assert ids(trace.sources["named"]) == [1, 2]
    (end,) = trace.ends.values()
    assert "orders/part-" in end
    assert "ends here" in str(trace._repr_html_())


def test_an_output_that_is_gone_is_made_again(daily: Estate) -> None:
    with without(daily, "daily"):
        trace = daily.trace("daily", "name = 'Ann'")
        assert ids(trace.sources["named"]) == [1, 2]
    assert any("run again" in note for note in trace.notes)


def test_outputs_that_are_partitioned_or_not_parquet(estate: Estate) -> None:
    days = estate.read("orders").selectExpr("id", "concat('0', id) as day", "amount")
    days.write.partitionBy("day").parquet(estate.at("days"))
    assert ids(estate.trace("days", "day = '02'").sources["orders"]) == [2]
    for format in ("json", "orc", "csv"):
        days.write.format(format).save(estate.at(format))
        assert ids(estate.trace(format, "id = 3").sources["orders"]) == [3], format


def test_a_limit_at_the_top_needs_not_be_computed_again(estate: Estate) -> None:
    estate.read("orders").orderBy("amount").limit(3).write.parquet(estate.at("least"))
    row = estate.read("least").orderBy("id").first()
    assert row is not None
    assert ids(estate.trace("least", f"id = {row['id']}").sources["orders"]) == [row["id"]]


def test_what_cannot_be_replayed_says_what_is_needed(estate: Estate) -> None:
    estate.spark.createDataFrame([(1,)], "id int").write.parquet(estate.at("made"))
    from_rdd = estate.spark.sparkContext.parallelize([(1,)]).toDF(["id"])
    from_rdd.write.parquet(estate.at("from_rdd"))
    with pytest.raises(NotReplayable, match="made in the program"):
        estate.trace("from_rdd")


def test_python_of_a_stored_query_runs_only_if_allowed(estate: Estate) -> None:
    from pyspark.sql import functions as F

    twice = F.udf(lambda value: (value or 0) * 2, "int")
    estate.read("orders").select("id", twice("amount").alias("twice")).write.parquet(estate.at("twice"))
    with pytest.raises(PythonNotAllowed):
        estate.trace("twice", "id = 1")
    assert ids(estate.trace("twice", "id = 1", allow_python=True).sources["orders"]) == [1]


def test_rows_off_keeps_nothing_and_says_so(estate: Estate) -> None:
    with hw.run("quiet", rows="off"):
        estate.read("orders").write.parquet(estate.at("quiet"))
    with pytest.raises(RowsError, match="No row lineage is stored"):
        estate.trace("quiet")


def test_forward_through_the_jobs_that_read_it(daily: Estate) -> None:
    with hw.connect(daily.store) as store:
        found = trace_forward_chain(StoredWrites(daily.spark, store), daily.at("orders"), "id = 3", None).to_dict()
    assert [row["id"] for row in found["rows"]] == [3]
    (named,) = found["reached"]
    assert [row["id"] for row in named["rows"]] == [3]
    (totals,) = named["reached"]
    assert [(row["name"], row["total"]) for row in totals["rows"]] == [("Bob", 5)]


TOPS = {
    "window": ("select id, count(*) over (partition by customer) n from orders", [1, 2]),
    "semi": ("select id from orders where customer in (select customer from customers)", [1]),
    "sum_only": ("select sum(amount) id from orders where id = 1 group by customer", [1]),
    "having": ("select min(id) id, customer from orders group by customer having count(*) > 1", [1, 2]),
    "floating": ("select sum(cast(amount as double)) id from orders group by customer", [1, 2]),
    "global": ("select min(id) id from orders", [1, 2, 3, 4, 5, 6]),
    "above_average": (
        "select min(id) id, customer from orders where amount >= (select avg(amount) from orders) "
        "group by customer order by id limit 1",
        [1, 2, 3, 4, 5, 6],
    ),
}
# Of groups with a key the limit has one, of groups without a key the floating sum.
LONG_TOPS = ("sum_only", "having", "global")
SHORT_TOPS = tuple(name for name in TOPS if name not in LONG_TOPS)


@pytest.mark.parametrize(
    "names", [SHORT_TOPS, pytest.param(LONG_TOPS, marks=pytest.mark.long)], ids=["different", "alike"]
)
def test_what_stands_at_the_top_of_the_plan_makes_no_difference(estate: Estate, names: tuple[str, ...]) -> None:
    for name in ("orders", "customers"):
        estate.read(name).createOrReplaceTempView(name)
    for name in names:
        sql, behind = TOPS[name]
        estate.spark.sql(sql).write.parquet(estate.at(name))
        where = {"sum_only": "id = 10", "floating": "id = 30"}.get(name, "id = 1")
        assert ids(estate.trace(name, where).sources["orders"]) == behind, name


def test_files_that_no_run_wrote_are_said(estate: Estate) -> None:
    estate.read("orders").where("id < 3").write.parquet(estate.at("mixed"))
    assert hw.flush(60)
    hw.disable(estate.spark)
    estate.read("orders").where("id = 3").write.mode("append").parquet(estate.at("mixed"))
    hw.enable(estate.spark, store=estate.store, spool=estate.folder / "spool", job="estate")
    estate.read("mixed").groupBy().sum("amount").toDF("total").write.parquet(estate.at("total"))
    trace = estate.trace("total", depth=None)
    assert ids(trace.sources["mixed"]) == [1, 2, 3]
    assert ids(trace.further.popitem()[1].sources["orders"]) == [1, 2]
    assert "1 of its files" in next(iter(trace.ends.values()))


def test_datasets_made_of_each_other_in_turn_come_to_an_end(estate: Estate) -> None:
    estate.read("orders").write.parquet(estate.at("one"))
    for source, target in (("one", "other"), ("other", "one"), ("one", "other")):
        estate.read(source).where("id < 5").write.mode("append").parquet(estate.at(target))
    assert hw.flush(60)
    with hw.connect(estate.store) as store:
        found = trace_forward_chain(StoredWrites(estate.spark, store), estate.at("other"), "id = 1", None).to_dict()
    (one,) = found["reached"]
    (other,) = one["reached"]
    assert [each["dataset"].rsplit("/", 1)[-1] for each in (one, other)] == ["one", "other"]
    assert other["reached"] == []
