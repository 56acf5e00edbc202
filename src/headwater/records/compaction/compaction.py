"""Compaction: hot records that are in no archive yet go into it, by Spark, in one commit.

Two at once do no harm: of two that concern the same roots the one whose commit comes second begins again from what the
archive is then. One that is killed leaves files that no commit names, and a later one removes them.
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

_ROWS_A_PART = 250_000


def compact(
    store: Store,
    spark: SparkSession,
    *,
    archive: str | None = None,
    day: date | None = None,
    everything: bool = False,
    manner: CompactionOptions | None = None,
    now: datetime | None = None,
) -> CompactionResult:
    """Archive the hot records of all days that are over (UTC), of one ``day``, or of ``everything``; then let those
    expire that are archived and past their time."""
    manner = manner or CompactionOptions()
    books = Archive(store._database, archive)
    session = ledger_session(spark)
    moment = now or datetime.now(UTC)
    wanted = _Wanted(moment, day, everything)
    done = _Compaction(store, session, books, wanted, manner).run()
    return replace(done, expired=books.expire(now=moment))


def expire(store: Store, *, archive: str | None = None, now: datetime | None = None) -> int:
    """Delete the hot rows that are archived and past their time; how many."""
    return Archive(store._database, archive).expire(now=now)


class _Wanted:
    def __init__(self, now: datetime, day: date | None, everything: bool) -> None:
        self.now = now
        self._day = day
        self._everything = everything

    def of(self, days: Mapping[date, int]) -> dict[date, int]:
        return {day: rows for day, rows in days.items() if self._wants(day)}

    def _wants(self, day: date) -> bool:
        if self._day is not None:
            return day == self._day
        return self._everything or day < self.now.astimezone(UTC).date()


class _Compaction:
    def __init__(
        self, store: Store, spark: SparkSession, archive: Archive, wanted: _Wanted, manner: CompactionOptions
    ) -> None:
        self._store = store
        self._spark = spark
        self._archive = archive
        self._wanted = wanted
        self._manner = manner
        self._database = store._database

    def run(self) -> CompactionResult:
        telling: CompactionRun | None = None
        compaction: Compaction | None = None
        try:
            for _ in range(MAX_COMMIT_TRIES):
                seen, upto = self._archive.head(), self._archive.watermark()
                days = self._wanted.of(self._archive.unarchived_days(upto))
                if not days:
                    return self._nothing(telling)
                if telling is None:
                    telling = self._telling()
                    telling.started()
                compaction = self._archive.begin("compaction", run_id=telling.run_id)
                if compaction.base != seen:
                    self._archive.abandon(compaction)
                    continue  # what was counted is not what it would begin from
                put = self._once(compaction, days, upto, telling)
                if put is not None:
                    return compaction_result(compaction, telling.run_id, tuple(sorted(days)), put)
            raise too_many_commits()
        except BaseException as error:
            # What fails after the commit, like removing old files, takes nothing back.
            if telling is not None and not (compaction and self._archive.is_committed(compaction.id)):
                telling.failed(error)
            raise

    def _once(
        self, compaction: Compaction, days: Mapping[date, int], upto: int, telling: CompactionRun
    ) -> AttemptResult | None:
        expected = sum(days.values())

        scan = hot_scan(self._database, upto, days=tuple(sorted(map(day_number, days))))

        def put_away(attempt: ArchiveAttempt) -> AttemptResult:
            # Beside Spark, by another way to the same rows: what they were is not said by who has to archive them.
            with ThreadPoolExecutor(1) as beside:
                checksum = beside.submit(scan.checksum)
                put = attempt.put_away(self._fresh(scan, expected), expected, self._wanted.now)
                rows, hashed = checksum.result()
            if rows != expected:
                raise ArchiveUnusable(f"{expected} records were to be archived, and {rows} are there. Try again.")
            return replace(put, source_checksum=f"sha256-records:{hashed}")

        return try_commit(
            self._spark,
            self._archive,
            compaction,
            self._manner,
            put_away,
            days=dict.fromkeys(days, upto),
            within=lambda conn, put: telling.completed(put, conn),
        )

    def _fresh(self, scan: HotScan, expected: int) -> DataFrame:
        tasks = self._spark.sparkContext.defaultParallelism
        hot = hot_records(self._spark, scan, max(tasks, -(-expected // _ROWS_A_PART)))
        return to_archive_columns(hot)

    def _telling(self) -> CompactionRun:
        settings = {"big": self._manner.big, "jsonl": self._manner.jsonl}
        source, location = hot_table_dataset(self._database), self._archive.location
        return CompactionRun(self._store, str(uuid4()), "records.compact", source, location, settings)

    def _nothing(self, telling: CompactionRun | None) -> CompactionResult:
        """Somebody else may have done it while this was at work."""
        nothing = AttemptResult()
        if telling is not None:
            telling.completed(nothing)
        run_id = None if telling is None else telling.run_id
        return compaction_result(Compaction("", None, self._archive.location), run_id, (), nothing)


def to_archive_columns(hot: DataFrame) -> DataFrame:
    """Rows of a scan of the hot table, with the columns of the archive."""
    from pyspark.sql import functions as F

    computed = {"recordedAt": F.unix_seconds("recorded_at"), "day": F.date_from_unix_date("day")}
    columns = names_of((*ARCHIVED, DAY))
    return hot.select(*(computed[name].alias(name) if name in computed else F.col(name) for name in columns))
