"""From an attempt to a commit, or to nothing at all."""

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
"""Commits of others, of the same roots, that one lets pass before it gives up."""
COMMITTING, CLEARING = "Committing", "Removing what is no longer needed"


def try_commit(
    spark: SparkSession,
    archive: Archive,
    compaction: Compaction,
    manner: CompactionOptions,
    put_away: Callable[[ArchiveAttempt], AttemptResult],
    *,
    days: Mapping[date, int] | None = None,
    within: Callable[[Transaction, AttemptResult], None],
) -> AttemptResult | None:
    """None where what somebody else has committed concerns it: then one begins again, from what the archive has become.

    ``within`` is done in the transaction of the commit.
    """
    attempt = ArchiveAttempt(spark, archive, compaction, manner)

    def commit(compaction: Compaction, put: AttemptResult) -> None:
        archive.commit(
            compaction,
            added=put.added,
            removed=put.removed,
            days=days,
            rows=put.archived,
            digest=put.digest,
            leaves_work=True,
            within=lambda conn: within(conn, put),
        )

    try:
        with lease_renewal(archive, compaction):
            put = _made(archive, compaction, lambda: put_away(attempt))
            manner.say(COMMITTING)
            _commit_after_others(archive, compaction, attempt, put, commit)
    except ArchiveMoved:
        _discard(archive, compaction, attempt)
        return None
    except BaseException:
        _discard(archive, compaction, attempt)
        raise
    manner.say(CLEARING)
    attempt.clear()
    archive.abandon(compaction)
    archive.remove_stray_files(files=attempt.place)
    return put


def _made(archive: Archive, compaction: Compaction, put_away: Callable[[], AttemptResult]) -> AttemptResult:
    try:
        return put_away()
    except Exception as error:
        if archive.head() == compaction.base:
            raise
        # What one reads goes away under one's hands when somebody else has committed.
        raise ArchiveMoved(compaction.id) from error


def _commit_after_others(
    archive: Archive,
    compaction: Compaction,
    attempt: ArchiveAttempt,
    put: AttemptResult,
    commit: Callable[[Compaction, AttemptResult], None],
) -> None:
    """Hours of work are not thrown away for commits that have nothing to do with it: it is committed after those."""
    while True:
        try:
            return commit(compaction, put)
        except ArchiveMoved:
            since = archive.later_commits(compaction)
            if since is None or attempt.concerns(since, put):
                raise
            compaction = archive.rebase(compaction, since)


def _discard(archive: Archive, compaction: Compaction, attempt: ArchiveAttempt) -> None:
    if not archive.is_committed(compaction.id):
        attempt.discard()
        archive.abandon(compaction)


def too_many_commits() -> ArchiveUnusable:
    return ArchiveUnusable(
        f"Others committed to the archive {MAX_COMMIT_TRIES} times while this was at work. Try again."
    )
