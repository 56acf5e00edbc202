"""Looks pair tables up with DuckDB: no Spark, no JVM.

tables = PairTables("…/rows/<run id>/0")
outs = tables.outs("l_orderkey = 42")
found = tables.sources([out.id for out in outs])
found[0].count, found[0].rows(limit=10)
tables.source_rows(found[0])
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import duckdb

from headwater.errors import RowsError
from headwater.rows.pairs.folders import broken_digests, local_path
from headwater.rows.pairs.layout import (
    FILES,
    MARK,
    OUT_HI,
    OUT_LO,
    OWNER,
    Layout,
    TableBlock,
    TableSource,
    block_folder,
    link_hash,
    read_layout,
    source_file,
    source_row,
)

_OFFLINE: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}
_FEW = 1_000  # numbers that stand in the text of a query; more of them in a table
_MASK = 2**64 - 1

Place = tuple[str, int]
"""A file and the row in it; where rows have no place of their own, the hash of the row's content and 0."""


@dataclass(frozen=True)
class Out:
    """A row of the output: its id, as `hw.trace` tells it, and the values it is known by."""

    id: str
    values: Mapping[str, Any]


class SourceRows:
    """The rows of one source that were found. They are read when they are first asked for, and stay in DuckDB."""

    def __init__(self, tables: PairTables, source: TableSource, query: str) -> None:
        self._tables = tables
        self._query = query
        self.source = source

    @cached_property
    def _table(self) -> str:
        return self._tables.keep(self._query)

    @cached_property
    def count(self) -> int:
        return int(self._tables.query(f"SELECT count(*) FROM {self._table}")[0][0])

    def __len__(self) -> int:
        return self.count

    def rows(self, limit: int | None = None) -> list[Place]:
        """In the order of file and row."""
        most = "" if limit is None else f" LIMIT {int(limit)}"
        found = self._tables.query(f"SELECT file, row FROM {self._table} ORDER BY ALL{most}")
        name = self._tables.names(self.source)
        return sorted((name(file), row) for file, row in found)


