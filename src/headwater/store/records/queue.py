"""The queue of the record ledger: durable, with visibility timeouts, redelivery and dead letters.

A short transaction takes a message: it hides it for the visibility timeout and stores a token. The worker with the
token can finish the message, release it, or move it to the dead letters. If the worker dies, the message becomes
visible again by itself. On PostgreSQL several workers take messages without waiting for each other (SKIP LOCKED); on
SQLite they take turns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, RowMapping, and_, delete, func, insert, select, update

from headwater.store.engine.dialect import dialect_of
from headwater.store.schema.record_tables import record_dead_letter, record_queue

LOAD, TRACE = "load", "trace"


@dataclass(frozen=True, slots=True)
class QueueMessage:
    id: int
    kind: str
    body: object
    enqueued_at: int
    tries: int


@dataclass(frozen=True, slots=True)
class QueueDepth:
    """The visible messages: how many, up to the limit of the count, and when the oldest was enqueued."""

    count: int
    oldest: int | None


def put(conn: Connection, kind: str, bodies: Iterable[object], now: int) -> None:
    rows = [{"kind": kind, "body": body, "enqueued_at": now, "visible_at": now, "tries": 0} for body in bodies]
    if rows:
        conn.execute(insert(record_queue), rows)


def waiting(conn: Connection, kind: str, now: int, limit: int) -> QueueDepth:
    """The visible messages, counted up to ``limit``."""
    visible = record_queue.c.kind == kind, record_queue.c.visible_at <= now
    some = select(record_queue.c.enqueued_at).where(*visible).order_by(record_queue.c.visible_at, record_queue.c.id)
    counted = some.limit(limit).subquery()
    row = conn.execute(select(func.count(), func.min(counted.c.enqueued_at)).select_from(counted)).one()
    return QueueDepth(row[0], row[1])


def take(
    conn: Connection,
    kind: str,
    *,
    token: str,
    now: int,
    until: int,
    limit: int,
    suspect: int,
    before: int | None = None,
) -> list[QueueMessage]:
    """Take up to ``limit`` messages in order, and hide them ``until`` that time.

    A message that was taken ``suspect`` times and never finished may be what kills its workers: it is taken alone, so
    that the others do not lose their tries with it. ``before`` limits to messages with lower ids.
    """
    queue = record_queue.c
    query = select(record_queue).where(queue.kind == kind, queue.visible_at <= now)
    if before is not None:
        query = query.where(queue.id < before)
    query = query.order_by(queue.visible_at, queue.id).limit(limit).with_for_update(skip_locked=True)
    rows = conn.execute(query).mappings().all()
    unsuspected = [row for row in rows if row["tries"] < suspect]
    rows = unsuspected or rows[:1]
    _change(conn, [row["id"] for row in rows], token=token, visible_at=until, tries=queue.tries + 1)
    return [QueueMessage(row["id"], row["kind"], row["body"], row["enqueued_at"], row["tries"] + 1) for row in rows]


def held_ids(conn: Connection, ids: Collection[int], token: str) -> set[int]:
    """Those that no other worker has taken since."""
    mine = dialect_of(conn).one_of(record_queue.c.id, ids), record_queue.c.token == token
    return set(conn.scalars(select(record_queue.c.id).where(*mine).with_for_update()))


def finish(conn: Connection, ids: Collection[int]) -> None:
    conn.execute(delete(record_queue).where(dialect_of(conn).one_of(record_queue.c.id, ids)))


def extend(conn: Connection, ids: Collection[int], token: str, until: int) -> None:
    """Extend the visibility timeout of those that still have this token."""
    _change(conn, ids, held_by=token, visible_at=until)


def release(conn: Connection, id: int, visible_at: int) -> None:
    """Make the message visible again at that time."""
    _change(conn, [id], token=None, visible_at=visible_at)


def move_to_dead_letters(conn: Connection, message: QueueMessage, now: int, reason: str) -> None:
    dead = {
        "kind": message.kind,
        "body": message.body,
        "enqueued_at": message.enqueued_at,
        "failed_at": now,
        "tries": message.tries,
        "reason": reason,
    }
    conn.execute(insert(record_dead_letter).values(dead))
    finish(conn, [message.id])


def add_dead_letters(conn: Connection, kind: str, letters: Iterable[tuple[object, str]], now: int) -> None:
    """Add dead letters that never were in the queue: each body with its reason."""
    rows = [
        {"kind": kind, "body": body, "enqueued_at": now, "failed_at": now, "tries": 0, "reason": reason}
        for body, reason in letters
    ]
    if rows:
        conn.execute(insert(record_dead_letter), rows)


def dead_letters(conn: Connection, limit: int) -> Sequence[RowMapping]:
    """The dead letters, the newest first."""
    query = select(record_dead_letter).order_by(record_dead_letter.c.id.desc()).limit(limit)
    return conn.execute(query).mappings().all()


def replay(conn: Connection, ids: Collection[int] | None, now: int) -> list[int]:
    """Move dead letters, by default all, back into the queue as new messages; returns their ids."""
    query = select(record_dead_letter).order_by(record_dead_letter.c.id).with_for_update()
    if ids is not None:
        query = query.where(dialect_of(conn).one_of(record_dead_letter.c.id, ids))
    rows = conn.execute(query).mappings().all()
    again = [
        {"kind": r["kind"], "body": r["body"], "enqueued_at": r["enqueued_at"], "visible_at": now, "tries": 0}
        for r in rows
    ]
    replayed = [row["id"] for row in rows]
    if again:
        conn.execute(insert(record_queue), again)
    conn.execute(delete(record_dead_letter).where(dialect_of(conn).one_of(record_dead_letter.c.id, replayed)))
    return replayed


def counts(conn: Connection, now: int) -> dict[str, int]:
    """The messages of each kind that wait or are with a worker, and the dead letters."""
    queue = record_queue.c
    hidden = func.sum(func.coalesce(and_(queue.visible_at > now, queue.token.is_not(None)).cast(queue.tries.type), 0))
    rows = conn.execute(select(queue.kind, func.count(), hidden).group_by(queue.kind)).all()
    by_name = {f"{kind}_waiting": total - (with_worker or 0) for kind, total, with_worker in rows}
    by_name |= {f"{kind}_taken": with_worker or 0 for kind, _, with_worker in rows}
    dead = conn.scalar(select(func.count()).select_from(record_dead_letter)) or 0
    empty = dict.fromkeys(("load_waiting", "load_taken", "trace_waiting", "trace_taken"), 0)
    return {**empty, **by_name, "dead_letters": dead}


def is_empty(conn: Connection) -> bool:
    return conn.execute(select(record_queue.c.id).limit(1)).first() is None


def _change(conn: Connection, ids: Collection[int], *, held_by: str | None = None, **values: object) -> None:
    conditions = [dialect_of(conn).one_of(record_queue.c.id, ids)] + (
        [record_queue.c.token == held_by] if held_by is not None else []
    )
    conn.execute(update(record_queue).where(*conditions).values(**values))
