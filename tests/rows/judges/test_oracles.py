"""The oracles themselves: content with lineage thought through by hand, and not when any one row of it is missing."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import pytest

from tests.rows.judges import leave_one_out, reexecution
from tests.rows.judges.by_hand import CASES, named, trace_by_hand
from tests.rows.judges.comparing import same_rows, same_value
from tests.rows.judges.lab import write
from tests.rows.judges.leave_one_out import Monotone
from tests.rows.judges.occurrences import occurrence_names
from tests.rows.judges.small_tables import small_tables
from tests.rows.judges.traced import Traced
from tests.support.duck import Duck

# Where a row of these is missing, another one may stand in for it: any witness does, any copy is enough for DISTINCT.
ONE_IS_ENOUGH = ("EXISTS", "UNION")
SEEDS = range(8)


@pytest.fixture(scope="module", params=SEEDS)
def duck(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Duck]:
    folder = tmp_path_factory.mktemp("small")
    for name, table in small_tables(request.param).items():
        write(table, folder / name)
    with Duck(folder) as opened:
        yield opened


@pytest.mark.parametrize("sql", CASES)
def test_reexecution_is_content_with_what_is_right(duck: Duck, sql: str) -> None:
    query = named(sql)
    assert reexecution.faults(duck, query, trace_by_hand(duck, query)) == []


@pytest.mark.parametrize("sql", [sql for sql in CASES if not any(word in sql for word in ONE_IS_ENOUGH)])
def test_reexecution_notices_any_missing_row(duck: Duck, sql: str) -> None:
    query = named(sql)
    right = trace_by_hand(duck, query)
    for name, pairs in right.pairs.items():
        for out_id, places in pairs.items():
            for place in places if "avg" not in sql or name != "u__2" else ():  # a mean may stay the same
                wrong = right.without(name, out_id, place)
                assert [lost.out_id for lost in reexecution.lost_rows(duck, query, wrong)] == [out_id]


def test_reexecution_notices_when_all_witnesses_are_missing(duck: Duck) -> None:
    query = named("SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a)")
    right = trace_by_hand(duck, query)
    wrong = Traced(right.rows, {**right.pairs, "u__2": {}}, right.grains)
    assert len(reexecution.lost_rows(duck, query, wrong)) == len(right.rows)


def test_reexecution_notices_ids_and_rows_that_are_not_the_query_s(duck: Duck) -> None:
    query = named("SELECT id, a FROM t WHERE b > 0")
    right = trace_by_hand(duck, query)
    more = Traced([*right.rows, ((99, 99), "99")], {"t__1": {**right.pairs["t__1"], "98": frozenset()}}, right.grains)
    found = reexecution.faults(duck, query, more)
    assert [words.split(":")[0] for words in found[:2]] == [
        "the traced rows are not the query's",
        "t__1 has pairs of 1 ids that no output row has",
    ]
    assert found[2].startswith("(99, 99) does not come back")


MONOTONE = {
    "SELECT t.b, sum(t.id * u.id) AS n FROM t JOIN u ON t.a = u.a GROUP BY t.b": (
        "SELECT t.b, count(*) FROM t__1 t JOIN u__2 u ON t.a = u.a GROUP BY t.b"
    ),
    "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a)": (
        "SELECT t.id, count(*) FROM t__1 t JOIN u__2 u ON t.a = u.a GROUP BY t.id"
    ),
    "SELECT a FROM t UNION SELECT b AS a FROM v": (
        "SELECT a, count(*) FROM (SELECT a FROM t__1 UNION ALL SELECT b FROM v__2) GROUP BY a"
    ),
}


@pytest.mark.parametrize("sql", MONOTONE)
def test_leave_one_out_wants_exactly_what_is_right(duck: Duck, sql: str) -> None:
    query = Monotone(named(sql), MONOTONE[sql], 1)
    right = trace_by_hand(duck, query.named)
    assert leave_one_out.faults(duck, query, right) == []
    for name, pairs in right.pairs.items():
        for out_id, places in pairs.items():
            for place in places:
                (fault,) = leave_one_out.faults(duck, query, right.without(name, out_id, place))
                assert "misses" in fault
            strangers = set(duck.places(query.named.tables[name])) - places
            for place in strangers:
                more = Traced(right.rows, {**right.pairs, name: {**pairs, out_id: places | {place}}}, right.grains)
                (fault,) = leave_one_out.faults(duck, query, more)
                assert "in vain" in fault


def test_every_mention_has_a_name() -> None:
    found = occurrence_names(
        "WITH q AS (SELECT a FROM t), r AS (SELECT a FROM q WHERE a IN (SELECT a FROM u)) "
        "SELECT x.a FROM r AS x JOIN r AS y ON x.a = y.a LEFT ANTI JOIN v ON v.a = x.a, t "
        "WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.a = t.a) EXCEPT SELECT a FROM w",
        {"t", "u", "v", "w"},
    )
    assert sorted(found.tables.values()) == ["t", "t", "t", "u", "u", "u", "v", "w"]
    assert sorted(found.tables[name] for name in found.negated) == ["u", "v", "w"]
    assert found.repeats
    for name in found.tables:
        assert found.spark.count(name) == found.duck.count(name) == 1


def test_a_cte_hides_the_table_of_its_name() -> None:
    found = occurrence_names("WITH t AS (SELECT a FROM t) SELECT a FROM t", {"t"})
    assert found.tables == {"t__1": "t"}
    assert found.spark == "WITH t AS (SELECT a FROM t__1 AS t) SELECT a FROM t"


def test_values_are_compared_exactly_but_for_floating_point() -> None:
    assert same_value(Decimal("1.50"), Decimal("1.5"))
    assert same_value(0.1 + 0.2, 0.3)
    assert same_value(Decimal("0.333333"), 1 / 3)
    assert not same_value(Decimal("0.333334"), 1 / 3)
    assert not same_value(2**60, 2**60 + 1)
    assert not same_value(0, None)
    assert same_value((1, None), [1, None])
    assert not same_rows([(1,), (1,)], [(1,), (2,)])
    assert not same_rows([(1,)], [(1,), (1,)])
