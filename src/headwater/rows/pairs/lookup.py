"""Looks pair tables up with DuckDB: no Spark, no JVM.

tables = PairTables("…/rows/<run id>/0")
outputs = tables.output_rows("l_orderkey = 42")
sources = tables.sources([output.id for output in outputs])
sources[0].count, sources[0].rows(limit=10)
tables.source_rows(sources[0])
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from headwater.engines.conditions import read_condition
from headwater.engines.duckdb import DuckDB, TempTable
from headwater.engines.paths import escape_globs, parquet_files
from headwater.engines.sql import INT64_MAX, INT64_MIN, Sql, identifier, identifiers, integers, join_sql, sql
from headwater.errors import EngineError, EngineFailed, RowsError, SqlInvalid, shorten
from headwater.rows.column_names import FILE, ROW, free_names
from headwater.rows.pairs.folders import broken_digests
from headwater.rows.pairs.layout import (
    FILES,
    OUT_HI,
    OUT_LO,
    OWNER,
    TableBlock,
    TableSource,
    block_folder,
    link_hash,
    source_file,
    source_row,
)
from headwater.rows.pairs.opening import LookupRoots, open_facet, open_folder, with_resolved
from headwater.rows.pairs.reading import read_files

_MAX_LITERALS = 1_000  # numbers in the text of a query; more of them go into a table
_SHORT_LIST = 32_768
"""Bytes of `files.json`: about 200 files, which the first connection may read. For files of a longer list another
connection is opened, because allowing all of them would take longer."""
_MASK = 2**64 - 1
_OUT_ID = re.compile("[0-9a-f]{32}")
_T = TypeVar("_T")

RowPosition = tuple[str, int]
"""A file and a row number; for rows without a position, the hash of the row's content and 0."""


@dataclass(frozen=True)
class OutputRow:
    """A row of the output: its id, as in `hw.trace`, and its identifying values."""

    id: str
    values: Mapping[str, Any]


class SourceRows:
    """The matching rows of one source. They are read on first use, and stay in DuckDB."""

    def __init__(self, tables: PairTables, source: TableSource, query: Sql) -> None:
        self._tables = tables
        self._query = query
        self.source = source

    @cached_property
    def _table(self) -> TempTable:
        return self._tables.keep(self._query)

    @property
    def count(self) -> int:
        return self._table.count

    def __len__(self) -> int:
        return self.count

    def rows(self, limit: int | None = None) -> list[RowPosition]:
        """The positions, ordered by file and row."""
        query = sql("SELECT file, row FROM {table} ORDER BY ALL", table=self._table.name)
        rows = self._tables.query(_with_limit(query, limit))
        path_of = self._tables.path_lookup(self.source)
        return sorted((path_of(file), row) for file, row in rows)


