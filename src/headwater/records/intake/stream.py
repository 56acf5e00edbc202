"""Streaming intake: files of requests, one a line, in a landing folder, become the archive without being hot first.

Exactly once: Spark's checkpoint says which files a batch is made of, and a batch is committed under an id made of the
query's and its own. One that is repeated after its commit is found to be done; one that was killed before it left
nothing, and gives its records the same ids again.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import uuid4

from headwater.errors import RecordsError
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

_MOST_FILES = 1_000
"""So many are taken in one batch."""
_QUERY = "sql.streaming.queryId"
_SAME = ["root_id", "node_id", "digest"]


def stream(
    store: Store,
    spark: SparkSession,
    landing: str,
    *,
    archive: str | None = None,
    checkpoint: str | None = None,
    every: str | None = None,
    options: CompactionOptions | None = None,
    done: Callable[[CompactionResult], None] = lambda _: None,
) -> StreamingQuery:
    """Begin, and answer with Spark's query. What there is now, and no more, unless it is to look ``every`` so often.

    ``done`` is told of every batch that was committed.
    """
    from pyspark.errors import AnalysisException

    landing = absolute_location(landing)
    intake = _Intake(store, Archive(store._database, archive), landing, options or CompactionOptions(), done)
    session = ledger_session(spark)
    there = checkpoint or f"{intake.archive.location}/_checkpoints/{hashlib.sha256(landing.encode()).hexdigest()[:16]}"
    try:
        lines = session.readStream.option("maxFilesPerTrigger", _MOST_FILES).text(landing)
    except AnalysisException as wrong:
        raise RecordsError(f"The landing folder cannot be read: {str(wrong).partition(chr(10))[0]}") from wrong
    lines_with_source = lines.selectExpr(
        "value as line", "_metadata.file_path as file", "unix_micros(_metadata.file_modification_time) as landed"
    )
    writer = lines_with_source.writeStream.foreachBatch(intake.batch).option(
        "checkpointLocation", absolute_location(there)
    )
    writer = writer.trigger(availableNow=True) if every is None else writer.trigger(processingTime=every)
    return writer.start()


class _Intake:
    def __init__(
        self,
        store: Store,
        archive: Archive,
        landing: str,
        options: CompactionOptions,
        done: Callable[[CompactionResult], None],
    ) -> None:
        self.archive = archive
        self._store = store
        self._landing = landing
        self._options = options
        self._done = done

    def batch(self, lines: DataFrame, number: int) -> None:
        spark = lines.sparkSession
        id = batch_id(str(spark.sparkContext.getLocalProperty(_QUERY)), number)
        if self.archive.is_committed(id):
            return
        configure_session(spark)
        settings = {"big": self._options.big, "jsonl": self._options.jsonl}
        source, location = folder_dataset(self._landing), self.archive.location
        telling = CompactionRun(self._store, str(uuid4()), "records.stream", source, location, settings)
        telling.emit_start()
        try:
            with RefusedLines() as letters:
                for _ in range(MAX_COMMIT_TRIES):
                    compaction = self.archive.begin("stream", run_id=telling.run_id, id=id)
                    put = self._once(spark, compaction, lines, letters, telling)
                    if put is not None:
                        self._done(compaction_result(compaction, telling.run_id, (), put))
                        return
            raise too_many_commits()
        except BaseException as error:
            if not self.archive.is_committed(id):
                telling.emit_fail(error)
            raise

    def _once(
        self,
        spark: SparkSession,
        compaction: Compaction,
        lines: DataFrame,
        letters: RefusedLines,
        telling: CompactionRun,
    ) -> AttemptResult | None:
        now = datetime.now(UTC)

        def archive_records(attempt: ArchiveAttempt) -> AttemptResult:
            # Kept: what is read twice would otherwise be two readings.
            read = attempt.scratch.materialize(_read(lines))
            refused = read.where("reason is not null")
            taken = read.where("reason is null")
            once = attempt.scratch.materialize(taken.dropDuplicates(_SAME))
            counts = {"taken": taken.count(), "refused": refused.count(), "once": once.count()}
            letters.fetch(refused)
            numbered = once.selectExpr(*(c for c in RECORD_COLUMNS if c != "load"), f"{self._load()}L as load", "day")
            put = attempt.archive_records(numbered, counts["once"], now)
            return replace(
                put,
                read=counts["taken"] + counts["refused"],
                already_there=put.already_there + counts["taken"] - counts["once"],
                refused=counts["refused"],
                source_checksum=f"sha256-lines:{_checksum(lines)}",
            )

        def tell(conn: Transaction, put: AttemptResult) -> None:
            telling.emit_complete(put, conn)
            letters.add(conn, _micros(now))

        return try_commit(spark, self.archive, compaction, self._options, archive_records, within=tell)

    def _load(self) -> int:
        """A number of its own: of two contents of one node the one that came first holds, hot or not."""
        with self._store._database.write() as conn:
            return catalog.next_load(conn)


def batch_id(query: str, number: int) -> str:
    return hashlib.sha256(f"{query} {number}".encode()).hexdigest()[:32]


def _read(lines: DataFrame) -> DataFrame:
    """Lines that are equal, in one file, are told apart by their number: where they stand makes no other difference."""
    from pyspark.sql import functions as F

    register_shipped_modules()
    counted = lines.where("trim(line) != ''").groupBy("line", "file", "landed").agg(F.count("*").alias("times"))
    each = counted.select("line", "file", "landed", F.explode(F.sequence(F.lit(1), F.col("times"))).alias("nth"))
    return each.mapInArrow(line_reader(read_request), LINE_SCHEMA)


def _checksum(lines: DataFrame) -> str:
    """Of the lines of all files, in whatever order: hashes that begin alike are sorted and hashed together, and so are
    the hashes of that."""
    from pyspark.sql import functions as F

    hashed = lines.select(F.sha2(F.concat_ws("\0", "file", "line"), 256).alias("line"))
    together = F.sha2(F.concat_ws(",", F.array_sort(F.collect_list("line"))), 256)
    groups = hashed.groupBy(F.substring("line", 1, 4).alias("first")).agg(together.alias("hash")).collect()
    return hashlib.sha256("\n".join(sorted(f"{row['first']} {row['hash']}" for row in groups)).encode()).hexdigest()


def _micros(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000_000)
