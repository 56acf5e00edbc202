"""The audit log through a veil: the entries about what is seen.

An entry says what it is about in words, which two names can share, so it is looked up: an event by its digest, a
certificate by its run. Entries about anything else, keys and checkpoints, are about the store as a whole: no veil shows
them. The numbers of the others are as they are, so how many entries there are in all is not hidden.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from sqlalchemy import Connection, Row, Select, select

from headwater.model.audit import AuditEntry
from headwater.store.access.visibility import Veil, event_seen, run_whole
from headwater.store.log.audit import INGESTED, asked_for, read_entry
from headwater.store.log.certificates import ISSUED
from headwater.store.log.verify_events import digest_in
from headwater.store.schema.name_keys import key_of
from headwater.store.schema.tables import audit, event, run

_FIRST, _MOST = 200, 5000
"""Entries looked at together: more and more of them, where few are seen among many that are not."""


def seen_entries(
    conn: Connection, veil: Veil, *, limit: int, before: int | None = None, **equals: str | None
) -> list[AuditEntry]:
    """As :func:`headwater.store.log.audit.entries`: the newest first."""
    return [read_entry(row) for row in islice(_seen(conn, asked_for(before=before, **equals), veil), limit)]


def _seen(conn: Connection, query: Select[Any], veil: Veil) -> Iterator[Row[Any]]:
    at_once = _FIRST
    rows = conn.execute(query.limit(at_once)).all()
    while rows:
        numbers = _numbers_seen(conn, rows, veil)
        yield from (row for row in rows if row.seq in numbers)
        if len(rows) < at_once:
            return
        at_once = min(2 * at_once, _MOST)
        rows = conn.execute(query.where(audit.c.seq < rows[-1].seq).limit(at_once)).all()


def entry_seen(conn: Connection, seq: int, veil: Veil) -> bool:
    return bool(_numbers_seen(conn, conn.execute(select(audit).where(audit.c.seq == seq)).all(), veil))


def _numbers_seen(conn: Connection, rows: Sequence[Row[Any]], veil: Veil) -> set[int]:
    told = {_digest(row): row.seq for row in rows if row.event_type == INGESTED}
    certified: dict[bytes, list[int]] = {}
    for row in rows:
        if row.event_type == ISSUED and row.resource_id is not None:
            certified.setdefault(key_of(row.resource_id), []).append(row.seq)
    events = select(event.c.digest).where(event.c.digest.in_(told), event_seen(veil))
    runs = select(run.c.key).where(run.c.key.in_(certified), run_whole(veil, run.c.id))
    seen = {told[bytes(digest)] for digest in conn.scalars(events)} if told else set()
    return seen.union(*(certified[bytes(key)] for key in conn.scalars(runs))) if certified else seen


def _digest(row: Row[Any]) -> bytes:
    """Nothing where somebody has tampered with it: no event is found by that."""
    try:
        return bytes.fromhex((digest_in(row.details) or "").removeprefix("sha256:"))
    except ValueError:
        return b""
