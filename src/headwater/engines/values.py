"""Conditions that columns equal given values: with bound values for DuckDB, with literals that are safe to parse for
Spark."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from headwater.engines.sql import Sql, identifier, join_sql, sql

Value = str | int | float | bool | None
Values = Mapping[str, Value]

_SPARK_SPECIAL = "'\\$"
"""Characters with a meaning in a Spark literal: its end, an escape, a variable."""


def duckdb_condition(values: Values) -> Sql | None:
    return join_sql(" AND ", [_equals(name, value) for name, value in values.items()]) if values else None


def _equals(name: str, value: Value) -> Sql:
    if value is None:
        return sql("{name} IS NULL", name=identifier(name))
    if isinstance(value, float) and "e" not in repr(value):
        # By its digits: a 32-bit column that shows 4.1 does not equal the 64-bit 4.1.
        return sql("{name} = {value}", name=identifier(name), value=Decimal(repr(value)))
    return sql("{name} = {value}", name=identifier(name), value=value)


def spark_condition(values: Values) -> str | None:
    return " AND ".join(_equals_in_spark(name, value) for name, value in values.items()) or None


def _equals_in_spark(name: str, value: Value) -> str:
    column = f"`{name.replace('`', '``')}`"
    if value is None:
        return f"{column} IS NULL"
    if isinstance(value, bool):
        return f"{column} = {str(value).lower()}"
    if isinstance(value, str):
        return f"{column} = {spark_literal(value)}"
    return f"{column} = {value!r}"


def spark_literal(value: str) -> str:
    """A literal of plain characters, or hexadecimal digits if the text has characters that Spark interprets."""
    if value.isprintable() and not any(mark in value for mark in _SPARK_SPECIAL):
        return f"'{value}'"
    return f"decode(X'{value.encode().hex()}', 'UTF-8')"
