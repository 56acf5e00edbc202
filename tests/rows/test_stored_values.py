"""Stored rows are compared with those of the query as their format stores them, and traced on through every format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import headwater as hw
from headwater.errors import NotReplayable, UnknownDataset
from headwater.model.names import Dataset
from headwater.rows.forward_chain import trace_forward_chain
from headwater.rows.kept_queries.files import PinnedFile
from headwater.rows.names import NamedSource
from headwater.rows.provenance import PlanColumn
from headwater.rows.stored_values import VALUE, StoredFormat
from headwater.rows.stored_writes import StoredWrites

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from headwater.rows.answer import Trace

ROWS = (
    "select * from values (1, '', ' a', timestamp'2026-01-01 00:00:00.123456', 'x'), "
    "(2, null, 'b', timestamp'2026-01-01 00:00:00.123999', 'y'), "
    "(3, 'p', '', timestamp'2026-01-02 00:00:00.000001', null), (4, 'q', null, null, 'y') t(id, p, k, ts, other)"
)
FORMATS = ("json", "csv", "orc")
READ = "id int, p string, k string, ts timestamp, other string"


class Written:
    """What one application wrote, and its store."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark, self.folder, self.store = spark, folder, f"sqlite:///{folder}/lineage.db"

    def at(self, name: str) -> str:
        return str(self.folder / name)

    def trace(self, name: str, where: str, depth: int | None = 1) -> Trace:
        return hw.trace(self.at(name), where, spark=self.spark, store=self.store, depth=depth)


