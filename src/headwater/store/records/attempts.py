"""Attempts at the archive: who is at work, and who has been given up.

Whoever writes files says again and again that it is at work. Once it has said nothing for a while it is given up: first
in the books, so that it can no longer be committed, then its files go. A killed one and one that hangs are the same.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, delete, insert, select, update

from headwater.store.schema.record_tables import record_attempt, record_compaction

_OPEN = record_attempt.c.given_up_at.is_(None)


def begin(conn: Connection, name: str, compaction: str, now: int, until: int) -> None:
    row = {"name": name, "compaction": compaction, "started_at": now, "until": until}
    conn.execute(insert(record_attempt).values(row))


def extend(conn: Connection, name: str, until: int) -> None:
    """Nothing, where it was given up."""
    conn.execute(update(record_attempt).where(record_attempt.c.name == name, _OPEN).values(until=until))


def is_open(conn: Connection, name: str) -> bool:
    return conn.execute(select(record_attempt.c.name).where(record_attempt.c.name == name, _OPEN)).first() is not None


def close(conn: Connection, name: str, now: int) -> None:
    """It was committed, but has not yet removed what it needed for that."""
    conn.execute(update(record_attempt).where(record_attempt.c.name == name).values(given_up_at=now))


def end(conn: Connection, name: str) -> None:
    """It has nothing left to remove."""
    conn.execute(delete(record_attempt).where(record_attempt.c.name == name))


def any_to_clean_up(conn: Connection, now: int) -> bool:
    """Whether there is one that was given up, or that can be."""
    over = (record_attempt.c.until < now) | ~_OPEN
    return conn.execute(select(record_attempt.c.name).where(over).limit(1)).first() is not None


def give_up(conn: Connection, now: int) -> None:
    """All that have said nothing for too long."""
    conn.execute(update(record_attempt).where(_OPEN, record_attempt.c.until < now).values(given_up_at=now))


def given_up_attempts(conn: Connection) -> dict[str, str]:
    """By name, the compaction that each was of."""
    over = select(record_attempt.c.name, record_attempt.c.compaction).where(~_OPEN)
    return {row.name: row.compaction for row in conn.execute(over)}


def open_attempts(conn: Connection) -> dict[str, str]:
    """The same of those that are at work."""
    at_work = select(record_attempt.c.name, record_attempt.c.compaction).where(_OPEN)
    return {row.name: row.compaction for row in conn.execute(at_work)}


def forget(conn: Connection, names: Iterable[str], before: int) -> None:
    """Those of them that were given up before then, and compactions that nobody attempts any more."""
    for name in names:
        long_ago = record_attempt.c.given_up_at < before
        conn.execute(delete(record_attempt).where(record_attempt.c.name == name, long_ago))
    attempted = select(record_attempt.c.compaction)
    never = record_compaction.c.finished_at.is_(None), record_compaction.c.id.not_in(attempted)
    conn.execute(delete(record_compaction).where(*never))
