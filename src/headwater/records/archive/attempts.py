"""Takes an attempt at a compaction to its commit, or discards it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.errors import ArchiveMoved, ArchiveUnusable
from headwater.records.archive.leases import lease_renewal
from headwater.records.compaction.archive_attempt import ArchiveAttempt, AttemptResult, CompactionOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import date

    from pyspark.sql import SparkSession

    from headwater.records.archive.archive import Archive, Compaction
    from headwater.store.engine.database import Transaction

MAX_COMMIT_TRIES = 20
"""How many conflicting commits of other processes a compaction starts over for before it gives up."""
COMMITTING, CLEARING = "Committing", "Removing temporary files"


def try_commit(
    spark: SparkSession,
    archive: Archive,
    compaction: Compaction,
    options: CompactionOptions,
    archive_records: Callable[[ArchiveAttempt], AttemptResult],
    *,
    days: Mapping[date, int] | None = None,
    within: Callable[[Transaction, AttemptResult], None],
) -> AttemptResult | None:
    """Write and commit. None if a commit of another process conflicts: the caller then starts over from the new head.

    ``within`` is called in the transaction of the commit.
    """
    attempt = ArchiveAttempt(spark, archive, compaction, options)

    def commit(compaction: Compaction, result: AttemptResult) -> None:
        archive.commit(
            compaction,
            added=result.added,
            removed=result.removed,
            days=days,
            rows=result.archived,
            digest=result.digest,
            leaves_work=True,
            within=lambda conn: within(conn, result),
        )

    try:
        with lease_renewal(archive, compaction):
            result = _archive_records(archive, compaction, lambda: archive_records(attempt))
            options.on_progress(COMMITTING)
            _commit_after_others(archive, compaction, attempt, result, commit)
    except ArchiveMoved:
        _discard(archive, compaction, attempt)
        return None
    except BaseException:
        _discard(archive, compaction, attempt)
        raise
    options.on_progress(CLEARING)
    attempt.clear()
    archive.abandon(compaction)
    archive.remove_stray_files(files=attempt.folder)
    return result


def _archive_records(
    archive: Archive, compaction: Compaction, archive_records: Callable[[], AttemptResult]
) -> AttemptResult:
    try:
        return archive_records()
    except Exception as error:
        if archive.head() == compaction.base:
            raise
        # Another process has committed: files that this one was reading may be gone.
        raise ArchiveMoved(compaction.id) from error


def _commit_after_others(
    archive: Archive,
    compaction: Compaction,
    attempt: ArchiveAttempt,
    result: AttemptResult,
    commit: Callable[[Compaction, AttemptResult], None],
) -> None:
    """Commits that do not conflict cost no work: the compaction is committed after them."""
    while True:
        try:
            return commit(compaction, result)
        except ArchiveMoved:
            since = archive.later_commits(compaction)
            if since is None or attempt.conflicts_with(since, result):
                raise
            compaction = archive.rebase(compaction, since)


def _discard(archive: Archive, compaction: Compaction, attempt: ArchiveAttempt) -> None:
    if not archive.is_committed(compaction.id):
        attempt.discard()
        archive.abandon(compaction)


def too_many_commits() -> ArchiveUnusable:
    return ArchiveUnusable(f"{MAX_COMMIT_TRIES} conflicting commits came first. Try again.")
