"""Core statements compiled once and run on the driver's own cursor.

The fold runs some fifteen small statements for an event, and running one through SQLAlchemy costs ten times what SQLite
needs to execute it. These are the same statements, in the same transaction, without the way round: no result objects,
no per-call compilation. Everywhere else a plain ``conn.execute`` is the better choice.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import ClauseElement, Column, ColumnElement, Connection, Select, bindparam, or_
from sqlalchemy.sql.dml import Insert

from headwater.store.tables import Json

_FEW = 8

Row = tuple[Any, ...]
Parameters = Mapping[str, Any]


class Prepared:
    def __init__(self, statement: ClauseElement) -> None:
        self._statement = statement
        self._compiled: dict[tuple[str, tuple[str, ...]], _Compiled] = {}

    def rows(self, conn: Connection, parameters: Parameters | None = None) -> list[Row]:
        compiled = self._for(conn, parameters or {})
        cursor = conn.connection.cursor()
        try:
            cursor.execute(compiled.sql, compiled.bound(parameters or {}))
            return compiled.decoded(cursor.fetchall())
        finally:
            cursor.close()

    def run(self, conn: Connection, parameters: Sequence[Parameters]) -> None:
        """Once for each of ``parameters``, which all have the same keys."""
        compiled = self._for(conn, parameters[0])
        bound = [compiled.bound(one) for one in parameters]
        cursor = conn.connection.cursor()
        try:
            if len(bound) == 1:
                cursor.execute(compiled.sql, bound[0])
            else:
                cursor.executemany(compiled.sql, bound)
        finally:
            cursor.close()

    def _for(self, conn: Connection, parameters: Parameters) -> _Compiled:
        # What an INSERT says depends on the columns it is given; there are few sets of them.
        columns = tuple(parameters) if isinstance(self._statement, Insert) else ()
        key = (conn.dialect.name, columns)
        if key not in self._compiled:
            self._compiled[key] = _Compiled(self._statement, conn, columns)
        return self._compiled[key]


class _Compiled:
    def __init__(self, statement: ClauseElement, conn: Connection, columns: tuple[str, ...]) -> None:
        compiled: Any = statement.compile(conn.engine, column_keys=list(columns) or None)
        self.sql: str = compiled.string
        self._order: list[str] | None = compiled.positiontup
        self._constants = {name: value for name, value in compiled.params.items() if value is not None}
        self._encoded = [name for name, bind in compiled.binds.items() if isinstance(bind.type, Json)]
        returned = getattr(compiled, "_result_columns", ())
        self._json_columns = [i for i, column in enumerate(returned) if isinstance(column.type, Json)]

    def bound(self, parameters: Parameters) -> Any:
        values = {**self._constants, **parameters}
        for name in self._encoded:
            if values.get(name) is not None:
                values[name] = _encode(values[name])
        return [values[name] for name in self._order] if self._order is not None else values

    def decoded(self, rows: Sequence[Row]) -> list[Row]:
        if not self._json_columns:
            return list(rows)
        return [self._decode_row(row) for row in rows]

    def _decode_row(self, row: Row) -> Row:
        values = list(row)
        for i in self._json_columns:
            if values[i] is not None:
                values[i] = json.loads(values[i])
        return tuple(values)


_encode = json.JSONEncoder(separators=(",", ":")).encode


class Lookup:
    """Rows by the values of a column, as many as there are.

    An IN list makes a new statement for every length, so there is one for each of the first few, and longer lists go in
    parts.
    """

    def __init__(self, query: Select[*tuple[Any, ...]], column: Column[Any]) -> None:
        self._by_size = {size: Prepared(query.where(_any_of(column, size))) for size in range(1, _FEW + 1)}

    def rows(self, conn: Connection, wanted: Sequence[Any]) -> Iterator[Row]:
        for start in range(0, len(wanted), _FEW):
            part = wanted[start : start + _FEW]
            yield from self._by_size[len(part)].rows(conn, {f"wanted_{i}": value for i, value in enumerate(part)})


def _any_of(column: Column[Any], size: int) -> ColumnElement[bool]:
    return or_(*(column == bindparam(f"wanted_{i}", type_=column.type) for i in range(size)))
