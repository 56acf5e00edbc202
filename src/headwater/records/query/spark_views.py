"""The views `archive`, `hot` and `records` for a query that Spark runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.model.record_schema import IDENTITY, QUERIED, names_of
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

_SELECTED = tuple("parent_ids[0] as parent_id" if name == "parent_id" else name for name in names_of(QUERIED))


def create_views(store: Store, spark: SparkSession, archive: Archive, statement: LedgerStatement) -> SparkSession:
    """A new session with the views that the statement reads, and settings of its own."""
    session, tables = ledger_session(spark), statement.tables

    def hot(*, archived_too: bool) -> DataFrame:
        scan = hot_scan(store._database, archive.watermark(), archived_too=archived_too)
        return to_archive_columns(hot_records(session, scan, session.sparkContext.defaultParallelism))

    def archived(kind: str) -> DataFrame:
        live = [file.path for file in archive.live_files(kind)]
        if not live:
            return session.createDataFrame([], SCHEMAS[kind])
        return read(HadoopFolder(session, archive.location), kind, live)

    def all_records() -> DataFrame:
        """Each content of a node once, archived or hot."""
        stored = archived(RECORDS)
        fresh = hot(archived_too=False).join(stored.select(*IDENTITY), IDENTITY, "left_anti")
        return stored.unionByName(fresh)

    def queried(records: DataFrame) -> DataFrame:
        return _with_queried_columns(records, all_records() if statement.conflicts else None)

    if "archive" in tables:
        archived(TRACES).createOrReplaceTempView("archive")
    if "hot" in tables:
        queried(hot(archived_too=True)).createOrReplaceTempView("hot")
    if "records" in tables:
        queried(all_records()).createOrReplaceTempView("records")
    return session


def _with_queried_columns(records: DataFrame, all_records: DataFrame | None) -> DataFrame:
    """The columns that a query can read; with ``all_records`` record also whether the node is in conflict."""
    columns = [*_SELECTED]
    if all_records is not None:
        in_conflict = all_records.groupBy("root_id", "node_id").count().where("count > 1")
        records = records.join(in_conflict, ["root_id", "node_id"], "left")
        columns.append("count is not null as conflict")
    return records.selectExpr(*columns)
