"""Random small queries over three tables of integers, in SQL that Spark and SQLite understand alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

TABLES = {"t": ("a", "b", "c"), "u": ("d", "e", "f"), "v": ("g", "h")}

_COMPARISONS = st.sampled_from(["<", "<=", "=", "<>"])
_AGGREGATES = st.sampled_from(["sum({})", "min({})", "max({})", "count({})", "count(DISTINCT {})"])
_SET_OPERATIONS = st.sampled_from(["UNION ALL", "UNION", "INTERSECT", "EXCEPT"])


@dataclass(frozen=True)
class Relation:
    """Something to select from, and what its columns are called there."""

    sql: str
    columns: tuple[str, ...]


class Names:
    """Every alias once, so that no column is ambiguous."""

    def __init__(self) -> None:
        self._numbers = count()

    def fresh(self) -> str:
        return f"n{next(self._numbers)}"


@st.composite
def queries(draw: DrawFn) -> str:
    return _query(draw, Names(), 2)[0]


def _query(draw: DrawFn, names: Names, depth: int, width: int | None = None) -> tuple[str, int]:
    """A query and its number of columns."""
    shapes = [_select, _aggregate, _window] + ([_set_operation] if depth > 0 else [])
    shape = draw(st.sampled_from(shapes))
    return shape(draw, names, depth, width or draw(st.integers(1, 3)))


def _select(draw: DrawFn, names: Names, depth: int, width: int) -> tuple[str, int]:
    source = _source(draw, names, depth)
    distinct = draw(st.sampled_from(["", "", "DISTINCT "]))
    listed = _listed(names, [_expression(draw, names, source.columns, 2, depth) for _ in range(width)])
    return f"SELECT {distinct}{listed} FROM {source.sql}{_where(draw, names, source, depth)}", width


def _aggregate(draw: DrawFn, names: Names, depth: int, width: int) -> tuple[str, int]:
    source = _source(draw, names, depth)
    keys = [_column(draw, source.columns) for _ in range(draw(st.integers(0, 2)))]
    made = list(keys[: width - 1])
    while len(made) < width:
        made.append(draw(_AGGREGATES).format(_expression(draw, names, source.columns, 1, 0)))
    sql = f"SELECT {_listed(names, made)} FROM {source.sql}{_where(draw, names, source, depth)}"
    if keys:
        sql += f" GROUP BY {', '.join(dict.fromkeys(keys))}"
        if draw(st.booleans()):
            sql += f" HAVING {draw(_AGGREGATES).format(_column(draw, source.columns))} {draw(_COMPARISONS)} 2"
    return sql, width


def _window(draw: DrawFn, names: Names, depth: int, width: int) -> tuple[str, int]:
    """Ranks and running sums: what they give does not depend on the order of equal rows."""
    source = _source(draw, names, depth)
    made = [_expression(draw, names, source.columns, 1, 0) for _ in range(width - 1)]
    partition = draw(st.sampled_from(["", f"PARTITION BY {_column(draw, source.columns)} "]))
    order = f"ORDER BY {_column(draw, source.columns)}"
    function = draw(st.sampled_from(["rank()", f"sum({_column(draw, source.columns)})"]))
    made.append(f"{function} OVER ({partition}{order})")
    return f"SELECT {_listed(names, made)} FROM {source.sql}{_where(draw, names, source, depth)}", width


def _set_operation(draw: DrawFn, names: Names, depth: int, width: int) -> tuple[str, int]:
    left, right = (_query(draw, names, depth - 1, width)[0] for _ in range(2))
    sides = f"SELECT * FROM ({left}) {names.fresh()} {draw(_SET_OPERATIONS)} SELECT * FROM ({right}) {names.fresh()}"
    return sides, width


def _listed(names: Names, expressions: Sequence[str]) -> str:
    return ", ".join(f"{expression} AS {names.fresh()}" for expression in expressions)


def _source(draw: DrawFn, names: Names, depth: int) -> Relation:
    left = _table(draw, names, depth)
    if not draw(st.booleans()):
        return left
    right = _table(draw, names, depth)
    both = left.columns + right.columns
    condition = f"{_column(draw, left.columns)} {draw(_COMPARISONS)} {_column(draw, right.columns)}"
    join = draw(st.sampled_from(["JOIN", "LEFT JOIN"]))
    return Relation(f"{left.sql} {join} {right.sql} ON {condition}", both)


def _table(draw: DrawFn, names: Names, depth: int) -> Relation:
    alias = names.fresh()
    if depth > 0 and draw(st.integers(0, 2)) == 0:
        query, width = _query(draw, names, depth - 1)
        columns = [names.fresh() for _ in range(width)]
        return Relation(_renamed(query, alias, columns), tuple(f"{alias}.{column}" for column in columns))
    table = draw(st.sampled_from(sorted(TABLES)))
    return Relation(f"{table} AS {alias}", tuple(f"{alias}.{column}" for column in TABLES[table]))


def _renamed(query: str, alias: str, columns: Sequence[str]) -> str:
    """A derived table with column names of ours, in words that both databases know."""
    names = ", ".join(columns)
    return f"(WITH {alias}_q ({names}) AS ({query}) SELECT {names} FROM {alias}_q) AS {alias}"


def _column(draw: DrawFn, columns: Sequence[str]) -> str:
    return draw(st.sampled_from(columns))


def _where(draw: DrawFn, names: Names, source: Relation, depth: int) -> str:
    return f" WHERE {_condition(draw, names, source.columns, 1, depth)}" if draw(st.booleans()) else ""


def _condition(draw: DrawFn, names: Names, columns: Sequence[str], size: int, depth: int) -> str:
    shapes = ["compare", "null"] + (["and", "not"] if size > 0 else []) + (["in", "exists"] if depth > 0 else [])
    shape = draw(st.sampled_from(shapes))
    if shape == "null":
        return f"{_column(draw, columns)} IS NULL"
    if shape == "and":
        left, right = (_condition(draw, names, columns, size - 1, 0) for _ in range(2))
        return f"({left} {draw(st.sampled_from(['AND', 'OR']))} {right})"
    if shape == "not":
        return f"NOT ({_condition(draw, names, columns, size - 1, 0)})"
    if shape == "in":
        return f"{_column(draw, columns)} IN ({_query(draw, names, 0, 1)[0]})"
    if shape == "exists":
        table, alias = draw(st.sampled_from(sorted(TABLES))), names.fresh()
        inner = f"{alias}.{_column(draw, TABLES[table])}"
        return f"EXISTS (SELECT 1 FROM {table} {alias} WHERE {inner} = {_column(draw, columns)})"
    left, right = (_expression(draw, names, columns, 1, 0) for _ in range(2))
    return f"{left} {draw(_COMPARISONS)} {right}"


def _expression(draw: DrawFn, names: Names, columns: Sequence[str], size: int, depth: int) -> str:
    shapes = ["column", "column", "literal"]
    shapes += ["sum", "case", "coalesce"] if size > 0 else []
    shapes += ["scalar"] if depth > 0 and size > 0 else []
    shape = draw(st.sampled_from(shapes))
    if shape == "column":
        return _column(draw, columns)
    if shape == "literal":
        return str(draw(st.integers(0, 3)))
    if shape == "scalar":
        table = draw(st.sampled_from(sorted(TABLES)))
        alias = names.fresh()
        aggregate = draw(_AGGREGATES).format(f"{alias}.{_column(draw, TABLES[table])}")
        inner, outer = f"{alias}.{_column(draw, TABLES[table])}", _column(draw, columns)
        return f"(SELECT {aggregate} FROM {table} {alias} WHERE {inner} {draw(st.sampled_from(['=', '<']))} {outer})"
    left, right = (_expression(draw, names, columns, size - 1, 0) for _ in range(2))
    if shape == "sum":
        return f"({left} {draw(st.sampled_from(['+', '-', '*']))} {right})"
    if shape == "coalesce":
        return f"coalesce({left}, {right})"
    return f"CASE WHEN {_condition(draw, names, columns, 0, 0)} THEN {left} ELSE {right} END"
