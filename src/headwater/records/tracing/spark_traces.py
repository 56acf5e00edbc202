"""Traces records with Spark: small roots whole and many at a time by the kernel, the largest ones by joins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.model.record_schema import ARCHIVED, DAY, TRACE, names_of, spark_schema
from headwater.records.compaction.shipping import register_shipped_modules
from headwater.records.executor.tracing import trace_by_roots
from headwater.records.tracing.big_roots import trace_big_roots
from headwater.records.tracing.kernel import FinalStep, trace_batches

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa
    from pyspark.sql import DataFrame

    from headwater.records.compaction.hadoop_fs import ScratchFolder

BIG_ROOT = 200_000
"""The default number of nodes above which a root is traced by joins, because it is too large for one executor."""
RECORD_COLUMNS = names_of(ARCHIVED)
RECORD_SCHEMA = spark_schema((*ARCHIVED, DAY))
TRACE_COLUMNS = names_of(TRACE)
TRACE_SCHEMA = spark_schema((*TRACE, DAY))
_ROWS_PER_PARTITION = 250_000


def trace_records(records: DataFrame, rows: int, finished: FinalStep, big: int, scratch: ScratchFolder) -> DataFrame:
    """A row for every leaf, with its day. ``records`` are whole roots of about ``rows`` records in all."""
    from pyspark.sql import functions as F

    records = records.select(*RECORD_COLUMNS)
    large: list[str] = []
    if rows > big:
        counted = records.groupBy("root_id").agg(F.count("*").alias("nodes")).where(F.col("nodes") > big)
        large = [row.root_id for row in counted.select("root_id").collect()]
    if not large:
        return _small_traces(records, rows, finished)
    is_large = F.col("root_id").isin(large)
    small = _small_traces(records.where(~is_large), rows, finished)
    return small.unionByName(trace_big_roots(records.where(is_large), finished, scratch))


def _small_traces(records: DataFrame, rows: int, finished: FinalStep) -> DataFrame:
    register_shipped_modules()

    recorded_at, location = finished.recorded_at, finished.storage_location

    def trace(table: pa.Table) -> Iterable[pa.RecordBatch]:
        # Created on the executor: where a class is sent by value, Spark 3.5 sends its objects with slots without their
        # values.
        return trace_batches(table, finished=FinalStep(recorded_at, location))

    tasks = records.sparkSession.sparkContext.defaultParallelism
    parts = max(tasks, -(-rows // _ROWS_PER_PARTITION))
    # Sorted, so that the rows of a root are adjacent; Spark sorts on disk where memory is not enough.
    sorted_by_root = records.repartition(parts, "root_id").sortWithinPartitions("root_id")
    return sorted_by_root.mapInArrow(trace_by_roots(trace), TRACE_SCHEMA)
