"""Pair tables say of every row of the output what `hw.trace` says of it, and the other way round."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import headwater as hw
from headwater.errors import RowsRefused
from headwater.rows.backward import trace
from headwater.rows.pairs.lookup import PairTables
from headwater.rows.pairs.write import PairTablesResult, write_pairs
from headwater.rows.provenance import RowProvenance
from tests.support.selection import short_and_long

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Triples = set[tuple[str, str, int]]
"""(id of the output's row, file, row)."""


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Views `t`, `u`, `v` and `p`: NULLs, equal rows, several files, a folder whose name has to be escaped."""
    folder = tmp_path_factory.mktemp("some tables")
    t = "id, nullif(id % 5, 4) AS a, id % 3 AS b, nullif(concat('s', id % 4), 's3') AS s, array(id % 2, id % 7) AS xs"
    spark.range(24).selectExpr(*_split(t)).repartition(3).write.parquet(f"{folder}/t")
    u = "id, nullif(id % 7, 5) AS a, id * 10 AS c, struct(nullif(id % 2, 0) AS x, nullif(id % 3, 0) AS y) AS st"
    spark.range(12).selectExpr(*_split(u)).repartition(2).write.parquet(f"{folder}/u")
    spark.range(10).selectExpr("id % 3 AS a", "nullif(id % 2, 1) AS b").write.parquet(f"{folder}/v")
    spark.range(9).selectExpr("id", "id % 3 AS day").write.partitionBy("day").parquet(f"{folder}/p q")
    for name, path in (("t", "t"), ("u", "u"), ("v", "v"), ("p", "p q")):
        spark.read.parquet(f"{folder}/{path}").createOrReplaceTempView(name)
    return folder


def _split(columns: str) -> list[str]:
    parts: list[str] = []
    for piece in columns.split(", "):
        if parts and parts[-1].count("(") > parts[-1].count(")"):
            parts[-1] += f", {piece}"
        else:
            parts.append(piece)
    return parts


class Kept:
    """A query whose output was written, and its pair tables."""

    def __init__(self, spark: SparkSession, query: str, folder: Path, sample: float | None = None) -> None:
        self.spark = spark
        self.frame = spark.sql(query)
        self.output = f"{folder}/output"
        self.frame.write.parquet(self.output)
        self.written = write(self.frame, folder, spark.read.parquet(self.output), sample)
        self.tables = PairTables(self.written.facet)


def write(frame: DataFrame, folder: Path, output: DataFrame | None, sample: float | None = None) -> PairTablesResult:
    plan = frame._jdf.queryExecution().analyzed()
    return write_pairs(frame.sparkSession, plan, str(folder / "rows"), "a-run", 0, sample, output)


def traced(spark: SparkSession, frame: DataFrame) -> dict[int, Triples]:
    """What `hw.trace` says; of rows that have no place of their own, the number that stands for their content."""
    from pyspark.sql import functions as F

    steps = trace(RowProvenance(spark, frame._jdf.queryExecution().analyzed()))
    found = {}
    for source in steps.provenance.sources:
        file = F.lower(F.lpad(F.hex(F.xxhash64("file")), 16, "0")) if source.id == "content" else F.col("file")
        found[source.number] = {
            tuple(row) for row in steps.pairs(source.number).select("out_id", file, "row").collect()
        }
    steps.release()
    return found


def looked_up(tables: PairTables, out_ids: list[str]) -> dict[int, Triples]:
    """One row of the output at a time."""
    found: dict[int, Triples] = {source.number: set() for source in tables.layout.sources}
    for out_id in out_ids:
        for number, rows in tables.sources([out_id]).items():
            found[number] |= {(out_id, file, row) for file, row in rows.rows()}
    return found


QUERIES = {
    "filter and project": "SELECT id, a + 1 AS a1 FROM t WHERE b > 0",
    "equal rows": "SELECT a, b FROM v",
    "inner join": "SELECT t.id, u.c FROM t JOIN u ON t.a = u.a",
    "left join": "SELECT t.id, u.c FROM t LEFT JOIN u ON t.a = u.a",
    "right join": "SELECT t.id, u.c FROM t RIGHT JOIN u ON t.a = u.a",
    "full join": "SELECT t.id, u.id AS uid FROM t FULL JOIN u ON t.a = u.a AND t.b = u.id",
    "cross join": "SELECT v.a, u.id FROM v CROSS JOIN u WHERE u.id < 3",
    "self join": "SELECT x.id, y.id AS other FROM t x JOIN t y ON x.a = y.b WHERE x.id < 8",
    "semi join": "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a)",
    "semi join with a condition": "SELECT id, b FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a AND u.c > t.id)",
    "semi join by a condition alone": "SELECT id FROM t LEFT SEMI JOIN u ON t.id > u.c",
    "in": "SELECT id FROM t WHERE a IN (SELECT a FROM v)",
    "in or": "SELECT id FROM t WHERE a IN (SELECT a FROM v) OR b = 0",
    "anti join": "SELECT id FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.a = t.a)",
    "group by": "SELECT a, count(*) AS n, sum(b) AS total FROM t GROUP BY a",
    "group by two, null keys": "SELECT a, s, max(id) AS latest FROM t GROUP BY a, s",
    "group by an expression": "SELECT a % 2 AS parity, count(*) AS n FROM t GROUP BY a % 2",
    "keys that are not written": "SELECT count(*) AS n FROM t GROUP BY a, b",
    "group by a struct": "SELECT st, count(*) AS n FROM u GROUP BY st",
    "having": "SELECT a, count(*) AS n FROM t GROUP BY a HAVING count(*) > 4",
    "global": "SELECT sum(b) AS total FROM t WHERE id > 3",
    "global over nothing": "SELECT count(*) AS n FROM t WHERE id > 100",
    "no rows": "SELECT a, count(*) AS n FROM t WHERE id > 100 GROUP BY a",
    "join below a group": "SELECT u.a, sum(c) AS total FROM t JOIN u ON t.a = u.a GROUP BY u.a",
    "group below a group": "SELECT n, count(*) AS m FROM (SELECT a, count(*) AS n FROM t GROUP BY a) GROUP BY n",
    "group in a join": "SELECT t.id, g.n FROM t JOIN (SELECT a, count(*) AS n FROM u GROUP BY a) g ON t.a = g.a",
    "distinct": "SELECT DISTINCT a, b FROM v",
    "union all": "SELECT a FROM t UNION ALL SELECT a FROM u",
    "union": "SELECT a FROM t UNION SELECT a FROM u",
    "union of groups": "SELECT a, count(*) AS n FROM t GROUP BY a UNION ALL SELECT b, sum(a) FROM v GROUP BY b",
    "intersect": "SELECT a FROM t INTERSECT SELECT a FROM u",
    "except": "SELECT a FROM t EXCEPT SELECT a FROM v",
    "intersect all": "SELECT a FROM t INTERSECT ALL SELECT a FROM v",
    "rollup": "SELECT a, b, count(*) AS n FROM t GROUP BY ROLLUP(a, b)",
    "window": "SELECT id, sum(b) OVER (PARTITION BY a ORDER BY id) AS running FROM t",
    "window over groups": "SELECT a, n, rank() OVER (ORDER BY n) AS r FROM (SELECT a, count(*) AS n FROM t GROUP BY a)",
    "top": "SELECT a, count(*) AS n FROM t GROUP BY a ORDER BY n DESC, a LIMIT 2",
    "explode": "SELECT id, x FROM t LATERAL VIEW explode(xs) AS x",
    "scalar subquery": "SELECT id FROM t WHERE id > (SELECT avg(c) / 10 FROM u)",
    "scalar subquery in having": "SELECT a, sum(b) AS n FROM t GROUP BY a HAVING sum(b) > (SELECT min(id) FROM u)",
    "scalar subquery in one branch": "SELECT id FROM t WHERE id > (SELECT max(a) FROM v) UNION ALL SELECT id FROM u",
    "correlated scalar subquery": "SELECT id, (SELECT max(c) FROM u WHERE u.a = t.a) AS most FROM t",
    "cte twice": "WITH g AS (SELECT a, count(*) AS n FROM t GROUP BY a) SELECT x.a, y.n FROM g x JOIN g y ON x.a = y.n",
    "partitions": "SELECT day, count(*) AS n FROM p WHERE day > 0 GROUP BY day",
    "rows of the program": "SELECT a, count(*) AS n FROM VALUES (1, 'x'), (1, 'y'), (2, NULL) AS r(a, s) GROUP BY a",
    "range": "SELECT id % 3 AS k, count(*) AS n FROM range(10) GROUP BY id % 3",
}

# What a trace finds is judged elsewhere, for every operator; pair tables are written from the same blocks.
LONG_ONES = {
    *("filter and project", "inner join", "left join", "right join", "cross join", "self join", "anti join"),
    *("semi join", "semi join with a condition", "semi join by a condition alone", "in", "join below a group"),
    *("group by", "group by two, null keys", "group by an expression", "group by a struct", "having", "global"),
    *("group below a group", "group in a join", "distinct", "union all", "union", "intersect", "cte twice"),
    *("window", "scalar subquery", "scalar subquery in having", "scalar subquery in one branch", "partitions", "range"),
}


@pytest.mark.parametrize("query", short_and_long(QUERIES, LONG_ONES))
def test_every_row_has_the_sources_that_a_trace_finds(
    spark: SparkSession, tables: Path, tmp_path: Path, query: str
) -> None:
    kept = Kept(spark, query, tmp_path)
    expected = traced(spark, kept.frame)
    outs = [out.id for out in kept.tables.output_rows()]
    with kept.tables:
        assert {out_id for triples in expected.values() for out_id, *_ in triples} <= set(outs)
        assert looked_up(kept.tables, outs) == expected
        assert_forward(kept.tables, expected)
    assert kept.written.facet["agreement"]["checked"] in ("read", "compared")


def assert_forward(tables: PairTables, expected: dict[int, Triples]) -> None:
    for number, triples in expected.items():
        for place in sorted({(file, row) for _, file, row in triples})[:5]:
            reached = {out.id for out in tables.rows_reached(number, [place])}
            assert reached == {out_id for out_id, *other in triples if tuple(other) == place}


BIG = ["left join", "self join", "semi join with a condition", "group in a join", "in or", "window over groups"]


LONG_BIG = {"left join", "group in a join", "in or"}


@pytest.mark.parametrize("query", short_and_long({name: name for name in BIG}, LONG_BIG))
def test_when_the_plan_is_run_again_as_a_whole(
    spark: SparkSession, tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    """As it is for outputs of more than some hundred rows."""
    from headwater.rows.pairs import blocks, outs

    monkeypatch.setattr(outs, "MAX_PUSHED_ROWS", 0)
    monkeypatch.setattr(blocks, "MAX_PUSHED_ROWS", 0)
    kept = Kept(spark, QUERIES[query], tmp_path)
    assert kept.written.facet["agreement"] == {"checked": "compared"}
    assert looked_up(kept.tables, [out.id for out in kept.tables.output_rows()]) == traced(spark, kept.frame)


def test_a_limit_among_equals(spark: SparkSession, tables: Path, tmp_path: Path) -> None:
    """It may choose others when it is run again; what was written is what counts."""
    frame = spark.sql("SELECT id, b FROM t")
    frame.where("id IN (1, 4, 7)").write.parquet(f"{tmp_path}/output")
    limited = spark.sql("SELECT id, b FROM t ORDER BY b LIMIT 3")
    written = write(limited, tmp_path, spark.read.parquet(f"{tmp_path}/output"))
    found = PairTables(written.facet)
    assert {out.values["id"] for out in found.output_rows()} == {1, 4, 7}
    (out,) = found.output_rows("id = 4")
    assert [row["id"] for row in found.source_rows(found.sources([out.id])[0])] == [4]


def test_a_limit_whose_values_other_rows_have(spark: SparkSession, tables: Path, tmp_path: Path) -> None:
    """Rows beyond the limit have the same values; they are not the output's."""
    kept = Kept(spark, "SELECT b FROM t ORDER BY id DESC LIMIT 4", tmp_path)
    with kept.tables:
        outs = [out.id for out in kept.tables.output_rows()]
        found = kept.tables.sources(outs)[0]
        assert sorted(row["id"] for row in kept.tables.source_rows(found)) == [20, 21, 22, 23]
    assert kept.written.facet["agreement"]["checked"] == "compared"


# By values is how it is done in the cases above.
@pytest.mark.parametrize("restricted", [pytest.param("by values", marks=pytest.mark.long), "by hashes", "not at all"])
def test_however_many_rows_lead_down(
    spark: SparkSession, tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, restricted: str
) -> None:
    from headwater.rows.pairs import blocks

    if restricted != "by values":
        monkeypatch.setattr(blocks, "MAX_PUSHED_ROWS", 0)
    if restricted == "not at all":
        monkeypatch.setattr(blocks, "MAX_BROADCAST_ROWS", 0)
    query = """SELECT a, count(*) AS n FROM t
        WHERE a IN (SELECT a FROM u GROUP BY a HAVING count(*) > 1) AND id > (SELECT min(a) FROM v)
        GROUP BY a HAVING count(*) > 4"""
    kept = Kept(spark, query, tmp_path)
    assert looked_up(kept.tables, [out.id for out in kept.tables.output_rows()]) == traced(spark, kept.frame)


def test_without_the_output_it_is_said_that_nobody_checked(spark: SparkSession, tables: Path, tmp_path: Path) -> None:
    frame = spark.sql(QUERIES["group by"])
    written = write(frame, tmp_path, None)
    assert written.facet["agreement"]["checked"] == "unchecked"
    found = PairTables(written.facet)
    assert looked_up(found, [out.id for out in found.output_rows()]) == traced(spark, frame)


def test_an_output_that_does_not_agree_invalidates(spark: SparkSession, tables: Path, tmp_path: Path) -> None:
    frame = spark.sql("SELECT id, a FROM t")
    for number, changed in enumerate(["id < 23", "id >= 0"]):
        other = frame.where(changed).selectExpr("CASE WHEN id = 5 THEN 500L ELSE id END AS id", "a")
        other.write.parquet(f"{tmp_path}/{number}")
        written = write(frame, tmp_path, spark.read.parquet(f"{tmp_path}/{number}"))
        assert written.facet["invalid"].startswith("the plan ")
        assert not Path(written.location.removeprefix("file:")).exists()
        with pytest.raises(hw.HeadwaterError, match="were not stored"):
            PairTables(written.facet)


def test_a_fault_leaves_nothing_behind(spark: SparkSession, tables: Path, tmp_path: Path) -> None:
    with pytest.raises(RowsRefused):
        write(spark.sql("SELECT * FROM t WHERE rand() > 0.5"), tmp_path, None)
    assert not list(tmp_path.rglob("*.parquet"))


def test_the_rows_themselves(spark: SparkSession, tables: Path, tmp_path: Path) -> None:
    kept = Kept(spark, "SELECT day, count(*) AS n FROM p GROUP BY day", tmp_path)
    (out,) = kept.tables.output_rows("day = 2")
    assert out.values == {"day": 2}
    found = kept.tables.sources([out.id])[0]
    assert found.count == len(found.rows()) == 3
    rows: list[dict[str, Any]] = kept.tables.source_rows(found)
    assert sorted(row["id"] for row in rows) == [2, 5, 8]
    assert {(row["_file"], row["_row"]) for row in rows} == set(found.rows())
