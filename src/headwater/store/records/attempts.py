"""Attempts at compactions, each with a lease: which are open, and which were abandoned.

A process that writes files renews the lease of its attempt. An attempt whose lease has ended is abandoned: first in the
catalog, so that it can no longer be committed, then its files are removed. It makes no difference whether its process
was killed or hangs.
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
    """Renew the lease; no effect on an abandoned attempt."""
    conn.execute(update(record_attempt).where(record_attempt.c.name == name, _OPEN).values(until=until))


def is_open(conn: Connection, name: str) -> bool:
    return conn.execute(select(record_attempt.c.name).where(record_attempt.c.name == name, _OPEN)).first() is not None


def close(conn: Connection, name: str, now: int) -> None:
    """Mark an attempt that is committed, but still has temporary files."""
    conn.execute(update(record_attempt).where(record_attempt.c.name == name).values(given_up_at=now))


def end(conn: Connection, name: str) -> None:
    """Forget an attempt without files to remove."""
    conn.execute(delete(record_attempt).where(record_attempt.c.name == name))


def any_to_clean_up(conn: Connection, now: int) -> bool:
    """Whether an attempt was abandoned, or its lease has ended."""
    to_clean_up = (record_attempt.c.until < now) | ~_OPEN
    return conn.execute(select(record_attempt.c.name).where(to_clean_up).limit(1)).first() is not None


def give_up(conn: Connection, now: int) -> None:
    """Abandon all attempts whose lease has ended."""
    conn.execute(update(record_attempt).where(_OPEN, record_attempt.c.until < now).values(given_up_at=now))


def given_up_attempts(conn: Connection) -> dict[str, str]:
    """The abandoned attempts: by name, the compaction."""
    over = select(record_attempt.c.name, record_attempt.c.compaction).where(~_OPEN)
    return {row.name: row.compaction for row in conn.execute(over)}


def open_attempts(conn: Connection) -> dict[str, str]:
    """The open attempts: by name, the compaction."""
    at_work = select(record_attempt.c.name, record_attempt.c.compaction).where(_OPEN)
    return {row.name: row.compaction for row in conn.execute(at_work)}


def forget(conn: Connection, names: Iterable[str], before: int) -> None:
    """Forget those that were abandoned before that time, and compactions without attempts."""
    for name in names:
        long_ago = record_attempt.c.given_up_at < before
        conn.execute(delete(record_attempt).where(record_attempt.c.name == name, long_ago))
    with_attempts = select(record_attempt.c.compaction)
    without_attempts = record_compaction.c.finished_at.is_(None), record_compaction.c.id.not_in(with_attempts)
    conn.execute(delete(record_compaction).where(*without_attempts))
