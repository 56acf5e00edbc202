"""Composes SQL text and bound values, so that no value becomes text.

sql("SELECT {columns} FROM {table} WHERE {name} = {value}", columns=…, table=…, name=identifier("k"), value=42)

A template is a literal in headwater's source code (an architecture test checks it). A part that is :class:`Sql` is
inserted; every other part is bound as a parameter.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from string import Formatter

from headwater.errors import SqlRefused

Value = None | bool | int | float | str | bytes | Decimal | date | datetime | list[str] | list[int]

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1


@dataclass(frozen=True, slots=True)
class Sql:
    """Created by the functions of this package only."""

    text: str
    values: tuple[Value, ...] = ()


def sql(template: str, /, **parts: Sql | Value) -> Sql:
    text: list[str] = []
    values: list[Value] = []
    for literal, name in _pieces(template):
        text.append(literal)
        if name is None:
            continue
        part = parts[name]
        if isinstance(part, Sql):
            text.append(part.text)
            values += part.values
        else:
            text.append("?")
            values.append(part)
    return Sql("".join(text), tuple(values))


@cache
def _pieces(template: str) -> tuple[tuple[str, str | None], ...]:
    return tuple((literal, name) for literal, name, _, _ in Formatter().parse(template))


def join_sql(separator: str, parts: Iterable[Sql]) -> Sql:
    """``separator`` is a literal in headwater's source code, as a template is."""
    listed = list(parts)
    return Sql(separator.join(part.text for part in listed), tuple(value for part in listed for value in part.values))


def identifier(name: str) -> Sql:
    """A column or table name, quoted. Any text is a name, except one with a NUL."""
    if not name or "\x00" in name:
        raise SqlRefused("a column name is empty or contains a NUL")
    return Sql('"' + name.replace('"', '""') + '"')


def identifiers(names: Iterable[str]) -> Sql:
    return join_sql(", ", map(identifier, names))


def integers(numbers: Sequence[int]) -> Sql:
    """A list of 64-bit integers as literals: hundreds of parameters take longer to bind than literals to parse."""
    for number in numbers:
        if type(number) is not int or not INT64_MIN <= number <= INT64_MAX:
            raise SqlRefused(f"{type(number).__name__} is not a whole number of 64 bits")
    return Sql(", ".join(map(str, numbers)))


def checked_text(text: str) -> Sql:
    """A statement or condition that sqlglot has parsed and an allow-list has checked: headwater/engines/conditions.py
    and headwater/records/query/statements.py, and no other module (an architecture test checks it)."""
    return Sql(text)


def render_sql(query: Sql) -> str:
    """The text with values as literals, as views need. Only for texts, lists of texts and integers."""
    parts = iter(query.text.split("?"))
    text = [next(parts)]
    for value, part in zip(query.values, parts, strict=True):
        text += (_literal(value), part)
    return "".join(text)


def _literal(value: Value) -> str:
    if isinstance(value, str):
        if "\x00" in value:
            raise SqlRefused("a text contains a NUL")
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if type(value) is int:
        return integers([value]).text
    raise SqlRefused(f"{type(value).__name__} cannot be part of a view")
