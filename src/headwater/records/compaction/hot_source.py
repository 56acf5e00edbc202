"""The hot table as a DataFrame: a Python data source that yields Arrow batches, without a JDBC jar.

Spark 3.5 has no Python data sources: there the same reader runs as a function over the numbers of the key ranges.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from headwater.errors import ArchiveUnusable
from headwater.records.compaction.shipping import register_shipped_modules
from headwater.store.records.scan import SCHEMA, HotScan

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from headwater.store.engine.database import Database


def hot_scan(database: Database, upto: int, *, days: tuple[int, ...] = (), archived_too: bool = False) -> HotScan:
    """A scan that other processes can run too, with the address by which they reach the store."""
    if database.is_in_memory:
        raise ArchiveUnusable("A store in memory cannot be read from other processes: its records stay where they are.")
    address = database.dialect.driver_address(database.url, database.file)
    return HotScan(address, database.url.get_backend_name(), upto, days, archived_too)


def hot_records(spark: SparkSession, scan: HotScan, parts: int) -> DataFrame:
    """The rows of a scan in ``parts`` partitions, each with whole roots, ordered by root."""
    register_shipped_modules()
    try:
        import pyspark.sql.datasource  # noqa: F401 (Spark 4 and later)
    except ImportError:
        return _by_function(spark, scan, parts)
    return _by_source(spark, scan, parts)


def _by_function(spark: SparkSession, scan: HotScan, parts: int) -> DataFrame:
    ranges = scan.ranges(parts)

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from scan.batches(ranges[number])

    return spark.range(0, parts, 1, parts).mapInArrow(read, SCHEMA)


def _by_source(spark: SparkSession, scan: HotScan, parts: int) -> DataFrame:
    """The address is part of the class, not an option: plans show options, and it may hold a password."""
    from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

    # A name of its own for each scan: two reads at the same time in one session need two sources.
    source_name = f"headwater_hot_{sha256(repr((scan, parts)).encode()).hexdigest()[:12]}"

    class HotReader(DataSourceReader):
        def partitions(self) -> list[InputPartition]:
            return [InputPartition(part) for part in scan.ranges(parts)]

        def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
            return scan.batches(partition.value)

    class HotRecords(DataSource):
        @classmethod
        def name(cls) -> str:
            return source_name

        def schema(self) -> str:
            return SCHEMA

        def reader(self, schema: StructType) -> DataSourceReader:
            return HotReader()

    spark.dataSource.register(HotRecords)
    return spark.read.format(source_name).load()
