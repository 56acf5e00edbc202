"""Lists of ids as a table: bound parameters of any length, on either database."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Connection, FromClause, any_, bindparam, cast, func, literal, select
from sqlalchemy.dialects.postgresql import ARRAY


def is_postgresql(conn: Connection) -> bool:
    return conn.dialect.name == "postgresql"


def id_table(postgresql: bool, parameter: str) -> FromClause:
    """A table of the one column ``id``; its parameter is bound to an :func:`id_list`."""
    if postgresql:
        return select(func.unnest(_array(parameter)).label("id")).subquery()
    listed = func.json_each(bindparam(parameter)).table_valued("value")
    return select(listed.c.value.label("id")).subquery()


def pair_table(postgresql: bool, parameter: str) -> FromClause:
    """A table of the columns ``id`` and ``part``, bound to two lists: ``parameter`` and ``parameter_part``."""
    part = f"{parameter}_part"
    if postgresql:
        pairs = func.unnest(_array(parameter), _array(part)).table_valued("id", "part").render_derived()
        return select(pairs.c.id, pairs.c.part).subquery()
    # Two arrays are read side by side by their index.
    ids = func.json_each(bindparam(parameter)).table_valued("key", "value")
    parts = func.json_each(bindparam(part)).table_valued("key", "value")
    joined = ids.join(parts, ids.c.key == parts.c.key)
    return select(ids.c.value.label("id"), parts.c.value.label("part")).select_from(joined).subquery()


def one_of(conn: Connection, column: ColumnElement[int], ids: Iterable[int]) -> ColumnElement[bool]:
    """What `column IN (ids)` says, for more ids than a statement takes parameters."""
    if is_postgresql(conn):
        return column == any_(literal(list(ids), ARRAY(BigInteger)))
    listed = func.json_each(json.dumps(list(ids))).table_valued("value")
    return column.in_(select(listed.c.value))


def id_list(conn: Connection, ids: Iterable[int]) -> Any:
    return list(ids) if is_postgresql(conn) else json.dumps(list(ids))


def _array(parameter: str) -> Any:
    return cast(bindparam(parameter), ARRAY(BigInteger))
