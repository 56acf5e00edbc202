"""Renders the rows of a query: as a table, or as JSON."""

from __future__ import annotations

import json
import math
from datetime import date, datetime
from decimal import Decimal

from rich.console import Group, RenderableType
from rich.text import Text

from headwater.cli.render.layout import ResponsiveTable
from headwater.cli.render.parts import data, note
from headwater.cli.text import count_of
from headwater.records.query.sql import QueryRows


def query_table(answer: QueryRows, limit: int) -> RenderableType:
    if not answer.rows:
        return Text("No rows.")
    table = ResponsiveTable(*answer.columns, lead=0)
    for row in answer.rows:
        table.add(*(data(_cell_text(value)) for value in row))
    more = [note(f"The first {limit:,} rows; there are more.")] if answer.more else []
    return Group(table, *(more or [note(count_of(len(answer.rows), "row"))]))


def plain_rows(answer: QueryRows) -> list[dict[str, object]]:
    return [dict(zip(answer.columns, map(_plain, row), strict=True)) for row in answer.rows]


def _cell_text(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="milliseconds")[:23]
    plain = _plain(value)
    return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)


def _plain(value: object) -> object:
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).hex()
    if isinstance(value, Decimal):
        return str(value)
    if hasattr(value, "asDict"):  # a Spark row within a row
        value = value.asDict()
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, str | int | float | bool | None) else str(value)