class PairTables:
    """``what`` is a folder of tables, the facet of a run, or one of its entries; ``output`` chooses among several.

    ``run_id``: the tables must belong to this run. ``roots``: folders that may be read.
    """

    def __init__(
        self,
        location: str | Path | Mapping[str, Any],
        *,
        output: int = 0,
        run_id: str | None = None,
        roots: LookupRoots | None = None,
    ) -> None:
        self._roots = roots or LookupRoots()
        opened = (
            open_facet(location, output, self._roots, run_id)
            if isinstance(location, Mapping) or run_id is not None
            else open_folder(location, self._roots)
        )
        self.layout = opened.layout
        self._root = opened.folder
        self._blocks: dict[int, Sql] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        if "_engine" in self.__dict__:
            self._engine.close()

    @cached_property
    def _engine(self) -> DuckDB:
        """May read the tables and, if their list is short, the files that they name; nothing else."""
        return DuckDB(folders=[str(self._root)], files=with_resolved(self._named_files))

    @cached_property
    def _named_files(self) -> set[Path]:
        """Files of sources that the connection may read; none if the list is long."""
        allowed: set[Path] = set()
        if not self._list_is_short:
            return allowed
        for paths in self._files.values():
            for path in paths.values():
                with suppress(EngineError):  # it is refused when its rows are read
                    allowed.add(self._roots.source_file(path))
        return allowed

    @cached_property
    def _list_is_short(self) -> bool:
        file = self._root / FILES
        return file.is_file() and file.stat().st_size <= _SHORT_LIST

    def verify(self) -> None:
        """Checks that the files are unchanged."""
        broken = broken_digests(self._root, self.layout.digests)
        if broken:
            raise RowsError(f"{', '.join(broken)} in {self._root} is not what was written")

    # -- from rows of the output to their sources ---------------------------------------------------------------------

    def output_rows(self, where: str | Sql | None = None, limit: int | None = None) -> list[OutputRow]:
        """The rows of the output that meet a condition on their identifying columns. A text is a condition in DuckDB's
        SQL: columns, literals, comparisons and a few functions (headwater/engines/conditions.py)."""
        if isinstance(where, str):
            where = self._condition(where)
        if where is None:
            return self._read_output_rows(
                _with_limit(sql("SELECT DISTINCT * FROM ({known}) ORDER BY ALL", known=self._identity_query), limit)
            )
        template = "SELECT DISTINCT * FROM ({known}) WHERE ({where}) ORDER BY ALL"
        try:
            return self._read_output_rows(_with_limit(sql(template, known=self._identity_query, where=where), limit))
        except SqlInvalid as wrong:
            raise RowsError(f"The condition does not fit: {wrong} {self._identity_hint}") from wrong

    def _condition(self, text: str) -> Sql:
        condition = read_condition(text, "duckdb")
        names = {name.lower() for name in self.layout.identity}
        for column in condition.columns:
            if column.lower() not in names:
                raise RowsError(
                    f"The condition does not fit: there is no column '{shorten(column)}'. {self._identity_hint}"
                )
        return condition.sql

    @property
    def _identity_hint(self) -> str:
        return f"Rows are identified by: {', '.join(map(shorten, self.layout.identity))}."

    def sources(self, out_ids: Iterable[str]) -> dict[int, SourceRows]:
        """By occurrence: the source rows of these output rows."""
        id_halves = [_parse_id(out_id) for out_id in out_ids]
        hi = self._is_in(OUT_HI, {hi for hi, _ in id_halves})
        lo = self._is_in(OUT_LO, {lo for _, lo in id_halves})
        parts: dict[int, list[Sql]] = {source.number: [] for source in self.layout.sources}
        link_values: dict[int, list[Sql]] = {}
        for block in self.layout.blocks:  # parents first
            # Halves of two different ids match with a probability of 2^-64.
            where = (
                self._value_condition(OWNER, link_values.get(block.number, []))
                if block.number
                else sql("{hi} AND {lo}", hi=hi, lo=lo)
            )
            if where is None:
                continue
            for number in block.sources:
                parts[number].append(self._position_query(block, number, where))
            for link in block.links:
                link_values.setdefault(link.to, []).append(
                    sql(
                        "SELECT {name} AS value FROM {table} WHERE ({where}) AND {name} IS NOT NULL",
                        name=identifier(link_hash(link.number)),
                        table=self._block_table(block.number),
                        where=where,
                    )
                )
        return {source.number: self._source_rows(source, parts[source.number]) for source in self.layout.sources}

    def _position_query(self, block: TableBlock, source: int, where: Sql) -> Sql:
        return sql(
            "SELECT {file} AS file, {row} AS row FROM {table} WHERE {where} AND {file} IS NOT NULL",
            file=identifier(source_file(source)),
            row=identifier(source_row(source)),
            table=self._block_table(block.number),
            where=where,
        )

    def _source_rows(self, source: TableSource, parts: Sequence[Sql]) -> SourceRows:
        all_parts = (
            join_sql(" UNION ALL ", parts) if parts else sql("SELECT 0::BIGINT AS file, 0::BIGINT AS row WHERE false")
        )
        return SourceRows(self, source, sql("SELECT DISTINCT file, row FROM ({every})", every=all_parts))

    def keep(self, query: Sql) -> TempTable:
        """Stores the rows of the query as a table until these tables are closed."""
        return _map_engine_errors(lambda: self._engine.create_temp_table(query))

    # -- from rows of a source to the output --------------------------------------------------------------------------

    def rows_reached(self, occurrence: int, places: Iterable[RowPosition]) -> list[OutputRow]:
        """The rows of the output that these source rows reached."""
        by_file = self._position_conditions(occurrence, places)
        owners_by_block: dict[int, list[Sql]] = {}
        for block in reversed(self.layout.blocks):  # children first
            conditions = list(by_file) if occurrence in block.sources else []
            for link in block.links:
                condition = self._value_condition(link_hash(link.number), owners_by_block.get(link.to, []))
                conditions += [condition] if condition is not None else []
            if conditions and block.number == 0:
                template = "SELECT DISTINCT * FROM ({known} WHERE {met}) ORDER BY ALL"
                return self._read_output_rows(
                    sql(template, known=self._identity_query, met=join_sql(" OR ", conditions))
                )
            if conditions:
                template = "SELECT {owner} AS value FROM {table} WHERE {met}"
                table = self._block_table(block.number)
                owners_by_block[block.number] = [
                    sql(template, owner=identifier(OWNER), table=table, met=join_sql(" OR ", conditions))
                ]
        return []

    @property
    def _identity_query(self) -> Sql:
        """The ids and identifying values of the output's rows."""
        listed = identifiers([OUT_HI, OUT_LO, *self.layout.identity])
        return sql("SELECT {listed} FROM {table}", listed=listed, table=self._block_table(0))

    def _read_output_rows(self, query: Sql) -> list[OutputRow]:
        rows = _map_engine_errors(lambda: list(self._engine.records(query)))
        return [OutputRow(_format_id(row.pop(OUT_HI), row.pop(OUT_LO)), row) for row in rows]

    # -- the rows themselves ------------------------------------------------------------------------------------------

    def source_rows(self, found: SourceRows, limit: int | None = None) -> list[dict[str, Any]]:
        """The source's own rows, all their columns, with `_file` and `_row`, read from its Parquet files."""
        if not found.source.has_positions:
            raise RowsError(
                f"The rows of {found.source.name} are identified by their content alone: trace the run in Spark."
            )
        by_file: dict[str, set[int]] = {}
        for file, row in found.rows(limit):
            by_file.setdefault(file, set()).add(row)
        paths = {file: self._roots.source_file(file) for file in by_file}
        with self._engine_for(paths.values()) as engine:
            return [row for file, rows in by_file.items() for row in _read_rows(engine, file, paths[file], rows)]

    @contextmanager
    def _engine_for(self, paths: Collection[Path]) -> Iterator[DuckDB]:
        """Yields a connection that may read the files."""
        if self._named_files.issuperset(paths):
            yield self._engine
        else:
            with DuckDB(files=with_resolved(paths)) as engine:
                yield engine

    # -- how it is asked ----------------------------------------------------------------------------------------------

    def query(self, query: Sql) -> list[tuple[Any, ...]]:
        return _map_engine_errors(lambda: self._engine.rows(query))

    def path_lookup(self, source: TableSource) -> Callable[[int], str]:
        """The function from the number of a file to its path, or from the hash of a content to its text."""
        if not source.has_positions:
            return (lambda number: "range") if source.id == "range" else (lambda number: f"{number & _MASK:016x}")
        paths = self._files[source.number]

        def path(number: int) -> str:
            if number not in paths:
                raise RowsError(f"{number} stands for no file of {source.name}: {FILES} does not belong to the tables")
            return paths[number]

        return path

    @cached_property
    def _files(self) -> dict[int, dict[int, str]]:
        return read_files(self._root, self.layout)

    def _position_conditions(self, occurrence: int, places: Iterable[RowPosition]) -> list[Sql]:
        """Conditions for rows at these positions, one for each file."""
        source = self.layout.sources[occurrence]
        by_file: dict[str, set[int]] = {}
        for file, row in places:
            by_file.setdefault(file, set()).add(row)
        row_column, file_column = source_row(occurrence), source_file(occurrence)
        if source.id == "range":
            return [self._is_in(row_column, set().union(*by_file.values()))]
        if source.has_positions:
            numbers = {path: number for number, path in self._files[occurrence].items()}
            unknown = sorted(by_file.keys() - numbers.keys())
            if unknown:
                raise RowsError(f"{unknown[0]} is not a file that the run read of {source.name}")
        else:
            numbers = {content: _to_signed(int(content, 16)) for content in by_file}
        return [
            sql(
                "({column} = {number} AND {among})",
                column=identifier(file_column),
                number=numbers[file],
                among=self._is_in(row_column, rows),
            )
            for file, rows in by_file.items()
        ]

    def _value_condition(self, column: str, parts: Sequence[Sql]) -> Sql | None:
        """The condition that the column is one of the values of these queries; None if they return none."""
        if not parts:
            return None
        template = "SELECT DISTINCT value FROM ({parts})"
        values_table = self.keep(sql(template, parts=join_sql(" UNION ALL ", parts)))
        if not values_table.count:
            return None
        if values_table.count > _MAX_LITERALS:
            return sql("{column} IN (SELECT value FROM {table})", column=identifier(column), table=values_table.name)
        values = self.query(sql("SELECT value FROM {table}", table=values_table.name))
        return self._is_in(column, {value for (value,) in values})

    def _is_in(self, column: str, values: set[int]) -> Sql:
        return _is_in(self._engine, column, values)

    def _block_table(self, block: int) -> Sql:
        """The table of a block. Its files are listed here, because a pattern could match more files than were
        checked."""
        if block not in self._blocks:
            files = escape_globs(parquet_files(self._root / block_folder(block)))
            if not files:
                raise RowsError(f"there are no Parquet files in {block_folder(block)} of {self._root}")
            self._blocks[block] = sql("read_parquet({files})", files=files)
        return self._blocks[block]


