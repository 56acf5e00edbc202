"""Random queries that only ever gain rows when a table does, each with another that counts derivations.

Both come from one text: the count leaves DISTINCT and GROUP BY out, and joins where the query says IN or EXISTS.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tests.rows.judges.leave_one_out import Monotone
from tests.rows.judges.occurrences import Named
from tests.rows.judges.small_tables import SCHEMAS
from tests.rows.judges.texts import both, either

T = TypeVar("T")


@st.composite
def monotone_queries(draw: DrawFn) -> Monotone:
    return _Writer(draw).whole()


class _Writer:
    def __init__(self, draw: DrawFn) -> None:
        self._draw = draw
        self._tables: dict[str, str] = {}

    def whole(self) -> Monotone:
        width = self._draw(st.integers(1, 2))
        shape = self._one_of(["plain", "distinct", "aggregate", "aggregate", "union", "union all", "global"])
        keys = ", ".join(f"k{number}" for number in range(width))
        if shape.startswith("union"):
            sides = [self._branch(width) for _ in range(2)]
            query = f" {shape} ".join(f"SELECT {listed} FROM {body}" for listed, body in sides)
            every = " UNION ALL ".join(f"SELECT {listed} FROM {body}" for listed, body in sides)
            return self._made(query, f"SELECT {keys}, count(*) FROM ({every}) GROUP BY {keys}", width)
        listed, body = self._branch(width)
        counting = f"SELECT {keys}, count(*) FROM (SELECT {listed} FROM {body}) GROUP BY {keys}"
        if shape == "global":
            return self._made(f"SELECT count(*) AS n FROM {body}", f"SELECT count(*) FROM {body}", 0)
        if shape == "aggregate":
            query = f"SELECT {keys}, count(*) AS n, count(k0) AS m FROM (SELECT {listed} FROM {body}) GROUP BY {keys}"
            return self._made(query, counting, width)
        return self._made(f"SELECT {'DISTINCT ' if shape == 'distinct' else ''}{listed} FROM {body}", counting, width)

    def _made(self, query: str, counting: str, key_width: int) -> Monotone:
        query, counting = both(query)[0], both(counting)[1]
        return Monotone(Named(query, query, self._tables, frozenset(), query), counting, key_width)

    def _branch(self, width: int) -> tuple[str, str]:
        """A list of keys, and what they are selected from."""
        body, columns = self._relation()
        for _ in range(self._one_of([0, 1, 1, 2])):
            right, others = self._relation()
            body += f" JOIN {right} ON {self._one_of(columns)} {self._one_of(['=', '=', '<'])} {self._one_of(others)}"
            columns = columns + others
        conditions = [f"{self._one_of(columns)} {self._one_of(['<', '>=', '<>'])} {self._draw(st.integers(0, 2))}"]
        conditions = conditions if self._draw(st.booleans()) else []
        if self._draw(st.booleans()):
            witness, inner = self._relation(plain=True)
            outer, within = self._one_of(columns), self._one_of(inner)
            body += either("", f" JOIN {witness} ON {within} = {outer}")
            as_in = f"{outer} IN (SELECT {within} FROM {witness})"
            as_exists = f"EXISTS (SELECT 1 FROM {witness} WHERE {within} = {outer})"
            conditions.append(either(self._one_of([as_in, as_exists]), "true"))
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        listed = ", ".join(f"{self._one_of(columns)} AS k{number}" for number in range(width))
        return listed, body + where

    def _relation(self, plain: bool = False) -> tuple[str, list[str]]:
        """A table, or what DISTINCT or GROUP BY leave of it."""
        table = self._one_of(sorted(SCHEMAS))
        name = f"{table}__{len(self._tables) + 1}"
        self._tables[name] = table
        columns = [column for column in SCHEMAS[table] if column not in ("s", "xs")]
        alias = f"r{len(self._tables)}"
        if plain or self._draw(st.integers(0, 3)) < 3:
            return f"{name} AS {alias}", [f"{alias}.{column}" for column in columns]
        key = self._one_of(columns)
        distinct, grouped = f"DISTINCT {key} FROM {name}", f"{key} FROM {name} GROUP BY {key}"
        kept = either(self._one_of([distinct, grouped]), f"{key} FROM {name}")
        return f"(SELECT {kept}) AS {alias}", [f"{alias}.{key}"]

    def _one_of(self, things: Sequence[T]) -> T:
        return self._draw(st.sampled_from(things))
