"""The hot table as a DataFrame: a Python data source that gives Arrow batches, and no JDBC jar.

Spark 3.5 has no such sources: there the same reader runs as a function over the numbers of the parts.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

from headwater.records.compaction.shipping import register_shipped_modules
from headwater.store.records.scan import SCHEMA, HotScan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession


def hot_records(spark: SparkSession, scan: HotScan, parts: int) -> DataFrame:
    """Root by root within a partition, whole roots in each."""
    register_shipped_modules()
    try:
        import pyspark.sql.datasource  # noqa: F401 (Spark 4 and later)
    except ImportError:
        return _by_function(spark, scan, parts)
    return _by_source(spark, scan, parts)


def _by_function(spark: SparkSession, scan: HotScan, parts: int) -> DataFrame:
    ranges = scan.ranges(parts)

    def read(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from scan.batches(ranges[number])

    return spark.range(0, parts, 1, parts).mapInArrow(read, SCHEMA)


def _by_source(spark: SparkSession, scan: HotScan, parts: int) -> DataFrame:
    """The address is part of the class and no option: options are shown in plans, and it may hold a password."""
    from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

    # A name of its own for each scan: whoever reads at the same time in the same session has another source.
    source_name = f"headwater_hot_{sha256(repr((scan, parts)).encode()).hexdigest()[:12]}"

    class HotReader(DataSourceReader):
        def partitions(self) -> list[InputPartition]:
            return [InputPartition(part) for part in scan.ranges(parts)]

        def read(self, partition: InputPartition) -> Iterator[Any]:
            return scan.batches(partition.value)

    class HotRecords(DataSource):
        @classmethod
        def name(cls) -> str:
            return source_name

        def schema(self) -> str:
            return SCHEMA

        def reader(self, schema: Any) -> DataSourceReader:
            return HotReader()

    spark.dataSource.register(HotRecords)
    return spark.read.format(source_name).load()
