"""The same tables in Spark and in DuckDB, and a folder of links for every occurrence of one in a query."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Self

import pyarrow as pa
import pyarrow.parquet as pq

from tests.rows.judges.occurrences import Named
from tests.support.duck import Duck

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

FILES = 2  # of each table: a row's position alone does not name it


class Lab:
    def __init__(self, spark: SparkSession, tables: Path, links: Path) -> None:
        """``tables`` has a folder of Parquet files for each table, ``links`` will have one for each occurrence."""
        self._spark = spark
        self._tables = tables
        self._links = links
        self._schemas: dict[str, StructType] = {}
        self.duck = Duck(tables)

    @classmethod
    def of(cls, spark: SparkSession, folder: Path, tables: Mapping[str, pa.Table]) -> Self:
        for name, table in tables.items():
            write(table, folder / "tables" / name)
        return cls(spark, folder / "tables", folder / "occurrences")

    def frame(self, named: Named) -> DataFrame:
        """The query in Spark, and in DuckDB the whole of each of its tables."""
        for name, table in named.tables.items():
            folder = self._links / name
            if not folder.exists():
                folder.mkdir(parents=True)
                for file in (self._tables / table).iterdir():
                    (folder / file.name).symlink_to(file)
            self._read(table, folder).createOrReplaceTempView(name)
        self.duck.open(named.tables)
        return self._spark.sql(named.spark)

    def shared_frame(self, named: Named) -> DataFrame:
        """The query as it was: all occurrences of a table read the same folder, under the table's own name."""
        for table in set(named.tables.values()):
            self._read(table, self._tables / table).createOrReplaceTempView(table)
        return self._spark.sql(named.shared)

    def _read(self, table: str, folder: Path) -> DataFrame:
        """With the schema given: to find it in the files takes Spark a job."""
        if table not in self._schemas:
            from pyspark.sql.pandas.types import from_arrow_schema

            self._schemas[table] = from_arrow_schema(pq.read_schema(next(folder.iterdir())))
        return self._spark.read.schema(self._schemas[table]).parquet(str(folder))


def write(table: pa.Table, folder: Path) -> None:
    """In several files of several row groups."""
    folder.mkdir(parents=True)
    size = -(-table.num_rows // FILES) or 1
    for number in range(FILES):
        piece = table.slice(number * size, size)
        pq.write_table(piece, folder / f"part-{number}.parquet", row_group_size=max(2, size // 2))