def _read_rows(engine: DuckDB, file: str, path: Path, rows: set[int]) -> Iterator[dict[str, Any]]:
    query = sql(
        "SELECT * EXCLUDE (file_row_number), file_row_number AS __hw_row "
        "FROM read_parquet({path}, file_row_number = true, hive_partitioning = true) "
        "WHERE {among} ORDER BY file_row_number",
        path=escape_globs([str(path)])[0],
        among=_is_in(engine, "file_row_number", rows),
    )
    records = _map_engine_errors(lambda: list(engine.records(query)))
    for record in records:
        number = record.pop("__hw_row")
        file_column, row_column = free_names([FILE, ROW], record)
        yield {file_column: file, **record, row_column: number}


def _is_in(engine: DuckDB, column: str, values: set[int]) -> Sql:
    values = {value for value in values if INT64_MIN <= value <= INT64_MAX}  # no other is in a table
    name = identifier(column)
    if not values:
        return sql("false")
    if len(values) == 1:
        return sql("{name} = {value}", name=name, value=next(iter(values)))
    if len(values) <= _MAX_LITERALS:
        return sql("{name} IN ({values})", name=name, values=integers(sorted(values)))
    return sql("{name} IN (SELECT value FROM {table})", name=name, table=engine.create_integer_table(values).name)


def _with_limit(query: Sql, limit: int | None) -> Sql:
    return query if limit is None else sql("{query} LIMIT {limit}", query=query, limit=int(limit))


def _map_engine_errors(call: Callable[[], _T]) -> _T:
    try:
        return call()
    except EngineFailed as failed:
        raise RowsError(f"The pair tables, or the files that they name, cannot be read: {failed}") from failed


def _format_id(hi: int, lo: int) -> str:
    return f"{hi & _MASK:016x}{lo & _MASK:016x}"


def _parse_id(out_id: str) -> tuple[int, int]:
    if not _OUT_ID.fullmatch(out_id):
        raise RowsError(f"'{shorten(out_id)}' is not the id of a row: 32 hexadecimal digits")
    return _to_signed(int(out_id[:16], 16)), _to_signed(int(out_id[16:], 16))


def _to_signed(number: int) -> int:
    return number - 2**64 if number >= 2**63 else number
