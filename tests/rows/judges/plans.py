"""Some hundred plans as tables: every join, subquery, set operation, window and generator, crossed with conditions.

A plan is SQL over the small tables. Those of `BOTH` say the same to DuckDB; `SPARK_ALONE` has words of Spark's own.
``every``: every traced row matters, so that without it the output row is another or is gone. It does not hold where one
of several matches is enough (EXISTS), where a value may be equal without a row (a maximum), or of windows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    sql: str
    every: bool = False


_JOIN_CONDITIONS = {
    "equality": "t.a = u.a",
    "two": "t.a = u.a AND t.b < u.c",
    "null-safe": "t.a IS NOT DISTINCT FROM u.a",
    "a range": "t.a < u.c",
    "or": "t.a = u.a OR t.b = u.c",
    "an expression": "t.a + 1 = u.c - 1",
}
_JOINS = ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
_INNER_CONDITIONS = {
    "equality": "u.a = t.a",
    "a range": "u.a < t.a",
    "both": "u.a = t.a AND u.c >= t.b",
    "null-safe": "u.a IS NOT DISTINCT FROM t.a",
    "or": "u.a = t.a OR u.c = t.b",
    "no condition": "u.c = 2",
}
_AGGREGATES = {"max": "max(u.id)", "count": "count(*)", "sum": "sum(u.id)", "count distinct": "count(DISTINCT u.c)"}
_WINDOWS = {
    "row_number": "row_number() OVER ({} ORDER BY id)",
    "rank": "rank() OVER ({} ORDER BY b NULLS FIRST)",
    "dense_rank": "dense_rank() OVER ({} ORDER BY b NULLS FIRST)",
    "ntile": "ntile(2) OVER ({} ORDER BY id)",
    "lag": "lag(id) OVER ({} ORDER BY id)",
    "lead by two": "lead(id, 2) OVER ({} ORDER BY id)",
    "first_value": "first_value(id) OVER ({} ORDER BY id)",
    "a running sum": "sum(id) OVER ({} ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)",
    "a sliding sum": "sum(id) OVER ({} ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
    "a count": "count(b) OVER ({})",
}
_SET_OPERATIONS = ("UNION ALL", "UNION", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL")


def _joins() -> Iterator[tuple[str, Plan]]:
    for join in _JOINS:
        for title, condition in _JOIN_CONDITIONS.items():
            sql = f"SELECT t.id, u.id AS i FROM t {join} u ON {condition}"
            yield f"{join} by {title}", Plan(sql, every=True)
        yield f"{join} USING", Plan(f"SELECT a, t.id, u.id AS i FROM t {join} u USING (a)", every=True)
        on_groups = f"(SELECT a, count(*) AS n, sum(id) AS m FROM u GROUP BY a) q {join} t ON q.a = t.a"
        yield f"groups in a {join}", Plan(f"SELECT q.a, n, m, t.id FROM {on_groups}", every=True)
        itself = f"SELECT x.id, y.id AS i FROM t x {join} t y ON x.a = y.b"
        yield f"itself in a {join}", Plan(itself, every=True)
        three = f"SELECT t.id, u.id AS i, w.id AS j FROM t {join} u ON t.a = u.a {join} w ON w.a = u.a"
        yield f"three in a {join}", Plan(three, every=join in ("JOIN", "LEFT JOIN"))
        counted = f"SELECT t.a, count(*) AS n, sum(t.id) AS m, sum(u.id) AS o FROM t {join} u ON t.a = u.a GROUP BY t.a"
        yield f"groups over a {join}", Plan(counted, every=True)
    yield "CROSS JOIN", Plan("SELECT t.id, u.id AS i FROM t CROSS JOIN u", every=True)


def _existence() -> Iterator[tuple[str, Plan]]:
    for title, condition in _INNER_CONDITIONS.items():
        yield f"EXISTS by {title}", Plan(f"SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE {condition})")
        no = f"SELECT id FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE {condition})"
        yield f"NOT EXISTS by {title}", Plan(no, every=True)
        yield f"IN by {title}", Plan(f"SELECT id FROM t WHERE b IN (SELECT c FROM u WHERE {condition})")
        no = f"SELECT id FROM t WHERE b NOT IN (SELECT c FROM u WHERE c IS NOT NULL AND ({condition}))"
        yield f"NOT IN by {title}", Plan(no, every=True)
        either = f"SELECT id FROM t WHERE b = 1 OR EXISTS (SELECT 1 FROM u WHERE {condition})"
        yield f"EXISTS or else by {title}", Plan(either)


def _scalars() -> Iterator[tuple[str, Plan]]:
    for name, aggregate in _AGGREGATES.items():
        for title, condition in _INNER_CONDITIONS.items():
            inner = f"(SELECT {aggregate} FROM u WHERE {condition})"
            exact = name in {"sum", "count"}
            yield f"{name} in a list by {title}", Plan(f"SELECT id, {inner} AS n FROM t", every=exact)
            if title in ("equality", "a range", "no condition"):
                yield f"{name} in a condition by {title}", Plan(f"SELECT id, b FROM t WHERE b <= {inner}")
                lateral = f"SELECT t.id, q.n FROM t, LATERAL (SELECT {aggregate} AS n FROM u WHERE {condition}) q"
                yield f"{name} in LATERAL by {title}", Plan(lateral, every=exact)


def _windows() -> Iterator[tuple[str, Plan]]:
    for title, window in _WINDOWS.items():
        for by, partition in (("all", ""), ("a", "PARTITION BY a")):
            yield f"{title} over {by}", Plan(f"SELECT id, {window.format(partition)} AS x FROM t")
    top = "SELECT id, a FROM (SELECT id, a, row_number() OVER (PARTITION BY a ORDER BY id) AS r FROM t) q WHERE r <= 2"
    yield "the top two of each", Plan(top)
    yield (
        "a window over groups",
        Plan(
            "SELECT a, n, rank() OVER (ORDER BY n, a NULLS FIRST) AS r FROM "
            "(SELECT a, count(*) AS n FROM t GROUP BY a) q"
        ),
    )
    yield (
        "groups over a window",
        Plan("SELECT r, count(*) AS n FROM (SELECT rank() OVER (PARTITION BY a ORDER BY id) AS r FROM t) q GROUP BY r"),
    )


def _set_operations() -> Iterator[tuple[str, Plan]]:
    for operation in _SET_OPERATIONS:
        yield operation, Plan(f"SELECT a, b FROM t {operation} SELECT a, c FROM u")
        yield f"{operation} of equal rows", Plan(f"SELECT a FROM v {operation} SELECT a FROM t")
        yield f"{operation} with itself", Plan(f"SELECT a FROM t {operation} SELECT b FROM t")
        groups = f"SELECT a, count(*) AS n FROM t GROUP BY a {operation} SELECT a, count(*) FROM u GROUP BY a"
        yield f"{operation} of groups", Plan(groups)
        over = f"SELECT a, count(*) AS n FROM (SELECT a FROM t {operation} SELECT b FROM v) q GROUP BY a"
        yield f"groups over {operation}", Plan(over)
    yield (
        "three in a UNION ALL",
        Plan("SELECT id FROM t UNION ALL SELECT id + 10 FROM u UNION ALL SELECT id + 20 FROM w", every=True),
    )


_GROUPS = {
    "one key": Plan("SELECT a, count(*) AS n FROM t GROUP BY a", every=True),
    "two keys": Plan("SELECT a, b, count(*) AS n FROM t GROUP BY a, b", every=True),
    "an expression as key": Plan("SELECT a % 2 AS k, count(*) AS n FROM t GROUP BY a % 2", every=True),
    "keys that are not shown": Plan("SELECT count(*) AS n, max(id) AS m FROM t GROUP BY a, b", every=True),
    "HAVING": Plan("SELECT a, count(*) AS n FROM t GROUP BY a HAVING count(*) > 1", every=True),
    "HAVING of a subquery": Plan("SELECT a, count(*) AS n FROM t GROUP BY a HAVING max(id) > (SELECT min(id) FROM u)"),
    "DISTINCT": Plan("SELECT DISTINCT a, b FROM v"),
    "DISTINCT of a join": Plan("SELECT DISTINCT t.a FROM t JOIN u ON t.a = u.a"),
    "a distinct sum": Plan("SELECT a, sum(DISTINCT b) AS n FROM t GROUP BY a"),
    "filtered": Plan("SELECT a, count(*) FILTER (WHERE b > 1) AS n, count(*) AS m FROM t GROUP BY a", every=True),
    "ROLLUP": Plan("SELECT a, b, count(*) AS n FROM t GROUP BY ROLLUP (a, b)"),
    "CUBE": Plan("SELECT a, b, count(*) AS n FROM t GROUP BY CUBE (a, b)"),
    "GROUPING SETS": Plan("SELECT a, b, count(*) AS n FROM t GROUP BY GROUPING SETS ((a), (b), ())"),
    "all": Plan("SELECT count(*) AS n, sum(id) AS m FROM t", every=True),
    "nothing": Plan("SELECT count(*) AS n FROM t WHERE id > 99"),
    "groups of groups": Plan(
        "SELECT n, count(*) AS m, sum(x) AS y FROM (SELECT a, count(*) AS n, sum(id) AS x FROM t GROUP BY a) q "
        "GROUP BY n",
        every=True,
    ),
}
_LIMITS = {
    "the first two": Plan("SELECT id, b FROM t ORDER BY id LIMIT 2", every=True),
    "without its key": Plan("SELECT b FROM t ORDER BY id DESC LIMIT 2", every=True),
    "within": Plan("SELECT q.id, u.id AS i FROM (SELECT * FROM t ORDER BY id LIMIT 2) q JOIN u ON q.a = u.a"),
    "of groups": Plan("SELECT a, count(*) AS n FROM t GROUP BY a ORDER BY n DESC, a NULLS FIRST LIMIT 1"),
    "under a group": Plan("SELECT a, count(*) AS n FROM (SELECT a FROM t ORDER BY id LIMIT 3) q GROUP BY a"),
    "with OFFSET": Plan("SELECT id FROM t ORDER BY id LIMIT 2 OFFSET 1"),
    "in LATERAL": Plan(
        "SELECT t.id, q.c FROM t, LATERAL (SELECT u.id, u.c FROM u WHERE u.a = t.a ORDER BY u.id LIMIT 1) q"
    ),
}
_NESTED = {
    "EXISTS within EXISTS": "SELECT id FROM t WHERE EXISTS "
    "(SELECT 1 FROM u WHERE u.a = t.a AND EXISTS (SELECT 1 FROM v WHERE v.b = u.c))",
    "NOT EXISTS within NOT EXISTS": "SELECT id FROM t WHERE NOT EXISTS "
    "(SELECT 1 FROM u WHERE u.a = t.a AND NOT EXISTS (SELECT 1 FROM v WHERE v.b = u.c))",
    "NOT EXISTS within EXISTS": "SELECT id FROM t WHERE EXISTS "
    "(SELECT 1 FROM u WHERE u.a = t.a AND NOT EXISTS (SELECT 1 FROM v WHERE v.b = u.c))",
    "EXISTS within NOT EXISTS": "SELECT id FROM t WHERE NOT EXISTS "
    "(SELECT 1 FROM u WHERE u.a = t.a AND EXISTS (SELECT 1 FROM v WHERE v.b = u.c))",
    "IN within NOT EXISTS": "SELECT id FROM t WHERE NOT EXISTS "
    "(SELECT 1 FROM u WHERE u.a = t.a AND u.c IN (SELECT b FROM v WHERE b IS NOT NULL))",
    "a scalar within EXISTS": "SELECT id FROM t WHERE EXISTS "
    "(SELECT 1 FROM u WHERE u.a = t.a AND u.c >= (SELECT min(b) FROM v WHERE v.a = u.a))",
    "a scalar within a scalar": "SELECT id, (SELECT count(*) FROM u WHERE u.a <= t.a AND u.c <= "
    "(SELECT max(b) FROM v WHERE v.a >= u.a)) AS n FROM t",
    "EXISTS of groups": "SELECT id FROM t WHERE EXISTS (SELECT u.c FROM u WHERE u.a <= t.a GROUP BY u.c "
    "HAVING count(*) > 1)",
    "DISTINCT over NOT EXISTS": "SELECT DISTINCT b FROM t WHERE NOT EXISTS "
    "(SELECT 1 FROM u WHERE u.a = t.a AND NOT EXISTS (SELECT 1 FROM t x WHERE x.a = u.c))",
    "a CTE twice": "WITH q AS (SELECT a, count(*) AS n FROM t GROUP BY a) "
    "SELECT x.a, y.a AS b FROM q x JOIN q y ON x.n = y.n AND x.a < y.a",
    "a CTE in a subquery": "WITH q AS (SELECT a, max(id) AS m FROM u GROUP BY a) "
    "SELECT id, (SELECT max(m) FROM q WHERE q.a < t.a) AS n FROM t",
}


def _both() -> dict[str, Plan]:
    plans: dict[str, Plan] = {}
    for family in (_joins, _existence, _scalars, _windows, _set_operations):
        plans |= dict(family())
    for name, cases in (("group", _GROUPS), ("limit", _LIMITS)):
        plans |= {f"{name}: {title}": plan for title, plan in cases.items()}
    return plans | {title: Plan(sql) for title, sql in _NESTED.items()}


BOTH: Mapping[str, Plan] = _both()

_TYPED = {
    "decimal": "CAST(a AS DECIMAL(20, 4))",
    "double": "CAST(a AS DOUBLE) / 4",
    "date": "date_add(DATE '1582-10-01', a)",
    "timestamp": "timestamp_micros(a)",
    "timestamp without zone": "CAST(timestamp_micros(a) AS TIMESTAMP_NTZ)",
    "text": "CAST(a AS STRING)",
    "binary": "CAST(CAST(a AS STRING) AS BINARY)",
    "boolean": "a > 1",
    "struct": "struct(a, nullif(a, 1) AS x)",
    "array": "array(a, nullif(a, 1))",
    "struct of arrays": "struct(array(struct(a AS y)) AS x)",
    "interval": "make_dt_interval(a)",
}
SPARK_ALONE: Mapping[str, str] = {
    **{f"a group by {name}": f"SELECT {typed} AS k, count(*) AS n FROM t GROUP BY 1" for name, typed in _TYPED.items()},
    **{f"rows with {name}": f"SELECT {typed} AS k, b FROM t" for name, typed in _TYPED.items()},
    "explode": "SELECT id, e FROM w LATERAL VIEW explode(xs) q AS e",
    "explode_outer": "SELECT id, e FROM w LATERAL VIEW OUTER explode(xs) q AS e",
    "posexplode": "SELECT id, p, e FROM w LATERAL VIEW posexplode(xs) q AS p, e",
    "inline": "SELECT id, x, y FROM w LATERAL VIEW inline(array(struct(a AS x, id AS y))) q AS x, y",
    "stack": "SELECT id, x FROM w LATERAL VIEW stack(2, a, id) q AS x",
    "json_tuple": "SELECT id, x FROM w LATERAL VIEW json_tuple(to_json(struct(a)), 'a') q AS x",
    "two generators": "SELECT id, e, f FROM w LATERAL VIEW explode(xs) q AS e LATERAL VIEW explode(xs) r AS f",
    "groups of what was exploded": "SELECT e, count(*) AS n FROM w LATERAL VIEW explode(xs) q AS e GROUP BY e",
    "a join with what was exploded": "SELECT t.id, e FROM w LATERAL VIEW explode(xs) q AS e JOIN t ON t.a = e",
    "UNPIVOT": "SELECT * FROM (SELECT id, a, b FROM t) UNPIVOT (x FOR name IN (a, b))",
    "PIVOT": "SELECT * FROM (SELECT a, b, id FROM t) PIVOT (count(id) FOR b IN (1, 2))",
    "a semi join": "SELECT id FROM t LEFT SEMI JOIN u ON t.a = u.a AND t.b < u.c",
    "an anti join": "SELECT id FROM t LEFT ANTI JOIN u ON t.a = u.a AND t.b < u.c",
    "a union of subqueries by row": "SELECT t.id, q.x FROM t, "
    "LATERAL (SELECT c AS x FROM u WHERE u.a = t.a UNION ALL SELECT t.b) q",
    "LATERAL of an EXCEPT": "SELECT t.id, q.n FROM t, LATERAL (SELECT count(*) AS n FROM "
    "(SELECT c FROM u WHERE u.a <= t.a EXCEPT SELECT b FROM v)) q",
    "collected": "SELECT a, sort_array(collect_list(id)) AS ids FROM t GROUP BY a",
    "first values": "SELECT a, first(id) AS i FROM t GROUP BY a",
    "a maximum by another": "SELECT a, max_by(id, b) AS i FROM t GROUP BY a",
    "a sample": "SELECT id, a FROM t TABLESAMPLE (60 PERCENT) REPEATABLE (7)",
    "groups of a sample": "SELECT a, count(*) AS n FROM t TABLESAMPLE (60 PERCENT) REPEATABLE (7) GROUP BY a",
    "literal rows": "SELECT t.id, q.x FROM t JOIN VALUES (1), (2) q (x) ON t.a = q.x",
    "no source at all": "SELECT 1 AS one",
}
