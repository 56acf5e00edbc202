"""A piece of SQL that knows how tightly it binds."""

from __future__ import annotations

from typing import NamedTuple

LONGEST = 4000
"""More than this nobody reads."""

OR, AND, NOT, COMPARISON, BITS, SUM, PRODUCT, SIGN, ATOM = range(9)
"""How tightly an expression binds, loosest first."""


class Text(NamedTuple):
    sql: str
    binding: int = ATOM
    inner: Text | None = None
    """What is cast, if this is a cast."""

    def within(self, binding: int) -> str:
        """As an operand of something that binds this tightly."""
        return self.sql if self.binding >= binding else f"({self.sql})"


def shortened(text: Text | None) -> str | None:
    if text is None:
        return None
    return text.sql if len(text.sql) <= LONGEST else text.sql[:LONGEST] + "…"