class PairTables:
    """``what`` is a folder of tables, the facet of a run, or one of its entries; ``output`` chooses among several."""

    def __init__(self, what: str | Path | Mapping[str, Any], *, output: int = 0) -> None:
        self.layout = _layout(what, output)
        self._root = local_path(self.layout.location)
        self._connection = duckdb.connect(config=_OFFLINE)
        self._connection.execute(
            "SET enable_progress_bar = false; SET parquet_metadata_cache = true; SET TimeZone = 'UTC'"
        )
        self._numbers = iter(range(2**62))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def verify(self) -> None:
        """That the files are those that were written."""
        broken = broken_digests(self._root, self.layout.digests)
        if broken:
            raise RowsError(f"{', '.join(broken)} in {self._root} is not what was written")

    # -- from rows of the output to their sources ---------------------------------------------------------------------

    def outs(self, where: str | None = None, limit: int | None = None) -> list[Out]:
        """The rows of the output that meet a condition on the columns they are known by."""
        most = "" if limit is None else f" LIMIT {int(limit)}"
        return self._outs(f"SELECT DISTINCT * FROM ({self._known}) WHERE ({where or 'true'}) ORDER BY ALL{most}")

    def sources(self, out_ids: Iterable[str]) -> dict[int, SourceRows]:
        """By occurrence: the rows that rows of the output were made of."""
        asked = [_halves(each) for each in out_ids]
        hi = self._among(OUT_HI, {hi for hi, _ in asked})
        lo = self._among(OUT_LO, {lo for _, lo in asked})
        parts: dict[int, list[str]] = {source.number: [] for source in self.layout.sources}
        leading: dict[int, list[str]] = {}
        for block in self.layout.blocks:  # parents first
            # Halves of two different ids do not meet but by a chance of 1 in 2^64.
            where = self._met(OWNER, leading.get(block.number, [])) if block.number else f"{hi} AND {lo}"
            if where is None:
                continue
            for number in block.sources:
                parts[number].append(self._places(block, number, where))
            for link in block.links:
                name = link_hash(link.number)
                leading.setdefault(link.to, []).append(
                    f"SELECT {name} AS value FROM {self._table(block.number)} WHERE ({where}) AND {name} IS NOT NULL"
                )
        return {source.number: self._found(source, parts[source.number]) for source in self.layout.sources}

    def _places(self, block: TableBlock, source: int, where: str) -> str:
        file, row = source_file(source), source_row(source)
        return (
            f"SELECT {file} AS file, {row} AS row FROM {self._table(block.number)} WHERE {where} AND {file} IS NOT NULL"
        )

    def _found(self, source: TableSource, parts: Sequence[str]) -> SourceRows:
        every = " UNION ALL ".join(parts) or "SELECT 0::BIGINT AS file, 0::BIGINT AS row WHERE false"
        return SourceRows(self, source, f"SELECT DISTINCT file, row FROM ({every})")

    def keep(self, query: str) -> str:
        """The name of a table of what the query gives, for as long as these tables are open."""
        name = f"found_{next(self._numbers)}"
        self.query(f"CREATE TEMP TABLE {name} AS {query}")
        return name

    # -- from rows of a source to the output --------------------------------------------------------------------------

    def reached(self, occurrence: int, places: Iterable[Place]) -> list[Out]:
        """The rows of the output that rows of a source went into."""
        by_file = self._meeting(occurrence, places)
        arrived: dict[int, list[str]] = {}
        for block in reversed(self.layout.blocks):  # children first
            met = list(by_file) if occurrence in block.sources else []
            for link in block.links:
                there = self._met(link_hash(link.number), arrived.get(link.to, []))
                met += [there] if there is not None else []
            if met and block.number == 0:
                return self._outs(f"SELECT DISTINCT * FROM ({self._known} WHERE {' OR '.join(met)}) ORDER BY ALL")
            if met:
                table = self._table(block.number)
                arrived[block.number] = [f"SELECT {OWNER} AS value FROM {table} WHERE {' OR '.join(met)}"]
        return []

    @property
    def _known(self) -> str:
        """The output's rows, by what they are known."""
        listed = ", ".join([OUT_HI, OUT_LO, *map(_quoted, self.layout.identity)])
        return f"SELECT {listed} FROM {self._table(0)}"

    def _outs(self, query: str) -> list[Out]:
        return [Out(_hex(row.pop(OUT_HI), row.pop(OUT_LO)), row) for row in self._records(query)]

    # -- the rows themselves ------------------------------------------------------------------------------------------

    def source_rows(self, found: SourceRows, limit: int | None = None) -> list[dict[str, Any]]:
        """The source's own rows, all their columns, with `_file` and `_row`, read from its Parquet files."""
        if not found.source.has_places:
            raise RowsError(
                f"The rows of {found.source.name} are known by their content alone: trace the run in Spark."
            )
        by_file: dict[str, set[int]] = {}
        for file, row in found.rows(limit):
            by_file.setdefault(file, set()).add(row)
        return [row for file, wanted in by_file.items() for row in self._read(file, wanted)]

    def _read(self, file: str, wanted: set[int]) -> Iterator[dict[str, Any]]:
        path = str(local_path(file)).replace("'", "''")
        rows = self._records(
            f"SELECT * EXCLUDE (file_row_number), file_row_number AS _row "
            f"FROM read_parquet('{path}', file_row_number = true, hive_partitioning = true) "
            f"WHERE {self._among('file_row_number', wanted)} ORDER BY file_row_number"
        )
        return ({"_file": file, **row} for row in rows)

    # -- how it is asked ----------------------------------------------------------------------------------------------

    def query(self, text: str) -> list[tuple[Any, ...]]:
        try:
            return self._connection.execute(text).fetchall()
        except duckdb.IOException as gone:
            raise RowsError(str(gone).splitlines()[0]) from gone

    def _records(self, query: str) -> Iterator[dict[str, Any]]:
        """Times that have a zone are read as UTC: DuckDB's own way to Python wants a library that may not be there."""
        types = {name: type for name, type, *_ in self.query(f"DESCRIBE {query}")}
        zoned = [name for name, type in types.items() if type == "TIMESTAMP WITH TIME ZONE"]
        if zoned:
            plain = ", ".join(f"{_quoted(name)}::TIMESTAMP AS {_quoted(name)}" for name in zoned)
            query = f"SELECT * REPLACE ({plain}) FROM ({query})"
        for values in self.query(query):
            row = dict(zip(types, values, strict=True))
            yield row | {name: row[name].replace(tzinfo=UTC) for name in zoned if row[name] is not None}

    def names(self, source: TableSource) -> Callable[[int], str]:
        """From the number of a file to its path; the hash of a content to its text."""
        if not source.has_places:
            return (lambda number: "range") if source.id == "range" else (lambda number: f"{number & _MASK:016x}")
        paths = self._files[str(source.number)]

        def path(number: int) -> str:
            if str(number) not in paths:
                raise RowsError(f"{number} stands for no file of {source.name}: {FILES} does not belong to the tables")
            return paths[str(number)]

        return path

    @cached_property
    def _files(self) -> dict[str, dict[str, str]]:
        read: dict[str, dict[str, str]] = json.loads((self._root / FILES).read_text())
        return read

    def _meeting(self, occurrence: int, places: Iterable[Place]) -> list[str]:
        """Conditions, one of which a row of these places meets."""
        source = self.layout.sources[occurrence]
        by_file: dict[str, set[int]] = {}
        for file, row in places:
            by_file.setdefault(file, set()).add(row)
        row_column, file_column = source_row(occurrence), source_file(occurrence)
        if source.id == "range":
            return [self._among(row_column, set().union(*by_file.values()))]
        if source.has_places:
            numbers = {path: int(number) for number, path in self._files[str(occurrence)].items()}
            unknown = sorted(by_file.keys() - numbers.keys())
            if unknown:
                raise RowsError(f"{unknown[0]} is not a file that the run read of {source.name}")
        else:
            numbers = {content: _signed(int(content, 16)) for content in by_file}
        return [
            f"({file_column} = {numbers[file]} AND {self._among(row_column, rows)})" for file, rows in by_file.items()
        ]

    def _met(self, column: str, parts: Sequence[str]) -> str | None:
        """That the column is one of the values which these queries give; None if they give none."""
        if not parts:
            return None
        name = self.keep(f"SELECT DISTINCT value FROM ({' UNION ALL '.join(parts)})")
        values = {value for (value,) in self.query(f"SELECT value FROM {name} LIMIT {_FEW + 1}")}
        if len(values) <= _FEW:
            return self._among(column, values) if values else None
        return f"{column} IN (SELECT value FROM {name})"

    def _among(self, column: str, values: set[int]) -> str:
        if len(values) == 1:
            return f"{column} = {next(iter(values))}"
        if len(values) <= _FEW:
            return f"{column} IN ({', '.join(map(str, sorted(values)))})" if values else "false"
        name = self.keep("SELECT 0::BIGINT AS value WHERE false")
        self._connection.execute(f"INSERT INTO {name} SELECT unnest(?::BIGINT[])", [sorted(values)])
        return f"{column} IN (SELECT value FROM {name})"

    def _table(self, block: int) -> str:
        folder = str(self._root / block_folder(block)).replace("'", "''")
        return f"read_parquet('{folder}/*.parquet')"


def _layout(what: str | Path | Mapping[str, Any], output: int) -> Layout:
    if isinstance(what, Mapping):
        entry = what["outputs"][output] if "outputs" in what else what
    else:
        mark = local_path(str(what)) / MARK
        if not mark.is_file():
            raise RowsError(f"there are no pair tables at {what}")
        entry = json.loads(mark.read_text())
        entry = {**entry, "location": str(local_path(str(what)))}  # a folder may have been moved
    if "invalid" in entry:
        raise RowsError(f"the tables at {entry['location']} were not kept: {entry['invalid']}")
    return read_layout(entry)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _hex(hi: int, lo: int) -> str:
    return f"{hi & _MASK:016x}{lo & _MASK:016x}"


def _halves(out_id: str) -> tuple[int, int]:
    return _signed(int(out_id[:16], 16)), _signed(int(out_id[16:], 16))


def _signed(number: int) -> int:
    return number - 2**64 if number >= 2**63 else number
