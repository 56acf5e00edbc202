"""Every kind of source: pinned and read again, or named as what stands in the way."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.capture.shop import DERBY, write_derby
from tests.capture.telling import Json
from tests.rows.keep.keeping import Keeping, rows_of, run


def comes_back(keeping: Keeping, facet: Json, query: str) -> Json:
    """Running it again gives what the query gave; answers with its only source."""
    assert (facet["replayable"], facet["needs"]) == (True, [])
    assert rows_of(run(keeping.spark, keeping.again(facet))) == rows_of(keeping.spark.sql(query))
    (source,) = facet["sources"]
    found: Json = source
    return found


@pytest.fixture
def folder(keeping: Keeping, tmp_path: Path) -> Iterator[Path]:
    """A folder, and a database in it that is the current one."""
    keeping.spark.sql(f"CREATE DATABASE kept LOCATION '{tmp_path}/kept'")
    keeping.spark.sql("USE kept")
    yield tmp_path
    keeping.spark.sql("USE default")
    keeping.spark.sql("DROP DATABASE kept CASCADE")


@pytest.mark.parametrize("format", ["parquet", "orc", "json", "csv"])
def test_a_format(keeping: Keeping, tmp_path: Path, format: str) -> None:
    written = f"{tmp_path}/a b%20{{1}}"  # a name that must not be taken for a pattern, nor be unescaped
    keeping.spark.sql("SELECT id, k, s FROM items").write.format(format).save(written)
    reader = keeping.spark.read.format(format).schema("id bigint, k int, s string")
    if format in ("parquet", "orc"):
        reader = keeping.spark.read.format(format)
    frame = reader.load(written.replace("{", "\\{").replace("}", "\\}"))
    frame.createOrReplaceTempView("formatted")
    source = comes_back(keeping, keeping.frame(frame), "SELECT * FROM formatted")
    assert (source["kind"], source["format"]) == ("files", format)


def test_csv_options_are_kept_and_secrets_are_not(keeping: Keeping, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("n;word\n1;'a;b'\n2;-\n")
    options = {"header": "true", "sep": ";", "quote": "'", "nullValue": "-", "inferSchema": "true"}
    secret = {"fs.s3a.secret.key": "hidden-1", "password": "hidden-2", "my.Access-Token": "hidden-3"}
    frame = keeping.spark.read.options(**options, **secret).csv(f"{tmp_path}/in.csv")
    frame.createOrReplaceTempView("words")
    facet = keeping.frame(frame)
    source = comes_back(keeping, facet, "SELECT * FROM words")
    assert source["options"] == {key.lower(): value for key, value in options.items()}
    assert "hidden" not in str(facet)


def test_text(keeping: Keeping, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("one\ntwo\n")
    keeping.spark.read.text(f"{tmp_path}/in.txt").createOrReplaceTempView("lines")
    comes_back(keeping, keeping.frame(keeping.spark.table("lines")), "SELECT * FROM lines")


def test_partition_folders_come_back_with_their_types(keeping: Keeping, tmp_path: Path) -> None:
    parted = "SELECT id, DATE'2026-11-10' + int(k) AS day, lpad(k, 2, '0') AS code FROM items"
    keeping.spark.sql(parted).write.partitionBy("day", "code").parquet(f"{tmp_path}/days")
    schema = "id bigint, day date, code string"  # as numbers the codes would lose their zeros
    keeping.spark.read.schema(schema).parquet(f"{tmp_path}/days").createOrReplaceTempView("days")
    query = "SELECT * FROM days WHERE day > DATE'2026-11-11' AND id > 3"
    facet = keeping.frame(keeping.spark.sql(query))
    comes_back(keeping, facet, query)
    days = {Path(file.path).parent.parent.name for file in keeping.again(facet).sources[0].files}
    assert days == {"day=2026-11-12", "day=2026-11-13", "day=2026-11-14"}, "only what the plan has read"


def test_one_partition_folder(keeping: Keeping, tmp_path: Path) -> None:
    keeping.spark.table("items").write.partitionBy("k").parquet(f"{tmp_path}/parts")
    frame = keeping.spark.read.parquet(f"{tmp_path}/parts/k=1")
    frame.createOrReplaceTempView("one")
    comes_back(keeping, keeping.frame(frame), "SELECT * FROM one")


def test_several_folders_are_one_leaf(keeping: Keeping, data: Path, tmp_path: Path) -> None:
    keeping.spark.sql("SELECT * FROM items WHERE k = 2").write.parquet(f"{tmp_path}/more")
    frame = keeping.spark.read.parquet(f"{data}/items", f"{tmp_path}/more")
    frame.createOrReplaceTempView("both")
    source = comes_back(keeping, keeping.frame(frame), "SELECT * FROM both")
    assert {each["name"] for each in source["datasets"]} == {f"{data}/items", f"{tmp_path}/more"}


def test_the_hidden_column(keeping: Keeping, data: Path) -> None:
    frame = keeping.spark.read.parquet(f"{data}/items").selectExpr(
        "id", "_metadata.file_name AS name", "_metadata.row_index AS at"
    )
    restored = keeping.again(keeping.frame(frame))
    assert rows_of(run(keeping.spark, restored)) == rows_of(frame)


def test_a_table(keeping: Keeping, folder: Path) -> None:
    keeping.spark.table("items").write.saveAsTable("things")
    source = comes_back(keeping, keeping.frame(keeping.spark.table("things")), "SELECT * FROM things")
    assert (source["kind"], source["datasets"][0]["name"]) == ("files", f"{folder}/kept/things")


def test_a_partitioned_table(keeping: Keeping, folder: Path) -> None:
    keeping.spark.table("items").write.partitionBy("k").saveAsTable("parts")
    query = "SELECT s, k FROM parts WHERE k = 3"
    facet = keeping.frame(keeping.spark.sql(query))
    comes_back(keeping, facet, query)
    assert {Path(file.path).parent.name for file in keeping.again(facet).sources[0].files} == {"k=3"}


@pytest.mark.parametrize("partitioned", [False, True])
def test_a_table_that_is_added_to_from_itself(keeping: Keeping, folder: Path, partitioned: bool) -> None:
    """What was read is what was there before, though the table lists its files anew after the write."""
    writer = keeping.spark.table("items").write
    (writer.partitionBy("k") if partitioned else writer).saveAsTable("grows")
    before = rows_of(keeping.spark.sql("SELECT id, s, v, k FROM grows"))
    facet = keeping.of(lambda: keeping.spark.sql("INSERT INTO grows SELECT * FROM grows"))
    again = run(keeping.spark, keeping.again(facet)).select("id", "s", "v", "k")
    assert rows_of(again) == before
    assert sum(before.values()) * 2 == keeping.spark.table("grows").count()


def test_views(keeping: Keeping, folder: Path) -> None:
    keeping.spark.table("items").write.saveAsTable("base")
    keeping.spark.sql("CREATE VIEW inner_view AS SELECT id, v * 2 AS twice FROM base WHERE k > 0")
    keeping.spark.sql("CREATE VIEW outer_view (a, b) AS SELECT id, twice FROM inner_view WHERE id > 5")
    query = "SELECT a, b FROM outer_view WHERE b < 100"
    source = comes_back(keeping, keeping.frame(keeping.spark.sql(query)), query)
    assert source["datasets"] == [{"namespace": "file", "name": f"{folder}/kept/base"}]


def test_statements(keeping: Keeping, folder: Path) -> None:
    query = "WITH x AS (SELECT k, max(id) AS m FROM items GROUP BY k) SELECT m, g FROM x JOIN groups USING (k)"
    for statement in (f"CREATE TABLE made USING parquet AS {query}", f"INSERT OVERWRITE made {query}"):
        facet = keeping.of(partial(keeping.spark.sql, statement))
        assert facet["replayable"]
        assert facet["columns"] == ["m", "g"]
        assert rows_of(run(keeping.spark, keeping.again(facet))) == rows_of(keeping.spark.sql(query))


def test_a_cached_frame(keeping: Keeping) -> None:
    frame = keeping.spark.sql("SELECT k, count(*) AS n FROM items GROUP BY k").cache()
    try:
        frame.count()
        facet = keeping.frame(frame.where("n > 1"))
        assert rows_of(run(keeping.spark, keeping.again(facet))) == rows_of(frame.where("n > 1"))
    finally:
        frame.unpersist()


def test_the_same_frame_twice_is_two_sources(keeping: Keeping, data: Path) -> None:
    frame = keeping.spark.read.parquet(f"{data}/groups")
    restored = keeping.again(keeping.frame(frame.union(frame)))
    assert [source.dataset for source in restored.sources] == [("file", f"{data}/groups")] * 2
    assert rows_of(run(keeping.spark, restored)) == rows_of(frame.union(frame))


def test_sources_are_in_the_order_of_the_leaves(keeping: Keeping, data: Path) -> None:
    """Below an operator from left to right, then its own subqueries."""
    query = "SELECT i.id FROM items i, range(3) r WHERE i.k IN (SELECT k FROM groups) AND i.id = r.id"
    restored = keeping.again(keeping.frame(keeping.spark.sql(query)))
    assert [(source.kind, source.dataset and Path(source.dataset[1]).name) for source in restored.sources] == [
        ("files", "items"),
        ("range", None),
        ("files", "groups"),
    ]


def test_nothing_left_after_pruning(keeping: Keeping, tmp_path: Path) -> None:
    keeping.spark.table("items").write.partitionBy("k").parquet(f"{tmp_path}/parts")
    keeping.spark.read.parquet(f"{tmp_path}/parts").createOrReplaceTempView("parts")
    query = "SELECT count(id) AS n FROM parts WHERE k = 77"
    comes_back(keeping, keeping.frame(keeping.spark.sql(query)), query)


def test_which_files_were_written(keeping: Keeping, tmp_path: Path) -> None:
    from headwater.rows.kept_queries.files import read_file_list

    out = tmp_path / "out"
    first = keeping.of(lambda: keeping.spark.table("items").write.parquet(str(out)))
    before = {path.name for path in out.glob("part-*")}
    second = keeping.of(lambda: keeping.spark.table("items").write.mode("append").parquet(str(out)))
    for facet, names in ((first, before), (second, {path.name for path in out.glob("part-*")} - before)):
        assert {Path(file.path).name for file in read_file_list(facet["written"]["files"])} == names


class TestOutOfReach:
    """It is said what stands in the way."""

    def needs(self, facet: Json, pattern: str) -> None:
        assert facet["replayable"] is False
        assert any(re.search(pattern, need) for need in facet["needs"]), facet["needs"]

    def test_a_frame_of_the_program(self, keeping: Keeping) -> None:
        facet = keeping.frame(keeping.spark.createDataFrame([(1, "a")], "n int, w string"))
        self.needs(facet, r"memory-1 was made in the program")
        assert facet["sources"][0]["kind"] == "memory"

    def test_a_database(self, keeping: Keeping) -> None:
        write_derby(keeping.spark.table("groups"), "GROUPS_")
        frame = keeping.spark.read.format("jdbc").options(url=f"{DERBY};password=hidden", dbtable="GROUPS_").load()
        facet = keeping.frame(frame)
        self.needs(facet, "is a database table")
        assert facet["sources"][0]["kind"] == "jdbc"
        assert "hidden" not in str(facet)

    def test_code_called_by_name(self, keeping: Keeping) -> None:
        query = "SELECT java_method('java.util.UUID', 'randomUUID') AS u, id FROM items"
        self.needs(keeping.frame(keeping.spark.sql(query)), "CallMethodViaReflection")

    def test_a_broadcast_variable(self, keeping: Keeping) -> None:
        from pyspark.sql import functions as F

        shared = keeping.spark.sparkContext.broadcast([1])
        function = F.udf(lambda n: shared.value[0] + n, "long")
        self.needs(keeping.frame(keeping.spark.table("items").select(function("id").alias("x"))), "broadcast variable")
