"""Queries of every shape come back and give the same rows."""

from __future__ import annotations

import pytest

from tests.rows.keep.keeping import Keeping, rows_of, run

QUERIES = {
    "filter": "SELECT * FROM items WHERE id > 3 AND s LIKE 's%'",
    "aggregate": "SELECT k, count(*) AS n, sum(v) AS total FROM items GROUP BY k HAVING count(*) > 1",
    "rollup": "SELECT k, s, count(DISTINCT id) AS n FROM items GROUP BY ROLLUP (k, s)",
    "join": "SELECT * FROM items JOIN groups USING (k)",
    "outer join": "SELECT id, g FROM items LEFT JOIN groups ON items.k = groups.k AND g <> 'g1'",
    "self-join": "SELECT a.id, b.id AS other FROM items a JOIN items b ON a.id = b.id + 1",
    "common table expression": """WITH x AS (SELECT k, max(id) AS m FROM items GROUP BY k)
        SELECT items.*, y.k AS yk FROM items JOIN x ON items.id = x.m JOIN x y ON y.k = items.k""",
    "IN": "SELECT * FROM items WHERE k IN (SELECT k FROM groups WHERE g <> 'g0')",
    "NOT IN": "SELECT * FROM items WHERE k NOT IN (SELECT k FROM groups)",
    "EXISTS": "SELECT * FROM items i WHERE EXISTS (SELECT 1 FROM items o WHERE o.id = i.id + 30)",
    "scalar subquery": "SELECT id, (SELECT max(k) FROM groups) AS m FROM items WHERE v > (SELECT avg(v) FROM items)",
    "correlated subquery": "SELECT id, (SELECT max(o.id) FROM items o WHERE o.k = i.k) AS m FROM items i",
    "lateral": "SELECT i.id, q.m FROM items i, LATERAL (SELECT max(g) AS m FROM groups g WHERE g.k = i.k) q",
    "window": "SELECT *, row_number() OVER (PARTITION BY k ORDER BY id DESC) AS r FROM items",
    "frame": "SELECT id, sum(v) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS x FROM items",
    "union": "SELECT id FROM items UNION SELECT k FROM groups",
    "union all": "SELECT id FROM items UNION ALL SELECT k FROM groups UNION ALL SELECT 7L",
    "except": "SELECT k FROM items EXCEPT ALL SELECT k FROM groups",
    "intersect": "SELECT k FROM items INTERSECT SELECT k FROM groups",
    "explode": "SELECT id, e, p FROM items LATERAL VIEW posexplode(sequence(0, 2)) t AS p, e",
    "order and limit": "SELECT * FROM items ORDER BY id DESC LIMIT 5",
    "pivot": "SELECT * FROM (SELECT k, id, s FROM items) PIVOT (sum(id) FOR k IN (1, 2, 3))",
    "unpivot": "SELECT * FROM (SELECT id, k FROM items) UNPIVOT (x FOR n IN (id, k))",
    "functions": """SELECT regexp_replace(s, '1', 'x') AS a, to_json(struct(id, k)) AS b, split(s, 's') AS c,
        transform(array(id, k), x -> x + 1) AS d, aggregate(array(id), 0L, (x, y) -> x + y) AS e, sha2(s, 256) AS f,
        CASE WHEN id > 2 THEN 'big' END AS g, try_cast(s AS int) AS h, from_json('{"q": 1}', 'q int') AS i,
        date_trunc('month', DATE'2026-11-15') AS j, format_string('%s!', s) AS l, mask(s) AS m FROM items""",
    "literals": """SELECT DATE'2026-11-15' AS a, TIMESTAMP'2026-11-15 01:02:03' AS b, 1.5BD AS c, X'0aff' AS d,
        1e3 AS e, array(1, NULL) AS f, map('a', 1) AS g, named_struct('q', 2) AS h, CAST(NULL AS string) AS i,
        TRUE AS j, TIMESTAMP_NTZ'2026-11-15 01:02:03' AS l, CAST(INTERVAL 1 MONTH AS string) AS m""",
    "values": "SELECT * FROM VALUES (1, 'x', DATE'2026-11-15', array(1)), (2, NULL, NULL, NULL) t(a, b, c, d)",
    "range": "SELECT id * 2 AS twice FROM range(3, 30, 2)",
    "nothing read": "SELECT 1 AS one, 'x' AS x",
    "sample": "SELECT * FROM items TABLESAMPLE (10 ROWS)",
}


@pytest.mark.parametrize("title", QUERIES)
def test_comes_back(keeping: Keeping, title: str) -> None:
    frame = keeping.spark.sql(QUERIES[title])
    facet = keeping.frame(frame)
    assert (facet["replayable"], facet["needs"]) == (True, [])
    restored = keeping.again(facet)
    assert restored.columns == tuple(frame.columns)
    assert rows_of(run(keeping.spark, restored)) == rows_of(frame)
