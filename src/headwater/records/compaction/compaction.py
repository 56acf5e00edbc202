"""Compaction: Spark archives the hot records that are not archived yet, in one commit.

Several may run at once: of two with the same roots the one that commits second starts over from the new state of the
archive. A compaction that is killed leaves files that no commit names, and a later one removes them.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING
from uuid import uuid4

from headwater.errors import ArchiveUnusable
from headwater.model.record_schema import ARCHIVED, DAY, names_of
from headwater.records.archive.archive import Archive, Compaction, day_number
from headwater.records.archive.attempts import MAX_COMMIT_TRIES, too_many_commits, try_commit
from headwater.records.compaction.archive_attempt import ArchiveAttempt, AttemptResult, CompactionOptions
from headwater.records.compaction.events import CompactionRun, hot_table_dataset
from headwater.records.compaction.hot_source import hot_records, hot_scan
from headwater.records.compaction.result import CompactionResult, compaction_result
from headwater.records.compaction.spark_sessions import ledger_session
from headwater.store.records.scan import HotScan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame, SparkSession

    from headwater.store.store import Store

_ROWS_PER_PARTITION = 250_000


def compact(
    store: Store,
    spark: SparkSession,
    *,
    archive: str | None = None,
    day: date | None = None,
    everything: bool = False,
    options: CompactionOptions | None = None,
    now: datetime | None = None,
) -> CompactionResult:
    """Archive the hot records of all past days (UTC), of one ``day``, or of ``everything``; then delete hot records
    that are archived and past their time to live."""
    options = options or CompactionOptions()
    ledger_archive = Archive(store._database, archive)
    session = ledger_session(spark)
    now_utc = now or datetime.now(UTC)
    selection = _DaySelection(now_utc, day, everything)
    result = _CompactionJob(store, session, ledger_archive, selection, options).run()
    return replace(result, expired=ledger_archive.expire(now=now_utc))


def expire(store: Store, *, archive: str | None = None, now: datetime | None = None) -> int:
    """Delete the hot rows that are archived and past their time to live; returns how many."""
    return Archive(store._database, archive).expire(now=now)


class _DaySelection:
    def __init__(self, now: datetime, day: date | None, everything: bool) -> None:
        self.now = now
        self._day = day
        self._everything = everything

    def select(self, days: Mapping[date, int]) -> dict[date, int]:
        return {day: rows for day, rows in days.items() if self._selects(day)}

    def _selects(self, day: date) -> bool:
        if self._day is not None:
            return day == self._day
        return self._everything or day < self.now.astimezone(UTC).date()


class _CompactionJob:
    def __init__(
        self, store: Store, spark: SparkSession, archive: Archive, selection: _DaySelection, options: CompactionOptions
    ) -> None:
        self._store = store
        self._spark = spark
        self._archive = archive
        self._selection = selection
        self._options = options
        self._database = store._database

    def run(self) -> CompactionResult:
        run: CompactionRun | None = None
        compaction: Compaction | None = None
        try:
            for _ in range(MAX_COMMIT_TRIES):
                head, upto = self._archive.head(), self._archive.watermark()
                days = self._selection.select(self._archive.unarchived_days(upto))
                if not days:
                    return self._empty_result(run)
                if run is None:
                    run = self._new_run()
                    run.emit_start()
                compaction = self._archive.begin("compaction", run_id=run.run_id)
                if compaction.base != head:
                    self._archive.abandon(compaction)
                    continue  # a commit came after the count
                result = self._attempt(compaction, days, upto, run)
                if result is not None:
                    return compaction_result(compaction, run.run_id, tuple(sorted(days)), result)
            raise too_many_commits()
        except BaseException as error:
            # A failure after the commit, such as in removing old files, does not undo the commit.
            if run is not None and not (compaction and self._archive.is_committed(compaction.id)):
                run.emit_fail(error)
            raise

    def _attempt(
        self, compaction: Compaction, days: Mapping[date, int], upto: int, run: CompactionRun
    ) -> AttemptResult | None:
        expected = sum(days.values())

        scan = hot_scan(self._database, upto, days=tuple(sorted(map(day_number, days))))

        def archive_records(attempt: ArchiveAttempt) -> AttemptResult:
            # Read while Spark runs, by other code: the checksum must not come from the code that archives the rows.
            with ThreadPoolExecutor(1) as pool:
                checksum = pool.submit(scan.checksum)
                result = attempt.archive_records(
                    self._unarchived_records(scan, expected), expected, self._selection.now
                )
                row_count, hashed = checksum.result()
            if row_count != expected:
                raise ArchiveUnusable(
                    f"{expected} records were to be archived, and the store has {row_count}. Try again."
                )
            return replace(result, source_checksum=f"sha256-records:{hashed}")

        return try_commit(
            self._spark,
            self._archive,
            compaction,
            self._options,
            archive_records,
            days=dict.fromkeys(days, upto),
            within=lambda conn, result: run.emit_complete(result, conn),
        )

    def _unarchived_records(self, scan: HotScan, expected: int) -> DataFrame:
        tasks = self._spark.sparkContext.defaultParallelism
        hot = hot_records(self._spark, scan, max(tasks, -(-expected // _ROWS_PER_PARTITION)))
        return to_archive_columns(hot)

    def _new_run(self) -> CompactionRun:
        settings = {"big": self._options.big, "jsonl": self._options.jsonl}
        source, location = hot_table_dataset(self._database), self._archive.location
        return CompactionRun(self._store, str(uuid4()), "records.compact", source, location, settings)

    def _empty_result(self, run: CompactionRun | None) -> CompactionResult:
        """The result of a compaction without records; another process may have archived them meanwhile."""
        empty = AttemptResult()
        if run is not None:
            run.emit_complete(empty)
        run_id = None if run is None else run.run_id
        return compaction_result(Compaction("", None, self._archive.location), run_id, (), empty)


def to_archive_columns(hot: DataFrame) -> DataFrame:
    """Rows of a scan of the hot table, with the columns of the archive."""
    from pyspark.sql import functions as F

    computed = {"recordedAt": F.unix_seconds("recorded_at"), "day": F.date_from_unix_date("day")}
    columns = names_of((*ARCHIVED, DAY))
    return hot.select(*(computed[name].alias(name) if name in computed else F.col(name) for name in columns))
