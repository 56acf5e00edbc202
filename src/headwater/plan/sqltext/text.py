"""A piece of SQL with the precedence of its outermost operator."""

from __future__ import annotations

from typing import NamedTuple

MAX_SQL_LENGTH = 4000
"""Longer texts are truncated."""

OR, AND, NOT, COMPARISON, BITS, SUM, PRODUCT, SIGN, ATOM = range(9)
"""How tightly an expression binds, loosest first."""


class SqlText(NamedTuple):
    sql: str
    binding: int = ATOM
    inner: SqlText | None = None
    """The operand of a cast, if this is a cast."""

    def within(self, binding: int) -> str:
        """As an operand of something that binds this tightly."""
        return self.sql if self.binding >= binding else f"({self.sql})"


def shorten_sql(text: SqlText | None) -> str | None:
    if text is None:
        return None
    return text.sql if len(text.sql) <= MAX_SQL_LENGTH else text.sql[:MAX_SQL_LENGTH] + "…"
