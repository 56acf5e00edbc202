"""From an attempt to a commit, or to nothing at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.errors import ArchiveMoved, ArchiveUnusable
from headwater.records.archive.leases import at_work
from headwater.records.compaction.archive_attempt import Attempt, Manner, PutAway

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import date

    from pyspark.sql import SparkSession

    from headwater.records.archive.archive import Archive, Compaction
    from headwater.store.engine.database import Transaction

TRIES = 20
"""Commits of others, of the same roots, that one lets pass before it gives up."""
COMMITTING, CLEARING = "Committing", "Removing what is no longer needed"


def try_to_commit(
    spark: SparkSession,
    archive: Archive,
    compaction: Compaction,
    manner: Manner,
    put_away: Callable[[Attempt], PutAway],
    *,
    days: Mapping[date, int] | None = None,
    within: Callable[[Transaction, PutAway], None],
) -> PutAway | None:
    """None where what somebody else has committed concerns it: then one begins again, from what the archive has become.

    ``within`` is done in the transaction of the commit.
    """
    attempt = Attempt(spark, archive, compaction, manner)

    def commit(compaction: Compaction, put: PutAway) -> None:
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
        with at_work(archive, compaction):
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
    archive.remove_strays(files=attempt.place)
    return put


def _made(archive: Archive, compaction: Compaction, put_away: Callable[[], PutAway]) -> PutAway:
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
    attempt: Attempt,
    put: PutAway,
    commit: Callable[[Compaction, PutAway], None],
) -> None:
    """Hours of work are not thrown away for commits that have nothing to do with it: it is committed after those."""
    while True:
        try:
            return commit(compaction, put)
        except ArchiveMoved:
            since = archive.since(compaction)
            if since is None or attempt.concerns(since, put):
                raise
            compaction = archive.moved(compaction, since)


def _discard(archive: Archive, compaction: Compaction, attempt: Attempt) -> None:
    if not archive.committed(compaction.id):
        attempt.discard()
        archive.abandon(compaction)


def too_busy() -> ArchiveUnusable:
    return ArchiveUnusable(f"Others committed to the archive {TRIES} times while this was at work. Try again.")
