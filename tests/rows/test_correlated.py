"""Correlated subqueries: a row's sources are the outer row and the rows that its own subquery used, each table once.

Spark computes a subquery that is not correlated by equality for all values of the outer query at once, for which it
copies the outer query. The copy is not a source.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import headwater as hw
from headwater.rows.pairs.lookup import PairTables
from headwater.rows.pairs.write import write_pairs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ORDERS = [(1, 5, "a"), (2, 5, "a"), (3, 9, "b")]
ITEMS = [(1, 7, "a"), (4, 8, "b"), (5, 1, "b")]


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("correlated")
    for name, rows, schema in (("o", ORDERS, "id int, x int, k string"), ("i", ITEMS, "x int, w int, k string")):
        spark.createDataFrame(rows, schema).coalesce(1).write.parquet(f"{folder}/{name}")
        spark.read.schema(schema).parquet(f"{folder}/{name}").createOrReplaceTempView(name)


RANGE = "select id, (select sum(w) from i where i.x <= o.x) s from o"
# the query, the row, the ids of `o` and the `w` of `i` by occurrence
CASES: dict[str, tuple[str, str, list[list[int]], list[list[int]]]] = {
    "a range": (RANGE, "id = 1", [[1]], [[1, 7, 8]]),
    "a lateral range": (
        "select o.id, l.s from o, lateral (select sum(w) s from i where i.x <= o.x) l",
        "id = 1",
        [[1]],
        [[1, 7, 8]],
    ),
    "a count by equality": (
        "select o.id, l.n from o left join lateral (select count(*) n from i where i.x = o.x) l",
        "id = 1",
        [[1]],
        [[1]],
    ),
    "a count of nothing": ("select id, (select count(*) from i where i.x = o.x) n from o", "id = 3", [[3]], [[]]),
    "a union of both": (
        "select o.id, l.w from o, lateral (select w from i where i.k = o.k union all select o.x) l",
        "id = 1 and w = 7",
        [[1]],
        [[7]],
    ),
    "IN of groups of a range": (
        "select id from o where x in (select x + 4 from i where i.w > o.id group by x having count(*) = 1)",
        "id = 1",
        [[1]],
        [[7]],
    ),
    "over a semi-join": (
        "select id, (select max(w) from i where i.x <= o.x and i.k = o.k) s from o where x in (select x from i)",
        "id = 1",
        [[1]],
        [[1], [7]],
    ),
    "over an aggregate": (
        "select k, (select sum(w) from i where i.x <= m) s from (select k, max(x) m from o group by k)",
        "k = 'a'",
        [[1, 2]],
        [[1, 7, 8]],
    ),
    "one after the other": (
        "select id, l.n, m.s from o, lateral (select count(*) n from i where i.x < o.x) l, "
        "lateral (select sum(w) s from i where i.w > l.n) m",
        "id = 3",
        [[3]],
        [[1, 7, 8], [7, 8]],
    ),
    "an EXCEPT within": (
        "select id, (select count(*) from (select k from i where i.x < o.x except select k from o p where p.id > 2) q) "
        "n from o",
        "id = 3",
        [[3], []],
        [[7]],
    ),
    "NOT EXISTS within NOT EXISTS": (
        "select distinct k from o where not exists "
        "(select 1 from i where i.k = o.k and not exists (select 1 from o p where p.x = i.x or i.x < 5))",
        "k = 'b'",
        [[3], []],
        [[]],
    ),
    "NOT EXISTS within EXISTS": (
        "select id from o where exists "
        "(select 1 from i where i.x <= o.x and not exists (select 1 from o p where p.x < i.x + 1))",
        "id = 1",
        [[1], []],
        [[7, 8]],
    ),
    "EXISTS within EXISTS": (
        "select id from o where exists "
        "(select 1 from i where i.x <= o.x and exists (select 1 from o p where p.x = i.x + 1))",
        "id = 3",
        [[3], [1, 2]],
        [[8]],
    ),
    "a scalar subquery within a correlated one": (
        "select id from o where x > (select max(w) from i where i.k = o.k and i.x < "
        "(select max(x) from o p where p.k <= i.k))",
        "id = 3",
        [[3], [1, 2, 3]],
        [[1, 8]],
    ),
}


@pytest.mark.parametrize("title", CASES)
def test_the_sources_of_a_row(spark: SparkSession, title: str) -> None:
    if spark.version < "4" and title == "IN of groups of a range":
        pytest.skip("not run: Spark 3.5 does not analyze a correlated range below a group")
    sql, where, orders, items = CASES[title]
    traced = hw.trace(spark.sql(sql), where)
    named: dict[str, list[list[int]]] = {"o": [], "i": []}
    for occurrence in traced.occurrences:
        name = occurrence.dataset.name[-1]
        rows = occurrence.rows.select("id" if name == "o" else "w").collect()
        named[name].append(sorted(row[0] for row in rows))
    assert (sorted(named["o"], reverse=True), sorted(named["i"])) == (sorted(orders, reverse=True), sorted(items))
    assert set(traced.grain.values()) == {"exact"}
    traced.release()


def test_forward_reaches_only_the_own_row(spark: SparkSession) -> None:
    reached = hw.trace_forward(spark.sql(RANGE), source="o", where="id = 2")
    assert [row["id"] for row in reached.rows.collect()] == [2]


def test_why_not_knows_the_table_once(spark: SparkSession) -> None:
    why = hw.why_not(spark.sql(f"{RANGE} where id > 1"), source="o", where="id = 1")
    assert not why.reached
    assert [culprit.text for culprit in why.culprits] == ["WHERE o.id > 1"]


def test_pair_tables_have_the_outer_row_alone(spark: SparkSession, tmp_path: Path) -> None:
    plan = spark.sql(RANGE)._jdf.queryExecution().analyzed()
    with PairTables(write_pairs(spark, plan, str(tmp_path), "a-run", 0).facet) as tables:
        (row,) = tables.output_rows("id = 1")
        orders, _ = tables.sources([row.id]).values()
        assert [source_row["id"] for source_row in tables.source_rows(orders)] == [1]
