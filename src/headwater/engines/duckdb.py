"""The only access to DuckDB: in memory, locked, one statement per call, values bound.

with DuckDB(folders=["/data/rows/run/0"]) as engine:
    engine.rows(sql("SELECT count(*) FROM read_parquet({files})", files=escape_globs(files)))

The settings of a connection are fixed before its first statement, and cannot be changed afterwards:

| it cannot | because |
| --- | --- |
| read or write a file, except those named | `enable_external_access` is off; `allowed_paths`, `allowed_directories` |
| load or install an extension, or reach the network | extensions are off, and the network is one |
| read variables of the program | `python_enable_replacements` is off |
| use all memory, processors or disk | limits; what does not fit in memory goes to a private folder of limited size |
| change its settings | `lock_configuration` |
| run anything but a query | :meth:`DuckDB.rows` parses first: one statement, and a SELECT |
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC
from functools import cache
from types import TracebackType
from typing import Any, Self, TypeVar

import duckdb

from headwater.engines.paths import escape_globs
from headwater.engines.sql import Sql, Value, identifier, render_sql, sql
from headwater.errors import EngineFailed, SqlInvalid, SqlRefused, first_line

_GIBIBYTE = 2**30
_ZONED = "TIMESTAMP WITH TIME ZONE"
_T = TypeVar("_T")

Cell = Any
"""A value of a row. Its type is that of its column, which the query decides, so the caller names it."""


@dataclass(frozen=True, slots=True)
class DuckDBLimits:
    memory_bytes: int
    threads: int
    spill_bytes: int = 16 * _GIBIBYTE


@cache
def default_duckdb_limits() -> DuckDBLimits:
    """Half of the machine's memory and at most 8 GiB; at most 8 threads."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return DuckDBLimits(min(memory // 2, 8 * _GIBIBYTE), min(os.cpu_count() or 1, 8))


@dataclass(frozen=True, slots=True)
class QueryResult:
    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: list[tuple[Cell, ...]]


@dataclass(frozen=True, slots=True)
class TempTable:
    """A temporary table of one connection: its name and its number of rows."""

    name: Sql
    count: int


