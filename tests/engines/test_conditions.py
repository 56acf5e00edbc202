"""Conditions that users write: an accepted one has the same meaning on both engines; everything else is refused."""

from __future__ import annotations

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.engines.conditions import ALLOWED_FUNCTIONS, ALLOWED_TYPES, read_condition, refuse_unknown_columns
from headwater.errors import ConditionRefused

ACCEPTED = {
    "a = 1": ("`a` = 1", '"a" = 1'),
    "a == 1 and b <> 'x'": ("`a` = 1 AND `b` <> 'x'", '"a" = 1 AND "b" <> \'x\''),
    "a = 1 or (b = 2 and not (c = 3))": (
        "`a` = 1 OR (`b` = 2 AND NOT (`c` = 3))",
        '"a" = 1 OR ("b" = 2 AND NOT ("c" = 3))',
    ),
    "a not in (1, 2)": ("NOT `a` IN (1, 2)", 'NOT "a" IN (1, 2)'),
    "a between -1 and 2.5": ("`a` BETWEEN -1 AND 2.5", '"a" BETWEEN -1 AND 2.5'),
    "a is not null": ("NOT `a` IS NULL", 'NOT "a" IS NULL'),
    "a <=> b": ("`a` IS NOT DISTINCT FROM `b`", '"a" IS NOT DISTINCT FROM "b"'),
    "a like 'x%'": ("`a` LIKE 'x%'", "\"a\" LIKE 'x%'"),
    r"a like 'x\_%'": ("`a` LIKE decode(X'785c5f25', 'UTF-8')", "\"a\" LIKE 'x\\_%' ESCAPE '\\'"),
    "cast(a as decimal(10, 2)) > 3": ("CAST(`a` AS DECIMAL(10, 2)) > 3", 'TRY_CAST("a" AS DECIMAL(10, 2)) > 3'),
    "day >= date '2026-01-01'": ("`day` >= CAST('2026-01-01' AS DATE)", "\"day\" >= CAST('2026-01-01' AS DATE)"),
    "year(day) = 2026": ("YEAR(`day`) = 2026", 'YEAR(CAST("day" AS DATE)) = 2026'),
    "lower(trim(a)) = 'x'": ("LOWER(TRIM(`a`)) = 'x'", "LOWER(TRIM(\"a\")) = 'x'"),
    "a + b * 2 > -(c - 1)": ("`a` + `b` * 2 > -(`c` - 1)", '"a" + "b" * 2 > -("c" - 1)'),
    "- -a = 1": ("- -`a` = 1", '- -"a" = 1'),
    '`odd ``name` = "x"': ("`odd ``name` = 'x'", "\"odd `name\" = 'x'"),
    '`with "quotes` = 1': ('`with "quotes` = 1', '"with ""quotes" = 1'),
    "a.b = 1": ("`a`.`b` = 1", '"a"."b" = 1'),
    "a = 'it''s'": ("`a` = decode(X'69742773', 'UTF-8')", "\"a\" = 'it''s'"),
    r"a = 'it\'s'": ("`a` = decode(X'69742773', 'UTF-8')", "\"a\" = 'it''s'"),
    "a = '-- no comment; /* nor this */'": (
        "`a` = '-- no comment; /* nor this */'",
        "\"a\" = '-- no comment; /* nor this */'",
    ),
    "a = '${env:HOME}'": ("`a` = decode(X'247b656e763a484f4d457d', 'UTF-8')", "\"a\" = '${env:HOME}'"),
    "is_open": ("`is_open`", '"is_open"'),
    "true": ("TRUE", "TRUE"),
}


@pytest.mark.parametrize("text", ACCEPTED)
def test_accepted_conditions_are_regenerated(text: str) -> None:
    found = read_condition(text)
    assert (found.spark, found.duckdb) == ACCEPTED[text]


def test_the_columns_of_a_condition() -> None:
    assert read_condition("a.b = 1 and (c in (d, a) or upper(`e f`) = 'x')").columns == ("a", "c", "d", "e f")


