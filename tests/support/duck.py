"""DuckDB over folders of Parquet files: an engine that shares no code with Spark, to run the same query on fewer rows.

    duck = Duck(folder)  # one folder per table
    duck.open({"orders__1": "orders", "orders__2": "orders"})
    duck.restrict("orders__1", "orders", [("first", "part-0.parquet", 3)])  # its rows when `run` gets "first"
    duck.run("SELECT count(*) FROM orders__1", "first")

A row is identified by its file and its position in it, as DuckDB counts it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import duckdb
import pyarrow as pa
from duckdb.func import FunctionNullHandling

Values = tuple[Any, ...]
Place = tuple[str, int]  # the name of a file, and the position of a row in it

_OFFLINE = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}


class Duck:
    def __init__(self, folder: Path) -> None:
        self._connection = duckdb.connect(config={**_OFFLINE, "threads": 1})
        self._connection.execute("SET preserve_insertion_order = false")
        self.columns: dict[str, list[str]] = {}
        for table in sorted(path for path in folder.iterdir() if path.is_dir()):
            self._load(table)

    def _load(self, folder: Path) -> None:
        files = f"read_parquet('{folder}/*.parquet', filename = '_path', file_row_number = true)"
        self._connection.execute(
            f"CREATE TABLE whole_{folder.name} AS "
            f"SELECT * EXCLUDE (_path, file_row_number), parse_filename(_path) AS _file, file_row_number AS _row "
            f"FROM {files}"
        )
        described = self._connection.execute(f"SELECT * FROM whole_{folder.name} LIMIT 0").description
        self.columns[folder.name] = [column[0] for column in described[:-2]]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def function(self, name: str, function: Callable[..., Any], parameters: list[str], result: str) -> None:
        """A function with the semantics of a Python UDF in Spark: it receives NULLs too."""
        nulls_too = FunctionNullHandling.SPECIAL
        self._connection.create_function(name, function, [*parameters], result, null_handling=nulls_too)

    def places(self, table: str) -> list[Place]:
        return self._connection.execute(f"SELECT _file, _row FROM whole_{table} ORDER BY ALL").fetchall()

    def open(self, tables: Mapping[str, str]) -> None:
        """Makes each of these names a view of a whole table."""
        for name, table in tables.items():
            listed = ", ".join(f'"{column}"' for column in self.columns[table])
            self._connection.execute(f"CREATE OR REPLACE VIEW {name} AS SELECT {listed} FROM whole_{table}")

    def restrict(self, name: str, table: str, kept: Iterable[tuple[str, str, int]]) -> None:
        """Makes the view ``name`` contain the rows of ``table`` that are listed for the query of the next `run`."""
        triples = list(kept)
        said = pa.table(
            {
                "about": pa.array([about for about, _, _ in triples], pa.string()),
                "_file": pa.array([file for _, file, _ in triples], pa.string()),
                "_row": pa.array([row for _, _, row in triples], pa.int64()),
            }
        )
        self._connection.register("said", said)
        self._connection.execute(f"CREATE OR REPLACE TABLE kept_{name} AS SELECT * FROM said")
        self._connection.unregister("said")
        listed = ", ".join(f'"{column}"' for column in self.columns[table])
        self._connection.execute(
            f"CREATE OR REPLACE VIEW {name} AS SELECT {listed} FROM whole_{table} WHERE (_file, _row) IN "
            f"(SELECT (_file, _row) FROM kept_{name} WHERE about = getvariable('about'))"
        )

    def run(self, sql: str, about: str | None = None) -> list[Values]:
        self._connection.execute("SET VARIABLE about = ?", [about])
        return self._connection.execute(sql).fetchall()
