"""Core statements compiled once and run on the driver's own cursor.

The fold runs some fifteen small statements for an event, and running one through SQLAlchemy costs ten times what SQLite
needs to execute it. These are the same statements, in the same transaction, without the way round: no result objects,
no per-call compilation. Everywhere else a plain ``conn.execute`` is the better choice.

What gives no answer waits (:func:`later`) and goes to the database with the next question or the commit, all in one
go: on PostgreSQL every statement sent alone is a wait for the network.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter

from sqlalchemy import ClauseElement, Column, ColumnElement, Connection, Select, bindparam, or_
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.dml import Insert

from headwater.store.engine.pending import Parameters, ask, later
from headwater.store.schema.stored_rows import PlainRow
from headwater.store.schema.tables import Json

_FEW = 8

Row = PlainRow
Named = Mapping[str, object]


class Prepared:
    def __init__(self, statement: ClauseElement) -> None:
        self._statement = statement
        self._compiled: dict[tuple[str, tuple[str, ...]], _Compiled] = {}

    def rows(self, conn: Connection, parameters: Named | None = None) -> list[Row]:
        return together(conn, [(self, parameters or {})])[0]

    def run(self, conn: Connection, parameters: Sequence[Named]) -> None:
        """Once for each of ``parameters``, which all have the same keys; not at once, but before anybody can tell."""
        compiled = self.compiled(conn, parameters[0])
        later(conn, compiled.sql, [compiled.bound(one) for one in parameters])

    def insert(self, conn: Connection, columns: Sequence[str], rows: list[Row]) -> None:
        """As :meth:`run`, for very many rows: each a tuple of the values of ``columns``, none of which is JSON."""
        compiled = self.compiled(conn, dict.fromkeys(columns))
        later(conn, compiled.sql, compiled.ordered(columns, rows))

    def compiled(self, conn: Connection, parameters: Named) -> _Compiled:
        # What an INSERT says depends on the columns it is given; there are few sets of them.
        columns = tuple(parameters) if isinstance(self._statement, Insert) else ()
        key = (conn.dialect.name, columns)
        if key not in self._compiled:
            self._compiled[key] = _Compiled(self._statement, conn, columns)
        return self._compiled[key]


Question = tuple[Prepared, Named]


def together(conn: Connection, questions: Sequence[Question]) -> list[list[Row]]:
    """The answers to several questions, none of which depends on another's."""
    compiled = [prepared.compiled(conn, parameters) for prepared, parameters in questions]
    asked = [(one.sql, one.bound(parameters)) for one, (_, parameters) in zip(compiled, questions, strict=True)]
    return [one.decoded(rows) for one, rows in zip(compiled, ask(conn, asked), strict=True)]


class _Compiled:
    def __init__(self, statement: ClauseElement, conn: Connection, columns: tuple[str, ...]) -> None:
        compiled = statement.compile(conn.engine, column_keys=list(columns) or None)
        assert isinstance(compiled, SQLCompiler)
        self.sql: str = compiled.string
        self._constants = {name: value for name, value in compiled.params.items() if value is not None}
        self._encoded = [name for name, bind in compiled.binds.items() if isinstance(bind.type, Json)]
        returned = getattr(compiled, "_result_columns", ())
        self._json_columns = [i for i, column in enumerate(returned) if isinstance(column.type, Json)]
        self._order: list[str] | None = compiled.positiontup
        self._in_order = _getter(self._order) if self._order is not None else None

    def bound(self, parameters: Named) -> Parameters:
        if self._constants or self._encoded:
            parameters = {**self._constants, **parameters}
            for name in self._encoded:
                if parameters.get(name) is not None:
                    parameters[name] = _encode(parameters[name])
        return self._in_order(parameters) if self._in_order is not None else parameters

    def ordered(self, columns: Sequence[str], rows: list[Row]) -> Sequence[Parameters]:
        if self._order == list(columns):
            return rows
        return [self.bound(dict(zip(columns, row, strict=True))) for row in rows]

    def decoded(self, rows: list[Row]) -> list[Row]:
        if not self._json_columns:
            return rows
        return [self._decode_row(row) for row in rows]

    def _decode_row(self, row: Row) -> Row:
        values = list(row)
        for i in self._json_columns:
            if values[i] is not None:
                values[i] = json.loads(values[i])
        return tuple(values)


def _getter(names: list[str]) -> Callable[[Named], Sequence[object]]:
    """The values of those names, always as a tuple."""
    if len(names) > 1:
        return itemgetter(*names)
    return lambda values: tuple(values[name] for name in names)


_encode = json.JSONEncoder(separators=(",", ":")).encode


class Lookup:
    """Rows by the values of a column, as many as there are.

    An IN list makes a new statement for every length, so there is one for each of the first few, and longer lists go in
    parts.
    """

    def __init__(self, query: Select[*tuple[object, ...]], column: Column[int] | Column[bytes]) -> None:
        self._by_size = {size: Prepared(query.where(_any_of(column, size))) for size in range(1, _FEW + 1)}

    def rows(self, conn: Connection, wanted: Sequence[int] | Sequence[bytes]) -> Iterator[Row]:
        for part in together(conn, self.questions(wanted)) if wanted else ():
            yield from part

    def questions(self, wanted: Sequence[int] | Sequence[bytes]) -> list[Question]:
        parts = [wanted[start : start + _FEW] for start in range(0, len(wanted), _FEW)]
        return [(self._by_size[len(part)], dict(zip(_NAMES, part, strict=False))) for part in parts]


_NAMES = tuple(f"wanted_{i}" for i in range(_FEW))


def _any_of(column: Column[int] | Column[bytes], size: int) -> ColumnElement[bool]:
    return or_(*(column == bindparam(name, type_=column.type) for name in _NAMES[:size]))
