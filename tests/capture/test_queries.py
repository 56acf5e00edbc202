"""Queries that a database runs for Spark: what their text says, and where it does not say enough."""

from __future__ import annotations

import pytest

from headwater.capture.naming.queries import ColumnUse, read_query

CASES = {
    "SELECT id, amount * 2 AS twice FROM orders WHERE amount > 3": """
        id <- orders.id IDENTITY
        twice <- orders.amount TRANSFORMATION
        * <- orders.amount FILTER
    """,
    "SELECT c.name, sum(o.amount) AS total FROM orders o JOIN customers c ON o.customer = c.id GROUP BY c.name": """
        name <- customers.name IDENTITY
        total <- orders.amount AGGREGATION
        * <- orders.customer JOIN
        * <- customers.id JOIN
        * <- customers.name GROUP_BY
    """,
    "WITH few AS (SELECT id, sum(v) AS s FROM t GROUP BY id HAVING max(w) > 1) SELECT s + 1 AS p FROM few": """
        p <- t.v AGGREGATION
        * <- t.w FILTER
        * <- t.id GROUP_BY
    """,
    "SELECT a FROM t UNION ALL SELECT b FROM u WHERE c = 1": """
        a <- t.a IDENTITY
        a <- u.b IDENTITY
        * <- u.c FILTER
    """,
    "SELECT x.k FROM (SELECT a AS k FROM t WHERE b = 1) x": """
        k <- t.a IDENTITY
        * <- t.b FILTER
    """,
    "SELECT CASE WHEN a > 1 THEN b END AS d, sum(a) OVER (PARTITION BY c) AS w FROM t": """
        d <- t.b TRANSFORMATION
        d <- t.a CONDITIONAL
        w <- t.a AGGREGATION
        w <- t.c WINDOW
    """,
    'SELECT "Id", DAY FROM "Orders"': """
        id <- "Orders".Id IDENTITY
        day <- "Orders".day IDENTITY
    """,
    "SELECT o.id FROM orders o WHERE o.c IN (SELECT c.id FROM customers c WHERE c.land = 'DE')": """
        id <- orders.id IDENTITY
        * <- orders.c FILTER
        * <- customers.id FILTER
        * <- customers.land FILTER
    """,
}


@pytest.mark.parametrize("text", CASES)
def test_columns(text: str) -> None:
    query = read_query(text, "postgres", str.lower)
    assert query.unclear is None
    lines = {f"{name} <- {_line(used)}" for name, each in query.columns.items() for used in each}
    lines |= {f"* <- {_line(used)}" for used in query.whole}
    assert lines == {line.strip() for line in CASES[text].strip().splitlines()}


def _line(used: ColumnUse) -> str:
    return f"{used.table}.{used.column} {used.subtype}"


def test_all_columns_of_one_table_keep_their_names() -> None:
    query = read_query("SELECT *, a + b AS c FROM orders", "postgres", str.lower)
    assert query.of("Day") == (ColumnUse("orders", "Day", "IDENTITY"),)
    assert {used.column for used in query.of("C")} == {"a", "b"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT a, b FROM t, u", "it does not say which table a is of"),
        ("SELECT * FROM t JOIN u ON t.id = u.id", "it selects * from more than one table"),
        ("SELECT t.a FROM t JOIN u USING (id)", "it joins by names alone"),
        (
            "SELECT t.a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id)",
            "a query within it may depend on its rows",
        ),
        ("SELECT a + 1 FROM t", "it has a column without a name"),
    ],
)
def test_what_the_text_does_not_say(text: str, reason: str) -> None:
    query = read_query(text, "postgres", str.lower)
    assert (query.unclear, query.columns) == (reason, {})
    assert "t" in query.tables


def test_a_text_that_is_no_query() -> None:
    with pytest.raises(ValueError, match="could not be read"):
        read_query("SELEC nonsense FROM (", "postgres", str.lower)