class DuckDB:
    """A connection that may read all files below ``folders``, the ``files``, and no others."""

    def __init__(
        self, *, folders: Iterable[str] = (), files: Iterable[str] = (), limits: DuckDBLimits | None = None
    ) -> None:
        limits = limits or default_duckdb_limits()
        spill = tempfile.mkdtemp(prefix="headwater-duckdb-")  # only this user can read it
        self._remove_spill = weakref.finalize(self, shutil.rmtree, spill, True)
        self._connection = duckdb.connect(
            ":memory:",
            config={
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
                "allow_community_extensions": False,
                "allow_unsigned_extensions": False,
                "python_enable_replacements": False,
                "memory_limit": f"{limits.memory_bytes // 2**20}MiB",
                "threads": limits.threads,
                "temp_directory": spill,
                "max_temp_directory_size": f"{limits.spill_bytes // 2**20}MiB",
            },
        )
        self._lock(list(folders), list(files))
        self._numbers = iter(range(2**62))

    def _lock(self, folders: list[str], files: list[str]) -> None:
        """The last two settings end the access to files that are not listed, and all changes of settings."""
        # A path with pattern characters is looked up by its escaped form, and then opened by its own name.
        paths = list(dict.fromkeys([*files, *escape_globs(files)]))
        self._connection.execute(
            "SET enable_progress_bar = false; SET parquet_metadata_cache = true; SET TimeZone = 'UTC'; "
            + render_sql(
                sql("SET allowed_directories = {folders}; SET allowed_paths = {paths}; ", folders=folders, paths=paths)
            )
            + "SET enable_external_access = false; SET lock_configuration = true"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()
        self._remove_spill()

    # -- queries ------------------------------------------------------------------------------------------------------

    def rows(self, query: Sql) -> list[tuple[Cell, ...]]:
        result = self._execute(query.text, query.values, duckdb.StatementType.SELECT)
        return self._translate_errors(result.fetchall)

    def result(self, query: Sql, limit: int | None = None) -> QueryResult:
        """The result with the types of its columns; at most ``limit`` rows."""
        result = self._execute(query.text, query.values, duckdb.StatementType.SELECT)
        described = result.description or ()
        rows = self._translate_errors(result.fetchall if limit is None else lambda: result.fetchmany(limit))
        return QueryResult(
            tuple(column[0] for column in described), tuple(str(column[1]) for column in described), rows
        )

    def records(self, query: Sql) -> Iterator[dict[str, Cell]]:
        """The rows by column name. Times with a zone are read as UTC: DuckDB's conversion needs a library that may be
        missing."""
        result = self._execute(query.text, query.values, duckdb.StatementType.SELECT)
        columns = {column[0]: str(column[1]) for column in result.description or ()}
        zoned = [name for name, type in columns.items() if type == _ZONED]
        if zoned:
            replaced = ", ".join(f"{identifier(name).text}::TIMESTAMP AS {identifier(name).text}" for name in zoned)
            query = sql("SELECT * REPLACE ({replaced}) FROM ({query})", replaced=Sql(replaced), query=query)
            result = self._execute(query.text, query.values, duckdb.StatementType.SELECT)
        for values in self._translate_errors(result.fetchall):
            row = dict(zip(columns, values, strict=True))
            yield row | {name: row[name].replace(tzinfo=UTC) for name in zoned if row[name] is not None}

    # -- tables and views of this connection --------------------------------------------------------------------------

    def create_temp_table(self, query: Sql) -> TempTable:
        """Store the rows of a query in a temporary table."""
        name = identifier(f"temp_{next(self._numbers)}")
        # Only a query can follow AS: DuckDB's grammar allows no other statement there, and no second one.
        text = f"CREATE TEMP TABLE {name.text} AS {query.text}"
        result = self._execute(text, query.values, duckdb.StatementType.CREATE)
        [(count,)] = self._translate_errors(result.fetchall)
        return TempTable(name, int(count))

    def create_integer_table(self, numbers: Iterable[int]) -> TempTable:
        """A temporary table of these numbers, in the column `value`."""
        return self.create_temp_table(sql("SELECT unnest({numbers}::BIGINT[]) AS value", numbers=sorted(numbers)))

    def define(self, statement: Sql) -> None:
        """Run a CREATE statement of headwater. Values become literals, because a view cannot have parameters."""
        self._execute(render_sql(statement), (), duckdb.StatementType.CREATE)

    def insert(self, statement: Sql, batch: object) -> None:
        """Run an INSERT of headwater that reads the Arrow batch under the name `_batch`."""
        self._connection.register("_batch", batch)
        try:
            self._execute(statement.text, statement.values, duckdb.StatementType.INSERT)
        finally:
            self._connection.unregister("_batch")

    # -- running statements -------------------------------------------------------------------------------------------

    def _execute(self, text: str, values: Sequence[Value], kind: duckdb.StatementType) -> duckdb.DuckDBPyConnection:
        statements = self._translate_errors(lambda: self._connection.extract_statements(text))
        if len(statements) != 1:
            raise SqlRefused(f"{len(statements)} statements in one call")
        if statements[0].type != kind:
            raise SqlRefused(f"a statement of kind {statements[0].type.name}, where {kind.name} is allowed")
        return self._translate_errors(lambda: self._connection.execute(statements[0], list(values)))

    @staticmethod
    def _translate_errors(call: Callable[[], _T]) -> _T:
        """Translate DuckDB's errors into headwater's."""
        try:
            return call()
        except (duckdb.IOException, duckdb.PermissionException) as error:
            raise EngineFailed(first_line(error)) from error
        except (duckdb.ProgrammingError, duckdb.DataError, duckdb.NotSupportedError) as error:
            raise SqlInvalid(first_line(error)) from error
        except duckdb.Error as error:
            raise EngineFailed(first_line(error)) from error
