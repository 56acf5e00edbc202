"""Queries chosen because they are easily got wrong, each judged by re-execution on several small tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.rows.judges.lab import Lab, write
from tests.rows.judges.occurrences import occurrence_names
from tests.rows.judges.reexecution import faults
from tests.rows.judges.small_tables import SCHEMAS, small_tables, twist
from tests.rows.judges.traced import trace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEEDS = (2, 5)  # no table is empty in these

SHAPES = {
    "a sum of floating point, without its key": "SELECT sum(CAST(id AS DOUBLE) / 7) AS x FROM t GROUP BY a",
    "a mean beside its key": "SELECT a, avg(CAST(id AS DOUBLE) / 7) AS x FROM t GROUP BY a",
    "nothing but a count": "SELECT count(*) AS n FROM t",
    "a constant for every row": "SELECT DISTINCT 1 AS one FROM t",
    "a count of nothing": "SELECT count(*) AS n, max(a) AS m FROM t WHERE id > 99",
    "a group of constants": "SELECT 1 AS k, count(*) AS n FROM t GROUP BY 1",
    "NULL is a key": "SELECT a, b, count(*) AS n FROM v GROUP BY a, b",
    "several distinct counts": "SELECT a, count(DISTINCT b) AS n, count(DISTINCT s) AS m FROM t GROUP BY a",
    "filtered aggregates": "SELECT a, sum(id) FILTER (WHERE b > 1) AS n, count(*) AS m FROM t GROUP BY a",
    "grouping sets": "SELECT a, b, count(*) AS n FROM t GROUP BY GROUPING SETS ((a, b), (a), (b), ())",
    "a filter over grouping sets": "SELECT a, b, n FROM "
    "(SELECT a, b, count(*) AS n FROM t GROUP BY CUBE (a, b)) q WHERE n > 1",
    "HAVING of another aggregate": "SELECT a, sum(id) AS n FROM t GROUP BY a HAVING count(*) > 1 AND max(b) > 0",
    "an aggregate of an aggregate": "SELECT n, count(*) AS m FROM "
    "(SELECT count(*) AS n FROM t GROUP BY a) q GROUP BY n",
    "three aggregates deep": "SELECT max(m) AS x FROM (SELECT n, count(*) AS m FROM "
    "(SELECT a, count(*) AS n FROM v GROUP BY a) q GROUP BY n) r",
    "an aggregate over a window": "SELECT a, max(r) AS m FROM (SELECT a, row_number() OVER "
    "(PARTITION BY b ORDER BY id) AS r FROM t) q GROUP BY a",
    "the first of each": "SELECT a, id FROM "
    "(SELECT a, id, row_number() OVER (PARTITION BY a ORDER BY id) AS r FROM t) q WHERE r = 1",
    "a window over an aggregate": "SELECT a, n, sum(n) OVER (ORDER BY n, a NULLS FIRST) AS s FROM "
    "(SELECT a, count(*) AS n FROM t GROUP BY a) q",
    "two windows": "SELECT id, rank() OVER (PARTITION BY a ORDER BY id) AS r, sum(b) OVER (PARTITION BY b) AS s FROM t",
    "a window over a join": "SELECT t.id, u.id AS i, lag(u.id) OVER (PARTITION BY t.a ORDER BY t.id, u.id) AS l "
    "FROM t JOIN u ON t.a = u.a",
    "a window in an outer join": "SELECT t.id, q.r FROM t "
    "LEFT JOIN (SELECT id, rank() OVER (ORDER BY id) AS r FROM u) q ON t.b = q.r",
    "the COUNT bug in a list": "SELECT id, (SELECT count(*) FROM u WHERE u.a = t.a) AS n FROM t",
    "the COUNT bug in a condition": "SELECT id FROM t WHERE (SELECT count(*) FROM u WHERE u.a = t.a AND u.c > 1) = 0",
    "a correlated maximum": "SELECT id FROM t WHERE b = (SELECT max(c) FROM u WHERE u.a = t.a)",
    "correlated by an inequality": "SELECT id, (SELECT sum(u.id) FROM u WHERE u.a < t.a) AS n FROM t",
    "two scalar subqueries": "SELECT id, (SELECT min(id) FROM u) + (SELECT max(id) FROM u) AS n FROM t",
    "a scalar subquery in HAVING": "SELECT a, count(*) AS n FROM t "
    "GROUP BY a HAVING count(*) >= (SELECT min(b) FROM v)",
    "a scalar subquery in a join": "SELECT t.id FROM t JOIN u ON t.a = u.a AND u.id <= (SELECT max(b) FROM v)",
    "IN": "SELECT id FROM t WHERE a IN (SELECT a FROM u WHERE c IS NOT NULL)",
    "IN of two columns": "SELECT id FROM t WHERE (a, b) IN (SELECT a, b FROM v)",
    "IN of an aggregate": "SELECT id FROM t WHERE a IN (SELECT max(a) FROM u)",
    "IN of groups": "SELECT id FROM t WHERE a IN (SELECT a FROM u GROUP BY a HAVING count(*) > 1)",
    "IN within IN": "SELECT id FROM t WHERE a IN (SELECT a FROM u WHERE c IN (SELECT b FROM v))",
    "NOT IN": "SELECT id FROM t WHERE a NOT IN (SELECT b FROM v WHERE b IS NOT NULL)",
    "NOT IN of nothing": "SELECT id FROM t WHERE a NOT IN (SELECT b FROM v WHERE b > 99)",
    "NOT IN of an aggregate": "SELECT id FROM t WHERE a NOT IN (SELECT max(b) FROM v)",
    "EXISTS or else": "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a) OR b = 1",
    "IN or else": "SELECT id FROM t WHERE a IN (SELECT c FROM u) OR b IN (SELECT b FROM v)",
    "EXISTS in a list": "SELECT id, a IN (SELECT a FROM u WHERE a IS NOT NULL) AS known FROM t WHERE a IS NOT NULL",
    "NOT EXISTS over a join": "SELECT count(*) AS n FROM t CROSS JOIN u WHERE NOT EXISTS "
    "(SELECT 1 FROM v WHERE v.a = t.a AND v.b = u.c)",
    "an anti join by hand": "SELECT t.id FROM t LEFT JOIN u ON t.a = u.a WHERE u.id IS NULL",
    "a full join": "SELECT t.id, u.id AS i FROM t FULL JOIN u ON t.a = u.a AND t.b < u.c",
    "groups of a full join": "SELECT t.a, count(u.id) AS n, count(*) AS m FROM t FULL JOIN u ON t.a = u.a GROUP BY t.a",
    "a right join of groups": "SELECT q.a, q.n, u.id FROM (SELECT a, count(*) AS n FROM t GROUP BY a) q "
    "RIGHT JOIN u ON q.a = u.a",
    "a join of a union": "SELECT t.id, q.x FROM t JOIN (SELECT a AS x FROM u UNION ALL SELECT b FROM v) q ON q.x = t.a",
    "USING": "SELECT a, t.id FROM t FULL JOIN u USING (a)",
    "a join with itself": "SELECT x.id, y.id AS i FROM t x JOIN t y ON x.a = y.b",
    "a union with itself": "SELECT a FROM t UNION ALL SELECT a FROM t",
    "UNION": "SELECT a, b FROM t UNION SELECT a, c FROM u",
    "a group over a union": "SELECT a, count(*) AS n FROM (SELECT a FROM t UNION ALL SELECT b FROM v) q GROUP BY a",
    "INTERSECT": "SELECT a FROM t INTERSECT SELECT a FROM u",
    "INTERSECT ALL": "SELECT a FROM t INTERSECT ALL SELECT a FROM v",
    "EXCEPT": "SELECT a FROM t EXCEPT SELECT a FROM v WHERE b = 1",
    "EXCEPT ALL": "SELECT a FROM t EXCEPT ALL SELECT a FROM v WHERE b = 1",
    "EXCEPT of a group": "SELECT a, count(*) AS n FROM t GROUP BY a EXCEPT SELECT a, b FROM v",
    "a limit": "SELECT a, b FROM v ORDER BY a NULLS FIRST, b NULLS FIRST LIMIT 2",
    "a limit of groups": "SELECT a, count(*) AS n FROM t GROUP BY a ORDER BY n DESC, a NULLS FIRST LIMIT 2",
    "a limit within": "SELECT q.id, u.id AS i FROM (SELECT id, a FROM t ORDER BY id LIMIT 3) q JOIN u ON q.a = u.a",
    "a group over a limit": "SELECT a, count(*) AS n FROM (SELECT a FROM t ORDER BY id DESC LIMIT 4) q GROUP BY a",
    "a CTE used twice": "WITH q AS (SELECT a, max(id) AS m FROM t GROUP BY a) "
    "SELECT x.a, y.m FROM q x JOIN q y ON x.a = y.m",
    "a Python function": "SELECT twist(a) AS k, count(*) AS n FROM t WHERE twist(b) > 0 GROUP BY twist(a)",
    "a join on a Python function": "SELECT t.id, u.id AS i FROM t JOIN u ON twist(t.a) = twist(u.c)",
}
WORDS_OF_DUCK = {
    "a lateral view": (
        "SELECT id, e FROM w LATERAL VIEW explode(xs) x AS e",
        "SELECT id, x.e FROM w, LATERAL (SELECT unnest(w.xs) AS e) x",
    ),
    "an outer lateral view": (
        "SELECT id, e FROM w LATERAL VIEW OUTER explode(xs) x AS e",
        "SELECT id, x.e FROM w LEFT JOIN LATERAL (SELECT unnest(w.xs) AS e) x ON true",
    ),
    "groups of what was exploded": (
        "SELECT e, count(*) AS n FROM w LATERAL VIEW explode(xs) x AS e GROUP BY e",
        "SELECT x.e, count(*) AS n FROM w, LATERAL (SELECT unnest(w.xs) AS e) x GROUP BY x.e",
    ),
    "a lateral subquery": (
        "SELECT t.id, q.m FROM t, LATERAL (SELECT max(c) AS m FROM u WHERE u.a = t.a) q",
        "SELECT t.id, q.m FROM t, LATERAL (SELECT max(c) AS m FROM u WHERE u.a = t.a) q",
    ),
    "a semi join": (
        "SELECT t.id FROM t LEFT SEMI JOIN u ON t.a = u.a AND t.b < u.c",
        "SELECT t.id FROM t SEMI JOIN u ON t.a = u.a AND t.b < u.c",
    ),
    "collected": (
        "SELECT a, sort_array(collect_list(id)) AS ids FROM t GROUP BY a",
        "SELECT a, list_sort(list(id)) AS ids FROM t GROUP BY a",
    ),
}
BOTH = {**{title: (sql, None) for title, sql in SHAPES.items()}, **WORDS_OF_DUCK}


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """A folder of tables for each seed."""
    folders = {seed: tmp_path_factory.mktemp("tables") for seed in SEEDS}
    for seed, folder in folders.items():
        for name, table in small_tables(seed).items():
            write(table, folder / name)
    return folders


@pytest.mark.parametrize("seed", [SEEDS[0], *(pytest.param(seed, marks=pytest.mark.long) for seed in SEEDS[1:])])
@pytest.mark.parametrize("title", BOTH)
def test_every_row_comes_back(
    spark: SparkSession, tables: Mapping[int, Path], tmp_path: Path, title: str, seed: int
) -> None:
    named = occurrence_names(BOTH[title][0], SCHEMAS, BOTH[title][1])
    lab = Lab(spark, tables[seed], tmp_path / "occurrences")
    with lab.duck as duck:
        duck.function("twist", twist, ["INTEGER"], "INTEGER")
        assert faults(duck, named, trace(lab.frame(named), named.tables)) == []
