"""Which rows are meant: columns and their values, made into SQL here. Text of others' never becomes part of a query but
as a literal that cannot end before it should."""

from __future__ import annotations

from collections.abc import Mapping

Value = str | int | float | bool | None
Values = Mapping[str, Value]

_READ_BY_SPARK = "'\\$"
"""What Spark may take for more than itself in a literal: its end, an escape, a variable."""


def for_duckdb(values: Values) -> str | None:
    return _all(values, '"')


def for_spark(values: Values) -> str | None:
    return _all(values, "`")


def _all(values: Values, mark: str) -> str | None:
    return " AND ".join(_one(name, value, mark) for name, value in values.items()) or None


def _one(name: str, value: Value, mark: str) -> str:
    column = f"{mark}{name.replace(mark, mark * 2)}{mark}"
    if value is None:
        return f"{column} IS NULL"
    if isinstance(value, bool):
        return f"{column} = {str(value).lower()}"
    if isinstance(value, str):
        text = duckdb_text(value) if mark == '"' else spark_text(value)
        return f"{column} = {text}"
    return f"{column} = {value!r}"


def duckdb_text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def spark_text(value: str) -> str:
    """As it is where Spark reads nothing into it; else as hexadecimal digits, in which there is nothing to read."""
    if value.isprintable() and not any(mark in value for mark in _READ_BY_SPARK):
        return f"'{value}'"
    return f"decode(X'{value.encode().hex()}', 'UTF-8')"