REFUSED = {
    "a query": ["a in (select 1)", "exists (select 1)", "(select 1) = 1", "a = all (select 1)"],
    "and one deep within": ["a = 1 or not (b between 1 and (select max(x) from y))", "abs((select 1)) = 1"],
    "more than one": ["1=1; drop table x", "1=1;", ";", "a = 1; -- ", "1=1 union select 1", "a = 1 limit 1"],
    "comments": ["1=1 -- c", "1=1 /* c */", "/*+ hint */ a = 1", "/*! x */ a = 1", "a /**/ = 1", "a = 1 --"],
    "functions": ["rand() < 1", "foo(a) = 1", "reflect('java.lang.System', 'exit', 1) = 1", "count(a) > 1"],
    "functions that are no words": ["a rlike 'x'", "x -> x = 1", "if(a, b, c)", "case when a then b end"],
    "functions without brackets": ["current_user = 'x'", "current_date = a", "a = current_timestamp"],
    "functions of files": ["read_text('/etc/passwd') = a", "a = getenv('HOME')", "identifier('x') = 1"],
    "known ones, asked otherwise": ["abs(distinct a) = 1", "trim(both 'x' from a) = 'x'", "to_date(a, 'yyyy') = 1"],
    "windows": ["sum(a) over () = 1", "a over (order by b) = 1"],
    "variables": ["a = ${env:HOME}", "a = @x", "a = :p", "a = ?", "a = $x"],
    "types": ["cast(a as binary) = 1", "cast(a as struct<x: int>) = 1", "cast(a as array<int>) = 1", "a::map = 1"],
    "casts of other dialects": ["cast(a as int format 'x') = 1"],
    "no condition": ["1", "a + 1", "'x'", "abs(a)", "null", "(1)", "-a", "coalesce(a, b)"],
    "no expression": ["", "   ", "a b", "a =", "and", "a = 1 and", "a = 1 as b", "select 1", "drop table x", "(", ")"],
    "texts": ["a = 'x' 'y'", "a = 'x'\"y\"", "a = 'unclosed", "a = r'x'", "a = X'41'", "a = 'x' collate utf8"],
    "stars and lists": ["* = 1", "a.* = 1", "a = (1, 2)", "a in ()", "a in b", "a in (1, (2, 3))", "array(1) = a"],
    "other operators": ["a & 1 = 1", "a[0] = 1", "a div 2 = 1", "a is b", "interval 1 day = a"],
    "ways to be like": ["a like b", "a like any ('x')", "a like 'x' escape '!'"],
    "too deep": ["(" * 3000 + "a = 1" + ")" * 3000, "not " * 2000 + "a", "- " * 2000 + "a = 1"],
    "too much": ["a in (" + ", ".join(["1"] * 3000) + ")"],
    "no text": ["a = '\x00'", "a = '\ud800'"],
}


@pytest.mark.parametrize("text", [text for texts in REFUSED.values() for text in texts])
def test_everything_else_is_refused(text: str) -> None:
    with pytest.raises(ConditionRefused) as refused:
        read_condition(text)
    assert len(str(refused.value)) < 1000
    assert "sqlglot" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "culprit"),
    [
        ("a = 1 and b in (select x from y)", "(SELECT x FROM y)"),
        ("a = 1 or foo(b) = 2", "FOO(b)"),
        ("a = 1; drop table x", ";"),
        ("a = 1 -- and so on", "and so on"),
        ("a = 1 limit 1", "limit"),
        ("cast(a as binary) = b", "BINARY"),
    ],
)
def test_the_culprit_is_named(text: str, culprit: str) -> None:
    with pytest.raises(ConditionRefused) as refused:
        read_condition(text)
    assert refused.value.culprit == culprit
    assert culprit in str(refused.value)


def test_an_unknown_column_is_named() -> None:
    refuse_unknown_columns(["Amount"], ["amount", "day"], "orders")
    refuse_unknown_columns(["anything"], [], "orders")  # nobody has told of its columns
    with pytest.raises(ConditionRefused, match=r"Column 'amont' is not in orders\. Columns: amount, day\."):
        refuse_unknown_columns(["amount", "amont"], ["amount", "day"], "orders")


@pytest.mark.parametrize("name", ALLOWED_FUNCTIONS)
def test_each_listed_function_is_accepted_and_known_to_duckdb(name: str) -> None:
    two = {"contains", "startswith", "endswith", "nullif", "coalesce"}
    a = "date '2026-01-02'" if name in ("date", "day", "month", "year", "to_date") else "'1'"
    a = (
        "-1.5"
        if name in ("abs", "ceil", "floor", "round")
        else "timestamp '2026-01-02 03:04:05'"
        if name == "hour"
        else a
    )
    more = ", '1'" if name in two else ", 1" if name == "substring" else ""
    found = read_condition(f"{name}({a}{more}) is not null")
    duckdb.execute(f"SELECT {found.duckdb}")


@pytest.mark.parametrize("name", ALLOWED_TYPES)
def test_each_listed_type_is_accepted_and_known_to_duckdb(name: str) -> None:
    duckdb.execute(f"SELECT {read_condition(f'cast(null as {name}) is null').duckdb}")


@given(value=st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=20))
@settings(max_examples=200, deadline=None)
def test_a_literal_cannot_break_out(value: str) -> None:
    """Whatever its text: DuckDB matches it, and in Spark's form it is printable and without escapes, or hexadecimal."""
    quoted = value.replace("\\", "\\\\").replace("'", "\\'")
    found = read_condition(f"a = '{quoted}'")
    [(same,)] = duckdb.execute(f"SELECT count(*) FROM (SELECT ? AS a) WHERE {found.duckdb}", [value]).fetchall()
    assert same == 1
    literal = found.spark.removeprefix("`a` = ")
    if literal.startswith("decode"):
        assert literal == f"decode(X'{value.encode().hex()}', 'UTF-8')"
    else:
        assert literal == f"'{value}'"
        assert not set("\\'$") & set(value)


@given(text=st.text("a1'\"`\\;-/*()=<> \n,.${}:", max_size=30))
@settings(max_examples=300, deadline=None)
def test_any_text_is_accepted_or_refused(text: str) -> None:
    """A regenerated condition is accepted again, unchanged."""
    try:
        found = read_condition(text)
    except ConditionRefused:
        return
    if "decode(" not in found.spark:
        assert read_condition(found.spark).spark == found.spark
