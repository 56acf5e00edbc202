"""The tables that can be asked by Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.records.archive.archive import RECORDS, TRACES, Archive
from headwater.records.compaction.compaction import to_archive_columns
from headwater.records.compaction.hadoop_fs import HadoopFolder
from headwater.records.compaction.hot_source import hot_records, hot_scan
from headwater.records.compaction.spark_sessions import ledger_session
from headwater.records.compaction.writing import SCHEMAS, read

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from headwater.records.query.statements import LedgerStatement
    from headwater.store.store import Store

_SAME = ["root_id", "node_id", "digest"]
_SHOWN = (
    "root_id",
    "node_id",
    "parent_ids[0] as parent_id",
    "parent_ids",
    "action_taken",
    "storage_location",
    "recordedAt",
    "recorded_at",
    "day",
)


def create_views(store: Store, spark: SparkSession, archive: Archive, statement: LedgerStatement) -> SparkSession:
    """A session that has them, and settings of its own."""
    session, tables = ledger_session(spark), statement.tables

    def hot(*, archived_too: bool) -> DataFrame:
        scan = hot_scan(store._database, archive.watermark(), archived_too=archived_too)
        return to_archive_columns(hot_records(session, scan, session.sparkContext.defaultParallelism))

    def archived(kind: str) -> DataFrame:
        live = [file.path for file in archive.live_files(kind)]
        if not live:
            return session.createDataFrame([], SCHEMAS[kind])
        return read(HadoopFolder(session, archive.location), kind, live)

    def every() -> DataFrame:
        """Each content once."""
        kept = archived(RECORDS)
        fresh = hot(archived_too=False).join(kept.select(*_SAME), _SAME, "left_anti")
        return kept.unionByName(fresh)

    def shown(records: DataFrame) -> DataFrame:
        return _shown(records, every() if statement.conflicts else None)

    if "archive" in tables:
        archived(TRACES).createOrReplaceTempView("archive")
    if "hot" in tables:
        shown(hot(archived_too=True)).createOrReplaceTempView("hot")
    if "records" in tables:
        shown(every()).createOrReplaceTempView("records")
    return session


def _shown(records: DataFrame, every: DataFrame | None) -> DataFrame:
    """With ``every``, which of them are in conflict is said too."""
    columns = [*_SHOWN]
    if every is not None:
        several = every.groupBy("root_id", "node_id").count().where("count > 1")
        records = records.join(several, ["root_id", "node_id"], "left")
        columns.append("count is not null as conflict")
    return records.selectExpr(*columns)
