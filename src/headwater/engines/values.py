"""Which rows are meant: columns and the values they must have, as a condition for DuckDB, where values are bound, and
for Spark, where they become literals that end where they should."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from headwater.engines.sql import Sql, identifier, join_sql, sql

Value = str | int | float | bool | None
Values = Mapping[str, Value]

_READ_BY_SPARK = "'\\$"
"""What Spark may take for more than itself in a literal: its end, an escape, a variable."""


def duckdb_condition(values: Values) -> Sql | None:
    return join_sql(" AND ", [_one(name, value) for name, value in values.items()]) if values else None


def _one(name: str, value: Value) -> Sql:
    if value is None:
        return sql("{name} IS NULL", name=identifier(name))
    if isinstance(value, float) and "e" not in repr(value):
        # As the digits say: a column of 32 bits that shows 4.1 is not equal to the 64 bits of 4.1.
        return sql("{name} = {value}", name=identifier(name), value=Decimal(repr(value)))
    return sql("{name} = {value}", name=identifier(name), value=value)


def spark_condition(values: Values) -> str | None:
    return " AND ".join(_one_for_spark(name, value) for name, value in values.items()) or None


def _one_for_spark(name: str, value: Value) -> str:
    column = f"`{name.replace('`', '``')}`"
    if value is None:
        return f"{column} IS NULL"
    if isinstance(value, bool):
        return f"{column} = {str(value).lower()}"
    if isinstance(value, str):
        return f"{column} = {spark_literal(value)}"
    return f"{column} = {value!r}"


def spark_literal(value: str) -> str:
    """As it is where Spark reads nothing into it; else as hexadecimal digits, in which there is nothing to read."""
    if value.isprintable() and not any(mark in value for mark in _READ_BY_SPARK):
        return f"'{value}'"
    return f"decode(X'{value.encode().hex()}', 'UTF-8')"
