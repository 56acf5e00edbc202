"""Streaming intake: archives files of requests, one per line, from a landing folder, without the hot table.

Exactly once: Spark's checkpoint fixes the files of a batch, and the id of a batch's commit is derived from the ids of
the query and the batch. A batch that Spark repeats after its commit is skipped; one that was killed before its commit
left nothing, and gives its records the same ids again.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import uuid4

from headwater.errors import RecordsError
from headwater.model.record_schema import IDENTITY
from headwater.records.archive.archive import Archive, Compaction
from headwater.records.archive.attempts import MAX_COMMIT_TRIES, too_many_commits, try_commit
from headwater.records.compaction.archive_attempt import ArchiveAttempt, AttemptResult, CompactionOptions
from headwater.records.compaction.events import CompactionRun, folder_dataset
from headwater.records.compaction.hadoop_fs import absolute_location
from headwater.records.compaction.result import CompactionResult, compaction_result
from headwater.records.compaction.shipping import register_shipped_modules
from headwater.records.compaction.spark_sessions import configure_session, ledger_session
from headwater.records.executor.lines import LINE_SCHEMA, line_reader
from headwater.records.intake.refused_lines import RefusedLines
from headwater.records.intake.requests import read_request
from headwater.records.tracing.spark_traces import RECORD_COLUMNS
from headwater.store.records import archive as catalog

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from headwater.store.engine.database import Transaction
    from headwater.store.store import Store

_MAX_FILES = 1_000
"""The maximum number of files in one batch."""
_QUERY = "sql.streaming.queryId"


def stream(
    store: Store,
    spark: SparkSession,
    landing: str,
    *,
    archive: str | None = None,
    checkpoint: str | None = None,
    every: str | None = None,
    options: CompactionOptions | None = None,
    on_batch: Callable[[CompactionResult], None] = lambda _: None,
) -> StreamingQuery:
    """Start the stream and return Spark's query. It ends after the files that are there now, or with ``every`` looks
    for new files at that interval.

    ``on_batch`` receives the result of every committed batch.
    """
    from pyspark.errors import AnalysisException

    landing = absolute_location(landing)
    intake = _StreamIntake(store, Archive(store._database, archive), landing, options or CompactionOptions(), on_batch)
    session = ledger_session(spark)
    checkpoint_path = (
        checkpoint or f"{intake.archive.location}/_checkpoints/{hashlib.sha256(landing.encode()).hexdigest()[:16]}"
    )
    try:
        lines = session.readStream.option("maxFilesPerTrigger", _MAX_FILES).text(landing)
    except AnalysisException as error:
        raise RecordsError(f"The landing folder cannot be read: {str(error).partition(chr(10))[0]}") from error
    lines_with_source = lines.selectExpr(
        "value as line", "_metadata.file_path as file", "unix_micros(_metadata.file_modification_time) as landed"
    )
    writer = lines_with_source.writeStream.foreachBatch(intake.batch).option(
        "checkpointLocation", absolute_location(checkpoint_path)
    )
    writer = writer.trigger(availableNow=True) if every is None else writer.trigger(processingTime=every)
    return writer.start()


class _StreamIntake:
    def __init__(
        self,
        store: Store,
        archive: Archive,
        landing: str,
        options: CompactionOptions,
        on_batch: Callable[[CompactionResult], None],
    ) -> None:
        self.archive = archive
        self._store = store
        self._landing = landing
        self._options = options
        self._on_batch = on_batch

    def batch(self, lines: DataFrame, number: int) -> None:
        spark = lines.sparkSession
        id = batch_id(str(spark.sparkContext.getLocalProperty(_QUERY)), number)
        if self.archive.is_committed(id):
            return
        configure_session(spark)
        settings = {"big": self._options.big, "jsonl": self._options.jsonl}
        source, location = folder_dataset(self._landing), self.archive.location
        run = CompactionRun(self._store, str(uuid4()), "records.stream", source, location, settings)
        run.emit_start()
        try:
            with RefusedLines() as refused_lines:
                for _ in range(MAX_COMMIT_TRIES):
                    compaction = self.archive.begin("stream", run_id=run.run_id, id=id)
                    result = self._attempt(spark, compaction, lines, refused_lines, run)
                    if result is not None:
                        self._on_batch(compaction_result(compaction, run.run_id, (), result))
                        return
            raise too_many_commits()
        except BaseException as error:
            if not self.archive.is_committed(id):
                run.emit_fail(error)
            raise

    def _attempt(
        self,
        spark: SparkSession,
        compaction: Compaction,
        lines: DataFrame,
        refused_lines: RefusedLines,
        run: CompactionRun,
    ) -> AttemptResult | None:
        now = datetime.now(UTC)

        def archive_records(attempt: ArchiveAttempt) -> AttemptResult:
            # Materialized: otherwise each use below would read the files again.
            read = attempt.scratch.materialize(_read_lines(lines))
            refused = read.where("reason is not null")
            accepted = read.where("reason is null")
            distinct = attempt.scratch.materialize(accepted.dropDuplicates(IDENTITY))
            counts = {"taken": accepted.count(), "refused": refused.count(), "once": distinct.count()}
            refused_lines.fetch(refused)
            numbered = distinct.selectExpr(
                *(c for c in RECORD_COLUMNS if c != "load"), f"{self._next_load()}L as load", "day"
            )
            result = attempt.archive_records(numbered, counts["once"], now)
            return replace(
                result,
                read=counts["taken"] + counts["refused"],
                already_there=result.already_there + counts["taken"] - counts["once"],
                refused=counts["refused"],
                source_checksum=f"sha256-lines:{_checksum(lines)}",
            )

        def within_commit(conn: Transaction, result: AttemptResult) -> None:
            run.emit_complete(result, conn)
            refused_lines.add(conn, _micros(now))

        return try_commit(spark, self.archive, compaction, self._options, archive_records, within=within_commit)

    def _next_load(self) -> int:
        """A load number for the batch: of two contents of one node the earlier load is in effect, hot or not."""
        with self._store._database.write() as conn:
            return catalog.next_load(conn)


def batch_id(query: str, number: int) -> str:
    return hashlib.sha256(f"{query} {number}".encode()).hexdigest()[:32]


def _read_lines(lines: DataFrame) -> DataFrame:
    """Equal lines of a file are numbered; their position in the file has no other effect."""
    from pyspark.sql import functions as F

    register_shipped_modules()
    distinct = lines.where("trim(line) != ''").groupBy("line", "file", "landed").agg(F.count("*").alias("times"))
    numbered = distinct.select("line", "file", "landed", F.explode(F.sequence(F.lit(1), F.col("times"))).alias("nth"))
    return numbered.mapInArrow(line_reader(read_request), LINE_SCHEMA)


def _checksum(lines: DataFrame) -> str:
    """A checksum of the lines of all files that does not depend on their order: hashes with the same prefix are sorted
    and hashed together, and then the hashes of these groups."""
    from pyspark.sql import functions as F

    hashed = lines.select(F.sha2(F.concat_ws("\0", "file", "line"), 256).alias("line"))
    group_hash = F.sha2(F.concat_ws(",", F.array_sort(F.collect_list("line"))), 256)
    groups = hashed.groupBy(F.substring("line", 1, 4).alias("first")).agg(group_hash.alias("hash")).collect()
    return hashlib.sha256("\n".join(sorted(f"{row['first']} {row['hash']}" for row in groups)).encode()).hexdigest()


def _micros(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000_000)
