"""Row lineage thought through by hand for a few queries: what the oracles themselves are tried on.

For each occurrence a query for (output row, file, position), over `whole_t`, which shows where each row of t lies.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from tests.rows.judges.occurrences import Named, occurrence_names
from tests.rows.judges.small_tables import SCHEMAS
from tests.rows.judges.traced import Traced
from tests.support.duck import Duck, Place

_JOINED = "FROM whole_t t JOIN whole_u u ON t.a = u.a"
_GROUPED = f"SELECT t.b, sum(t.id * u.id) OVER (PARTITION BY t.b), {{}}._file, {{}}._row {_JOINED}"

CASES: Mapping[str, Mapping[str, str]] = {
    "SELECT id, a FROM t WHERE b > 0": {
        "t__1": "SELECT id, a, _file, _row FROM whole_t WHERE b > 0",
    },
    "SELECT t.b, sum(t.id * u.id) AS n FROM t JOIN u ON t.a = u.a GROUP BY t.b": {
        "t__1": _GROUPED.format("t", "t"),
        "u__2": _GROUPED.format("u", "u"),
    },
    "SELECT t.id, u.id AS uid FROM t LEFT JOIN u ON t.a = u.a": {
        "t__1": "SELECT t.id, u.id, t._file, t._row FROM whole_t t LEFT JOIN whole_u u ON t.a = u.a",
        "u__2": f"SELECT t.id, u.id, u._file, u._row {_JOINED}",
    },
    "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a)": {
        "t__1": f"SELECT t.id, t._file, t._row {_JOINED}",
        "u__2": f"SELECT t.id, u._file, u._row {_JOINED}",
    },
    "SELECT id FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.a = t.a)": {
        "t__1": "SELECT id, _file, _row FROM whole_t t WHERE NOT EXISTS (SELECT 1 FROM whole_u u WHERE u.a = t.a)",
        "u__2": "SELECT 1, '', 0 WHERE false",
    },
    "SELECT id FROM t WHERE b >= (SELECT avg(c) FROM u)": {
        "t__1": "SELECT id, _file, _row FROM whole_t WHERE b >= (SELECT avg(c) FROM whole_u)",
        "u__2": "SELECT t.id, u._file, u._row FROM whole_t t, whole_u u WHERE b >= (SELECT avg(c) FROM whole_u)",
    },
    "SELECT a FROM t UNION SELECT b AS a FROM v": {
        "t__1": "SELECT a, _file, _row FROM whole_t",
        "v__2": "SELECT b, _file, _row FROM whole_v",
    },
    "WITH q AS (SELECT a, count(*) AS n FROM v GROUP BY a) "
    "SELECT x.a, x.n + y.n AS n FROM q AS x JOIN q AS y ON x.a IS NOT DISTINCT FROM y.a": {
        "v__1": "SELECT a, 2 * count(*) OVER (PARTITION BY a), _file, _row FROM whole_v",
        "v__2": "SELECT a, 2 * count(*) OVER (PARTITION BY a), _file, _row FROM whole_v",
    },
}


def named(sql: str) -> Named:
    return occurrence_names(sql, SCHEMAS)


def trace_by_hand(duck: Duck, query: Named) -> Traced:
    duck.open(query.tables)
    rows = [(row, repr(row)) for row in duck.run(query.duck)]
    pairs: dict[str, dict[str, frozenset[Place]]] = {}
    for name, sql in CASES[query.shared].items():
        places: dict[str, set[Place]] = defaultdict(set)
        for *values, file, row in duck.run(sql):
            places[repr(tuple(values))].add((file, row))
        pairs[name] = {out_id: frozenset(found) for out_id, found in places.items()}
    return Traced(rows, pairs, dict.fromkeys(pairs, "exact"))
