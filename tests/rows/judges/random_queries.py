"""Random queries over the small tables, in Spark's words and in DuckDB's.

What re-execution can judge is bounded: it needs every relation inside a query to give, on traced rows, a part of what
it gave on all rows. So that what it finds is always a fault of the trace:

- a query within a query groups a join by columns of its left side only, and has a LIMIT over one table only;
- no window lies under two GROUP BYs;
- an aggregate without keys, which has a row even of nothing, stands alone: as a subquery, or outermost;
- a subquery is correlated with one relation.

Everything is ordered by all its columns: what a LIMIT or a row number leaves open then makes no difference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tests.rows.judges.small_tables import SCHEMAS
from tests.rows.judges.texts import both, either

T = TypeVar("T")

_COMPARISONS = st.sampled_from(["=", "=", "<", "<=", "<>"])
_AGGREGATES = st.sampled_from(["sum({})", "min({})", "max({})", "count({})", "count(DISTINCT {})", "sum(DISTINCT {})"])
_JOINS = ["JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN", "SEMI", "ANTI"]
_SET_OPERATIONS = ["UNION ALL", "UNION", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL"]


@dataclass(frozen=True)
class Query:
    spark: str
    duck: str


@dataclass(frozen=True)
class Relation:
    """Something to select from, and its columns of integers as they are called there."""

    sql: str
    columns: tuple[str, ...]


class Names:
    """Every alias once, so that no column is ambiguous."""

    def __init__(self) -> None:
        self._numbers = count()

    def fresh(self, letter: str = "n") -> str:
        return f"{letter}{next(self._numbers)}"


@st.composite
def queries(draw: DrawFn) -> Query:
    return Query(*both(_Writer(draw).whole()))


class _Writer:
    """Writes one query. What it writes is Spark's; `either` is for the words that DuckDB has others for."""

    def __init__(self, draw: DrawFn) -> None:
        self._draw = draw
        self._names = Names()

    # -------------------------------------------------------------------------------------- the whole

    def whole(self) -> str:
        cte, source = self._shared_source() if self._chance(12) else ("", None)
        width = self._draw(st.integers(1, 3))
        sql = self._outermost(width, source)
        if self._chance(18):
            operation = self._one_of(_SET_OPERATIONS)
            left, right = (f"SELECT * FROM ({side}) {self._names.fresh()}" for side in (sql, self._outermost(width)))
            sql = f"{left} {operation} {right}"
        if self._chance(20):
            order = ", ".join(f"{place + 1} {self._one_of(['ASC', 'DESC'])} NULLS FIRST" for place in range(width))
            sql = f"SELECT * FROM ({sql}) {self._names.fresh()} ORDER BY {order} LIMIT {self._draw(st.integers(1, 4))}"
        return cte + sql

    def _shared_source(self) -> tuple[str, Relation]:
        """A CTE that is used twice."""
        name, columns = self._names.fresh("q"), [self._names.fresh("c") for _ in range(2)]
        inner = self._one_of([self._grouped, self._selected, self._windowed])()
        listed = ", ".join(
            f"{column} AS {new}" for column, new in zip(self._some(inner.columns, 2), columns, strict=True)
        )
        cte = f"WITH {name} AS (SELECT {listed} FROM {inner.sql}) "
        left, right = (self._known(name, columns) for _ in range(2))
        return cte, self._joined(left, right)

    def _known(self, name: str, columns: Sequence[str]) -> Relation:
        alias = self._names.fresh()
        return Relation(f"{name} AS {alias}", tuple(f"{alias}.{column}" for column in columns))

    def _outermost(self, width: int, source: Relation | None = None) -> str:
        if source is None:
            source = self._source()
        shapes = [
            self._plain,
            self._plain,
            self._distinct,
            self._aggregate,
            self._aggregate,
            self._window,
            self._rollup,
        ]
        return self._one_of(shapes)(width, source)

    def _plain(self, width: int, source: Relation, distinct: str = "") -> str:
        made = [self._expression(source.columns, scalar=True) for _ in range(width)]
        return f"SELECT {distinct}{self._listed(made)} FROM {source.sql}{self._where(source)}"

    def _distinct(self, width: int, source: Relation) -> str:
        return self._plain(width, source, "DISTINCT ")

    def _aggregate(self, width: int, source: Relation) -> str:
        keys = list(dict.fromkeys(self._some(source.columns, self._draw(st.integers(0, 2)))))[: max(width - 1, 0)]
        made = keys + [self._aggregated(source) for _ in range(width - len(keys))]
        sql = f"SELECT {self._listed(made)} FROM {source.sql}{self._where(source)}"
        if keys:
            sql += f" GROUP BY {', '.join(keys)}{self._having(source)}"
        return sql

    def _rollup(self, width: int, source: Relation) -> str:
        keys = list(dict.fromkeys(self._some(source.columns, 2)))
        kind = self._one_of(["ROLLUP", "CUBE"])
        made = [*keys[: width - 1], *(self._aggregated(source) for _ in range(width - len(keys[: width - 1])))]
        return f"SELECT {self._listed(made)} FROM {source.sql}{self._where(source)} GROUP BY {kind} ({', '.join(keys)})"

    def _window(self, width: int, source: Relation) -> str:
        made = [self._column(source) for _ in range(width - 1)] + [self._over(source.columns)]
        return f"SELECT {self._listed(made)} FROM {source.sql}{self._where(source)}"

    # -------------------------------------------------------------------------------------- relations

    def _source(self) -> Relation:
        source = self._relation()
        for _ in range(self._one_of([0, 0, 1, 1, 1, 2])):
            source = self._joined(source, self._relation())
        return source

    def _joined(self, left: Relation, right: Relation) -> Relation:
        join = self._one_of(_JOINS)
        both = left.columns + right.columns
        if join == "CROSS JOIN":
            return Relation(f"{left.sql} CROSS JOIN {right.sql}", both)
        equals = self._one_of(["=", "=", "=", "IS NOT DISTINCT FROM", "<"])
        condition = f"{self._column(left)} {equals} {self._column(right)}"
        if self._chance(25):
            condition += f" AND {self._comparison(both)}"
        if join in ("SEMI", "ANTI"):
            words = either(f"LEFT {join} JOIN", f"{join} JOIN")
            return Relation(f"{left.sql} {words} {right.sql} ON {condition}", left.columns)
        return Relation(f"{left.sql} {join} {right.sql} ON {condition}", both)

    def _relation(self) -> Relation:
        """A table, or a query in its place."""
        if self._chance(55):
            return self._table()
        kinds = [self._selected, self._grouped, self._windowed, self._combined, self._exploded, self._limited]
        return self._one_of(kinds)()

    def _table(self) -> Relation:
        name = self._one_of(sorted(SCHEMAS))
        return self._known(name, [column for column in SCHEMAS[name] if column not in ("s", "xs")])

    def _derived(self, made: Sequence[str], rest: str, distinct: str = "") -> Relation:
        alias, columns = self._names.fresh(), [self._names.fresh("c") for _ in made]
        listed = ", ".join(f"{expression} AS {column}" for expression, column in zip(made, columns, strict=True))
        sql = f"(SELECT {distinct}{listed} FROM {rest}) AS {alias}"
        return Relation(sql, tuple(f"{alias}.{column}" for column in columns))

    def _selected(self) -> Relation:
        table = self._table()
        made = [self._expression(table.columns) for _ in range(2)]
        return self._derived(made, f"{table.sql}{self._where(table, deep=False)}", self._one_of(["", "DISTINCT "]))

    def _grouped(self) -> Relation:
        """By columns of the left table, so that a group has all rows of it."""
        left = self._table()
        source = self._joined(left, self._table()) if self._chance(35) else left
        keys = list(dict.fromkeys(self._some(left.columns, self._draw(st.integers(1, 2)))))
        made = [*keys, self._aggregated(source)]
        where = self._where(left, deep=False)
        return self._derived(made, f"{source.sql}{where} GROUP BY {', '.join(keys)}{self._having(source)}")

    def _windowed(self) -> Relation:
        table = self._table()
        return self._derived([self._column(table), self._over(table.columns)], table.sql)

    def _combined(self) -> Relation:
        sides = []
        for _ in range(2):
            table = self._table()
            made = ", ".join(f"{self._column(table)} AS {name}" for name in ("x", "y"))
            sides.append(f"SELECT {made} FROM {table.sql}{self._where(table, deep=False)}")
        return self._derived(
            ["x", "y"], f"({sides[0]} {self._one_of(_SET_OPERATIONS)} {sides[1]}) {self._names.fresh()}"
        )

    def _exploded(self) -> Relation:
        table, view = self._names.fresh(), self._names.fresh()
        if self._chance(50):
            spark, duck = "LATERAL VIEW explode", f", LATERAL (SELECT unnest({table}.xs) AS e) AS {view}"
        else:
            spark = "LATERAL VIEW OUTER explode"
            duck = f"LEFT JOIN LATERAL (SELECT unnest({table}.xs) AS e) AS {view} ON true"
        words = either(f" {spark}({table}.xs) {view} AS e", f" {duck}")
        return self._derived([f"{table}.id", f"{table}.a", f"{view}.e"], f"w AS {table}{words}")

    def _limited(self) -> Relation:
        table = self._table()
        order = ", ".join(f"{column} {self._one_of(['ASC', 'DESC'])} NULLS FIRST" for column in table.columns)
        rest = f"{table.sql}{self._where(table, deep=False)} ORDER BY {order} LIMIT {self._draw(st.integers(1, 4))}"
        return self._derived(table.columns[:2], rest)

    # -------------------------------------------------------------------------------------- conditions

    def _where(self, source: Relation, deep: bool = True) -> str:
        shapes: list[Callable[[Sequence[str]], str]] = [self._comparison, self._comparison, self._is_null]
        if deep:
            shapes += [self._in, self._exists, self._exists_or, self._compared_with_scalar]
        made = [self._one_of(shapes)(source.columns) for _ in range(self._one_of([0, 0, 1, 1, 2] if deep else [0, 1]))]
        return f" WHERE {' AND '.join(made)}" if made else ""

    def _having(self, source: Relation) -> str:
        if not self._chance(30):
            return ""
        return f" HAVING {self._aggregated(source)} {self._draw(_COMPARISONS)} {self._draw(st.integers(0, 3))}"

    def _comparison(self, columns: Sequence[str]) -> str:
        return f"{self._expression(columns)} {self._draw(_COMPARISONS)} {self._expression(columns)}"

    def _is_null(self, columns: Sequence[str]) -> str:
        return f"{self._one_of(columns)} IS {self._one_of(['', 'NOT '])}NULL"

    def _in(self, columns: Sequence[str]) -> str:
        """Perhaps correlated; perhaps of an aggregate, which has a value even of nothing."""
        table = self._table()
        outer = self._one_of(columns)
        wanted = self._column(table) if self._chance(75) else f"max({self._column(table)})"
        where = f" WHERE {self._column(table)} = {self._same_relation(columns, outer)}" if self._chance(35) else ""
        negated = self._one_of(["", "", "NOT "])
        return f"{outer} {negated}IN (SELECT {wanted} FROM {table.sql}{where})"

    def _exists(self, columns: Sequence[str], negation: Sequence[str] = ("", "", "NOT ")) -> str:
        relation = self._table() if self._chance(70) else self._grouped()
        outer = self._one_of(columns)
        condition = f"{self._column(relation)} {self._one_of(['=', '=', '<'])} {outer}"
        if self._chance(30):
            condition += f" AND {self._column(relation)} <> {self._same_relation(columns, outer)}"
        return f"{self._one_of(negation)}EXISTS (SELECT 1 FROM {relation.sql} WHERE {condition})"

    def _exists_or(self, columns: Sequence[str]) -> str:
        return f"({self._exists(columns, ('',))} OR {self._comparison(columns)})"

    def _compared_with_scalar(self, columns: Sequence[str]) -> str:
        return f"{self._one_of(columns)} {self._draw(_COMPARISONS)} {self._scalar(columns)}"

    def _same_relation(self, columns: Sequence[str], column: str) -> str:
        relation = column.partition(".")[0]
        return self._one_of([other for other in columns if other.partition(".")[0] == relation])

    # -------------------------------------------------------------------------------------- expressions

    def _expression(self, columns: Sequence[str], scalar: bool = False) -> str:
        column = self._one_of(columns)
        if scalar and self._chance(12):
            return self._scalar(columns)
        return self._one_of(
            [
                column,
                column,
                column,
                str(self._draw(st.integers(0, 3))),
                f"coalesce({column}, {self._one_of(columns)}, 7)",
                f"({column} + {self._one_of(columns)})",
                f"CASE WHEN {column} > 1 THEN {self._one_of(columns)} ELSE 0 END",
                f"twist(CAST({column} AS INT))",
            ]
        )

    def _scalar(self, columns: Sequence[str]) -> str:
        table = self._table()
        where = f" WHERE {self._column(table)} = {self._one_of(columns)}" if self._chance(65) else ""
        return f"(SELECT {self._aggregated(table)} FROM {table.sql}{where})"

    def _aggregated(self, source: Relation) -> str:
        return self._draw(_AGGREGATES).format(self._column(source)) if self._chance(80) else "count(*)"

    def _over(self, columns: Sequence[str]) -> str:
        order = ", ".join(f"{column} NULLS FIRST" for column in columns)
        function = self._one_of(["row_number()", "rank()", "sum({})", "count({})", "lag({})", "sum({}) whole"])
        partition = f"PARTITION BY {self._one_of(columns)} " if self._chance(70) else ""
        if function.endswith(" whole"):
            function, order = function.removesuffix(" whole"), ""
        ordered = f"ORDER BY {order}" if order else ""
        return f"{function.format(self._one_of(columns))} OVER ({partition}{ordered})"

    # -------------------------------------------------------------------------------------- drawing

    def _one_of(self, things: Sequence[T]) -> T:
        return self._draw(st.sampled_from(things))

    def _some(self, columns: Sequence[str], number: int) -> list[str]:
        return [self._one_of(columns) for _ in range(number)]

    def _column(self, source: Relation) -> str:
        return self._one_of(source.columns)

    def _chance(self, percent: int) -> bool:
        """Shrinks to what is not done."""
        return self._draw(st.integers(0, 99)) >= 100 - percent

    def _listed(self, expressions: Sequence[str]) -> str:
        return ", ".join(f"{expression} AS {self._names.fresh('c')}" for expression in expressions)
