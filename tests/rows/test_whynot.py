"""Rows that are not in a result, and the operator that is to blame: planted, one kind of trouble a case."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import headwater as hw
from headwater.errors import RowsError
from tests.support.selection import short_and_long

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES: Mapping[str, tuple[str, list[tuple[Any, ...]]]] = {
    "orders": (
        "order_id int, cust int, amount int, status string",
        [(1, 7, 10, "paid"), (2, 7, 20, "open"), (3, 8, 5, None), (4, 9, 1, "paid"), (5, None, 3, "paid")],
    ),
    "customers": ("id int, country string", [(7, "DE"), (8, "FR"), (10, None)]),
    "bans": ("banned int, since int", [(7, 2001), (None, 2002)]),
    "baskets": ("basket int, items array<int>", [(1, [1, 2]), (2, []), (3, None)]),
}


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whynot") / "raw"
    for name, (schema, rows) in TABLES.items():
        spark.createDataFrame(rows, schema).coalesce(1).write.parquet(f"{folder}/{name}")
    return folder


@pytest.fixture(scope="module")
def query(spark: SparkSession, tables: Path) -> Any:
    """A query over the tables. Their schemas are given: to read them from the files takes Spark a job each."""
    for name, (schema, _) in TABLES.items():
        spark.read.schema(schema).parquet(f"{tables}/{name}").createOrReplaceTempView(name)
    return spark.sql


@dataclass(frozen=True)
class Case:
    """``kinds``: of the culprits in their order; ``facts``: what the first explanation has to say, and ``text`` how
    the operator reads; ``values``: some of what it tells besides."""

    sql: str
    where: str
    kinds: tuple[str, ...]
    facts: tuple[str, ...]
    text: str
    values: Mapping[str, Any] = field(default_factory=dict)
    source: str = "raw/orders"


PER_COUNTRY = "select country, sum(amount) total from orders join customers on cust = id group by country"
LATEST = "select *, row_number() over (partition by cust order by amount desc) place from orders"

CASES = {
    "a condition that is false": Case(
        "select * from orders where amount > 15 and status = 'paid'",
        "order_id = 1",
        ("filter",),
        ("orders.amount > 15 is false, as amount = 10",),
        "WHERE orders.amount > 15",
        {"amount": 10},
    ),
    "a condition that is null": Case(
        "select * from orders where status = 'paid'",
        "order_id = 3",
        ("filter",),
        ("orders.status = 'paid' is NULL, as status = NULL",),
        "WHERE orders.status = 'paid'",
        {"status": None},
    ),
    "two conditions at once": Case(
        "select * from orders where amount > 15 and status = 'paid'",
        "order_id = 3",
        ("filter",),
        ("orders.amount > 15 is false, as amount = 5", "orders.status = 'paid' is NULL"),
        "WHERE orders.amount > 15 AND orders.status = 'paid'",
    ),
    "several rows, not all for one reason": Case(
        "select * from orders where amount > 15 and status = 'paid'",
        "order_id in (2, 4)",
        ("filter",),
        ("orders.amount > 15 is false for 1 of 2 rows", "orders.status = 'paid' is false for 1 of 2 rows"),
        "WHERE orders.amount > 15 AND orders.status = 'paid'",
    ),
    "a condition on a subquery's value": Case(
        "select * from customers where id > (select max(cust) + 0 from orders)",
        "id = 8",
        ("filter",),
        ("is false, as id = 8, the subquery = 9",),
        "WHERE customers.id > (SELECT …)",
        source="raw/customers",
    ),
    "a key that nothing has": Case(
        "select * from orders join customers on cust = id",
        "order_id = 4",
        ("inner join",),
        ("no row of raw/customers has customers.id = 9",),
        "INNER JOIN raw/customers ON orders.cust = customers.id",
        {"orders.cust": 9},
    ),
    "a key that is null": Case(
        "select * from orders join customers on cust = id",
        "order_id = 5",
        ("inner join",),
        ("orders.cust is NULL",),
        "INNER JOIN raw/customers ON orders.cust = customers.id",
        {"orders.cust": None},
    ),
    "a key that was filtered out on the other side": Case(
        "select * from orders join (select * from customers where country = 'DE') c on cust = c.id",
        "order_id = 3",
        ("inner join",),
        ("raw/customers has c.id = 8", "WHERE customers.country = 'DE' removed it", "country = 'FR'"),
        "INNER JOIN raw/customers ON orders.cust = c.id",
    ),
    "a key that a join on the other side lost": Case(
        "select * from orders join (select id from customers join bans on id = banned) c on cust = c.id",
        "order_id = 3",
        ("inner join",),
        ("raw/customers has c.id = 8", "INNER JOIN raw/bans", "no row of raw/bans has bans.banned = 8"),
        "INNER JOIN raw/customers, raw/bans ON orders.cust = c.id",
    ),
    "a key that is there, and another condition": Case(
        "select * from orders o join customers c on cust = c.id and o.amount > c.id",
        "order_id = 3",
        ("inner join",),
        ("raw/customers has c.id = 8, but o.amount > c.id is false, as amount = 5, id = 8",),
        "INNER JOIN raw/customers ON (o.cust = c.id) AND (o.amount > c.id)",
    ),
    "no key at all": Case(
        "select * from orders join customers on amount > id * 100",
        "order_id = 2",
        ("inner join",),
        ("of all rows of raw/customers, none matches", "is false, as amount = 20"),
        "INNER JOIN raw/customers ON",
    ),
    "the right of a left outer join": Case(
        "select * from customers left join orders on cust = id",
        "order_id = 4",
        ("left outer join",),
        ("no row of raw/customers has customers.id = 9",),
        "raw/customers LEFT OUTER JOIN raw/orders",
    ),
    "IN": Case(
        "select * from orders where cust in (select id from customers where country = 'DE')",
        "order_id = 3",
        ("semi join",),
        ("raw/customers has customers.id = 8", "customers.country = 'DE' is false, as country = 'FR'"),
        "SEMI JOIN raw/customers",
    ),
    "EXISTS, from the other side": Case(
        "select * from orders o where exists (select 1 from customers c where c.id = o.cust)",
        "id = 10",
        ("semi join",),
        ("no row of raw/orders has o.cust = 10",),
        "raw/orders SEMI JOIN raw/customers",
        source="raw/customers",
    ),
    "NOT EXISTS": Case(
        "select * from orders o where not exists (select * from bans b where b.banned = o.cust)",
        "order_id = 1",
        ("anti join",),
        ("raw/bans has 1 row that must not be there", "banned = 7"),
        "ANTI JOIN raw/bans",
    ),
    "NOT IN, and there it is": Case(
        "select * from orders where cust not in (select banned from bans where since = 2001)",
        "order_id = 1",
        ("not in",),
        ("bans.banned = 7 is among the rows of raw/bans",),
        "orders.cust NOT IN (SELECT bans.banned …)",
        {"blocking rows": [{"banned": 7}]},
    ),
    "NOT IN rows with a null": Case(
        "select * from orders where cust not in (select banned from bans)",
        "order_id = 4",
        ("not in",),
        ("bans.banned is NULL in a row of raw/bans",),
        "orders.cust NOT IN (SELECT bans.banned …)",
        {"blocking rows": [{"banned": None}]},
    ),
    "a null, NOT IN": Case(
        "select * from orders where cust not in (select id from customers)",
        "order_id = 5",
        ("not in",),
        ("orders.cust is NULL, and NOT IN is never true of NULL",),
        "orders.cust NOT IN (SELECT customers.id …)",
    ),
    "EXCEPT": Case(
        "select cust from orders except select id from customers",
        "order_id = 1",
        ("except",),
        ("an equal row is among raw/customers", "id = 7"),
        "EXCEPT raw/customers",
    ),
    "the right of EXCEPT": Case(
        "select cust from orders except select id from customers",
        "id = 7",
        ("except",),
        ("only take rows away",),
        "raw/orders EXCEPT raw/customers",
        source="raw/customers",
    ),
    "EXCEPT ALL": Case(
        "select cust from orders except all select id from customers",
        "order_id = 3",
        ("except all",),
        ("has at least as many equal rows: cust = 8",),
        "EXCEPT ALL",
        {"cust": 8},
    ),
    "INTERSECT": Case(
        "select cust from orders intersect select id from customers",
        "order_id = 4",
        ("intersect",),
        ("no row of raw/customers has customers.id = 9",),
        "INTERSECT raw/customers",
    ),
    "HAVING": Case(
        f"{PER_COUNTRY} having sum(amount) > 10",
        "order_id = 3",
        ("having",),
        ("the group country = 'FR'", "total > 10 is false, as total = 5"),
        "HAVING total > 10",
        {"country": "FR", "total": 5},
    ),
    "the rank of a row": Case(
        "select order_id from orders order by amount desc limit 2",
        "order_id = 5",
        ("limit",),
        ("it is number 4 by orders.amount DESC (orders.amount = 3)", "only the first 2 are taken"),
        "ORDER BY orders.amount DESC LIMIT 2",
        {"rank": 4},
    ),
    "the rank of a group": Case(
        f"{PER_COUNTRY} order by total desc limit 1",
        "order_id = 3",
        ("limit",),
        ("it is number 2 by total DESC (total = 5)", "only the first 1 are taken"),
        "ORDER BY total DESC LIMIT 1",
        {"rank": 2},
    ),
    "a limit in no order": Case(
        "select order_id from orders limit 2",
        "order_id = 5",
        ("limit",),
        ("LIMIT 2 left it out of 5 rows", "in which order"),
        "LIMIT 2",
    ),
    "OFFSET": Case(
        "select order_id from orders order by amount limit 2 offset 1",
        "order_id = 4",
        ("offset",),
        ("it is number 1 by orders.amount", "the first 1 are skipped"),
        "ORDER BY orders.amount OFFSET 1",
    ),
    "a limit after OFFSET": Case(
        "select order_id from orders order by amount limit 2 offset 1",
        "order_id = 1",
        ("limit",),
        ("it is number 4 by orders.amount", "only 2 to 3 are taken"),
        "ORDER BY orders.amount LIMIT 2",
        {"rank": 4},
    ),
    "the value of a window": Case(
        f"select * from ({LATEST}) where place = 1",
        "order_id = 1",
        ("window filter",),
        ("place = 1 is false, as place = 2", "row_number() OVER (PARTITION BY orders.cust"),
        "WHERE place = 1",
        {"place": 2},
    ),
    "an array without elements": Case(
        "select basket, item from baskets lateral view explode(items) t as item",
        "basket = 2",
        ("explode",),
        ("items = []",),
        "LATERAL VIEW explode(baskets.items)",
        {"items": []},
        "raw/baskets",
    ),
    "three reasons in order": Case(
        "select order_id from orders join customers on cust = id where amount > 2 order by amount desc limit 1",
        "order_id = 4",
        ("inner join", "filter", "limit"),
        ("no row of raw/customers has customers.id = 9",),
        "INNER JOIN raw/customers",
    ),
    "what a missing partner would have said is not guessed": Case(
        "select order_id from orders join customers on cust = id where country = 'DE' and amount > 2",
        "order_id = 4",
        ("inner join", "filter"),
        ("no row of raw/customers has customers.id = 9",),
        "INNER JOIN raw/customers",
    ),
    "both branches of a union": Case(
        "select * from orders where order_id = 1 union all select * from orders where order_id = 2",
        "order_id = 3",
        ("filter", "filter"),
        ("orders.order_id = 1 is false, as order_id = 3",),
        "WHERE orders.order_id = 1",
    ),
}


# A limit and a group, each alone; a condition that is false and one that is null; the first of three reasons.
LONG_ONES = {"the rank of a group", "two conditions at once", "a key that nothing has"}


@pytest.mark.parametrize("case", short_and_long(CASES, LONG_ONES))
def test_the_culprit(case: Case, query: Any) -> None:
    answer = hw.why_not(query(case.sql), source=case.source, where=case.where)
    assert answer.exists
    assert not answer.reached
    assert answer.rows.collect() == []
    assert tuple(each.kind for each in answer.culprits) == case.kinds
    first = answer.culprits[0]
    for fact in case.facts:
        assert fact in first.explanation
    assert first.text.startswith(case.text)
    assert {name: first.values[name] for name in case.values} == case.values
    assert first.before > 0
    assert first.after == 0
    own = [each for each in answer.survivors if each.occurrence == first.occurrence]
    left = [each.rows for each in own]
    blamed = left.index(0)
    assert own[blamed].kind == first.kind
    assert left[blamed - 1] == first.before
    assert set(left[blamed:]) == {0}


def test_a_row_that_did_reach_the_result(query: Any) -> None:
    answer = hw.why_not(query(PER_COUNTRY), source="raw/orders", where="order_id = 2")
    assert answer.reached
    assert answer.culprits == []
    assert answer.merged == ["merged into the group country = 'DE'"]
    (row,) = answer.rows.collect()
    assert (row["country"], row["total"]) == ("DE", 30)
    assert answer.out_ids == [row["out_id"]]
    assert "did reach the result, merged into the group country = 'DE'" in answer.verdict
    assert [each.rows for each in answer.survivors if each.kind == "aggregate"] == [1]


def test_a_row_that_reached_it_by_a_subquery_alone(query: Any) -> None:
    answer = hw.why_not(
        query("select * from orders where amount > (select avg(amount) from orders)"),
        source="raw/orders",
        where="order_id = 4",
    )
    assert answer.reached
    assert {row["order_id"] for row in answer.rows.collect()} == {1, 2}
    assert [each.kind for each in answer.culprits] == ["filter"]
    assert "stopped by WHERE CAST(orders.amount AS DOUBLE) > (SELECT …)" in answer.verdict


def test_a_row_that_does_not_exist(query: Any) -> None:
    answer = hw.why_not(query("select * from orders where amount > 15"), source="raw/orders", where="order_id = 99")
    assert not answer.exists
    assert not answer.reached
    assert answer.culprits == []
    assert answer.verdict == "raw/orders has no row where order_id = 99."


def test_code_that_cannot_be_looked_into(query: Any) -> None:
    frame = query("select order_id from orders").mapInPandas(lambda frames: frames, "order_id int")
    answer = hw.why_not(frame, source="raw/orders", where="order_id = 4")
    assert answer.reached is None
    assert "It reached mapInPandas, whose code cannot be seen into" in answer.verdict
    assert answer.survivors[-1].rows is None
    assert any("single rows cannot be followed" in note for note in answer.notes)
    stopped = hw.why_not(
        frame.sparkSession.table("orders")
        .where("order_id < 4")
        .select("order_id")
        .mapInPandas(lambda frames: frames, "order_id int"),
        source="raw/orders",
        where="order_id = 4",
    )
    assert not stopped.reached
    assert [each.kind for each in stopped.culprits] == ["filter"]


def test_a_row_that_gave_way_to_another(query: Any) -> None:
    """Beside a group that keeps the row; both are looked at in the execution that is asked about."""
    orders = query("select * from orders").coalesce(1).dropDuplicates(["status"])
    kept = {row["order_id"] for row in orders.collect()}
    every = {row["order_id"]: row["status"] for row in query("select order_id, status from orders").collect()}
    for order_id in (min(kept), min(every.keys() - kept)):
        answer = hw.why_not(orders, source="raw/orders", where=f"order_id = {order_id}")
        assert answer.reached is (order_id in kept)
        if not answer.reached:
            (culprit,) = answer.culprits
            assert culprit.text == "dropDuplicates, the first row of each orders.status"
            assert culprit.explanation == f"another row was taken for status = '{every[order_id]}'"


def test_a_query_that_counts_on_what_was_kept_away(query: Any) -> None:
    """The condition on the quotient fails where the one before it does not hold, and so would the query."""
    spare = "if(status = 'paid', raise_error('no'), 0) as spare"
    sql = f"select order_id, {spare} from orders where amount > 15 and 10 / (amount - 10) > 0"
    answer = hw.why_not(
        query(f"select order_id from ({sql}) where spare = 0"), source="raw/orders", where="order_id = 1"
    )
    assert [each.kind for each in answer.culprits] == ["filter"]
    assert "orders.amount > 15 is false, as amount = 10" in answer.culprits[0].explanation
    assert any("is not known" in note for note in answer.notes)


def test_the_answer_in_three_forms(query: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = hw.why_not(
        query("select * from orders where status = '<b>' and amount > 15"), source="raw/orders", where="order_id = 1"
    )
    said = json.loads(answer.to_json())
    assert said["reached"] is False
    assert said["culprits"][0]["values"] == {"status": "paid", "amount": 10}
    assert [each["rows"] for each in said["survivors"]] == [1, 0, 0]
    html = answer._repr_html_()
    assert "&lt;b&gt;" in html
    assert "<b>'" not in html
    printed = StringIO()
    monkeypatch.setattr("sys.stdout", printed)
    answer.show()
    text = " ".join(printed.getvalue().split())
    assert "orders.status = '<b>' is false, as status = 'paid'" in text
    assert "rows left" in text


def test_what_cannot_be_asked(query: Any) -> None:
    with pytest.raises(RowsError, match=r"'raw/nothing' is not a source here. Sources: .*raw/orders"):
        hw.why_not(query("select * from orders"), source="raw/nothing", where="true")
    with pytest.raises(RowsError, match="does not fit raw/orders"):
        hw.why_not(query("select * from orders"), source="raw/orders", where="nothing = 1")
