"""Records become traces: small roots whole and many at a time by the kernel, the largest ones by joins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.records.compaction.shipping import register_shipped_modules
from headwater.records.executor.tracing import trace_by_roots
from headwater.records.tracing.big_roots import trace_big_roots
from headwater.records.tracing.kernel import FinalStep, trace_batches

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from pyspark.sql import DataFrame

    from headwater.records.compaction.hadoop_fs import ScratchFolder

BIG_ROOT = 200_000
"""Nodes from which on a root is too large for one executor, unless told."""
RECORD_COLUMNS = (
    "root_id",
    "node_id",
    "parent_ids",
    "action_taken",
    "storage_location",
    "recordedAt",
    "recorded_at",
    "digest",
    "load",
)
RECORDED = (
    "root_id string, node_id string, parent_ids array<string>, action_taken string, storage_location string, "
    "recordedAt bigint, recorded_at timestamp, digest binary, load bigint, day date"
)
TRACE_COLUMNS = ("record_id", "root_id", "lineage", "orphans", "cycle", "conflicts", "complete")
_STEP = (
    "struct<node_id: string, parent_id: string, parent_ids: array<string>, action_taken: string, recordedAt: bigint, "
    "recorded_at: timestamp, storage_location: string>"
)
TRACED = (
    f"record_id string, root_id string, lineage array<{_STEP}>, orphans array<string>, cycle array<string>, "
    "conflicts array<string>, complete boolean, day date"
)
_ROWS_A_PARTITION = 250_000


def trace_records(records: DataFrame, rows: int, finished: FinalStep, big: int, scratch: ScratchFolder) -> DataFrame:
    """A row for every leaf, with its day. ``records`` are whole roots, about ``rows`` of them in all."""
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

    def trace(table: Any) -> Iterable[Any]:
        # Made where it is used: Spark 3.5 sends objects of classes that go by value, if they have slots, without their
        # values.
        return trace_batches(table, finished=FinalStep(recorded_at, location))

    tasks = records.sparkSession.sparkContext.defaultParallelism
    parts = max(tasks, -(-rows // _ROWS_A_PARTITION))
    # Sorted, so that a root's rows lie together; Spark sorts on disk where memory does not do.
    together = records.repartition(parts, "root_id").sortWithinPartitions("root_id")
    return together.mapInArrow(trace_by_roots(trace), TRACED)