@pytest.fixture(scope="module")
def written(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Written:
    written = Written(spark, tmp_path_factory.mktemp("values"))
    spark.sql(ROWS).coalesce(1).write.parquet(written.at("rows"))
    hw.enable(spark, store=written.store, spool=written.folder / "spool", job="values")
    try:
        rows = spark.read.parquet(written.at("rows"))
        rows.write.partitionBy("p").parquet(written.at("by_p"))
        rows.groupBy("p").count().write.partitionBy("p").parquet(written.at("groups_by_p"))
        for format in FORMATS:
            rows.write.format(format).save(written.at(format))
            read = spark.read.schema(READ).format(format).load(written.at(format))
            read.groupBy("id", "k").count().write.parquet(written.at(f"{format}_end"))
        rows.write.options(timestampFormat="dd.MM.yyyy HH:mm XXX", nullValue="NONE").json(written.at("json_days"))
        rows.createOrReplaceTempView("rows")
        spark.sql("create database if not exists stored_values")
        spark.sql("create table stored_values.padded (id int, k char(5)) using parquet")
        spark.sql("insert into stored_values.padded select id, k from rows")
        assert hw.flush(60)
    finally:
        hw.disable(spark)
    return written


def ids(frame: DataFrame) -> list[int]:
    return sorted(row["id"] for row in frame.collect())


def source_ids(trace: Trace, name: str = "rows") -> list[int]:
    assert not trace.notes
    return ids(trace.sources[name])


def test_an_empty_text_as_a_partition(written: Written) -> None:
    for id in (1, 2):
        assert source_ids(written.trace("by_p", f"id = {id}")) == [id]
    assert source_ids(written.trace("by_p", "p is null")) == [1, 2]


def test_groups_of_null_and_of_an_empty_text_are_stored_as_one(written: Written) -> None:
    assert source_ids(written.trace("groups_by_p", "p is null")) == [1, 2]
    assert source_ids(written.trace("groups_by_p", "p = 'q'")) == [4]


NOT_FOUND_AGAIN = "not run: on Spark 3.5 the answer says that it does not find rows with times in JSON again"


@pytest.mark.parametrize("format", FORMATS)
def test_traces_go_on_through_every_format(written: Written, format: str, spark: SparkSession) -> None:
    if format == "json" and spark.version < "4":
        pytest.skip(NOT_FOUND_AGAIN)
    for id in (1, 4):
        trace = written.trace(f"{format}_end", f"id = {id}", depth=None)
        assert source_ids(trace, format) == [id]
        (further,) = trace.further.values()
        assert source_ids(further) == [id]
        assert not trace.ends


def test_times_in_texts(written: Written, spark: SparkSession) -> None:
    if spark.version < "4":
        pytest.skip(NOT_FOUND_AGAIN)
    assert source_ids(written.trace("json", "id = 1")) == [1]
    days = written.trace("json_days", "ts = timestamp'2026-01-02 00:00:00'")
    assert source_ids(days) == [3]


def test_forward_through_a_partition_of_null(written: Written) -> None:
    with hw.connect(written.store) as store:
        step = trace_forward_chain(StoredWrites(written.spark, store), written.at("rows"), "id = 1", None)
    reached = {next_step.dataset.name.rsplit("/")[-1]: next_step for next_step in step.reached}
    assert ids(reached["by_p"].rows) == [1]


def test_texts_that_a_table_pads_are_refused_by_name(written: Written) -> None:
    with pytest.raises(NotReplayable, match="StaticInvoke, which is not on the list"):
        hw.trace("stored_values.padded", "id = 3", spark=written.spark, store=written.store)


def test_any_spelling_of_a_table_or_folder(written: Written) -> None:
    with hw.connect(written.store) as store:
        writes = StoredWrites(written.spark, store)
        (by_name,) = writes.writes_of("stored_values.padded")
        assert by_name.dataset.namespace == "file"
        folder = by_name.dataset.name
        for name in (
            "spark_catalog.stored_values.padded",
            "`stored_values`.`padded`",
            folder,
            f"{folder}/",
            f"file:{folder}",
            f"file://{folder}",
        ):
            assert writes.writes_of(name) == [by_name], name
        written.spark.catalog.setCurrentDatabase("stored_values")
        try:
            assert writes.writes_of("padded") == writes.writes_of("spark_catalog.padded") == [by_name]
        finally:
            written.spark.catalog.setCurrentDatabase("default")
        with pytest.raises(UnknownDataset, match=r"'stored_values\.paded' is not known"):
            writes.writes_of("stored_values.paded")
        step = trace_forward_chain(writes, f"file:{written.at('rows')}", "id = 4", 1)
    assert {next_step.dataset.name.rsplit("/")[-1] for next_step in step.reached} >= {"by_p", "json"}
    named = NamedSource(by_name.dataset, (), Dataset("hive", "stored_values.padded"))
    for name in ("spark_catalog.stored_values.padded", "`padded`", f"file:{folder}", f"file://{folder}/", "padded"):
        assert named.matches(name), name
    for dataset in (Dataset("inmemory://", "range-1"), Dataset("s3://bucket", "raw/orders")):
        assert NamedSource(dataset).matches(str(dataset))


NAMES = ("p", "n", "t", "z", "s", "d")
TYPES = ("string", "bigint", "timestamp", "double", "struct<a:timestamp>", "decimal(3,2)")


def stored(format: str, *files: str, **options: str) -> dict[str, str]:
    """The columns whose values change."""
    pinned = [PinnedFile(f"file:/out/{file}", 1, 1) for file in files]
    partitions = frozenset(name for file in pinned for name in NAMES if f"/{name}=" in file.path)
    columns = [PlanColumn(name, place, type) for place, (name, type) in enumerate(zip(NAMES, TYPES, strict=True))]
    values = StoredFormat(format, options, partitions).stored_values(columns, NAMES, TYPES, options)
    return {name: text for name, text in zip(NAMES, values, strict=True) if text is not None}


def test_what_changes_in_which_format() -> None:
    assert stored("parquet", "a.parquet") == {}
    in_paths = stored("orc", "p=1/n=2/z=1.5/a.orc")
    assert in_paths.keys() == {"p", "z"}
    assert in_paths["z"] == f"cast(cast({VALUE} as string) as double)"
    assert stored("json", "a.json").keys() == {"t", "s"}
    assert stored("csv", "a.csv").keys() == {"p", "t", "z", "s"}
    with_quotes = stored("csv", "a.csv", nullValue="it's", path="/secret")["p"]
    assert "map('nullValue', 'it\\'s')" in with_quotes
    assert "secret" not in with_quotes
