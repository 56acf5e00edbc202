"""The audit log as far as it is visible: the entries about what is visible.

An entry says what it is about in words, which two names can share, so it is looked up: an event by its digest, a
certificate by its run. Entries about anything else, keys and checkpoints, are about the store as a whole: only who sees
everything sees them. Entries keep their numbers, so how many there are in all is not hidden.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from sqlalchemy import Row, Select, select

from headwater.model.audit import AuditEntry
from headwater.store.access.view import View
from headwater.store.log.audit import INGESTED, asked_for, read_entry
from headwater.store.log.certificates import ISSUED
from headwater.store.log.verify_events import digest_in
from headwater.store.schema.name_keys import key_of
from headwater.store.schema.tables import audit

_FIRST, _MOST = 200, 5000
"""Entries looked at together: more and more of them, where few among many are visible."""


def visible_entries(view: View, *, limit: int, before: int | None = None, **equals: str | None) -> list[AuditEntry]:
    """As :func:`headwater.store.log.audit.entries`: the newest first."""
    return [read_entry(row) for row in islice(_visible(view, asked_for(before=before, **equals)), limit)]


def _visible(view: View, query: Select[*tuple[object, ...]]) -> Iterator[Row[*tuple[object, ...]]]:
    at_once = _FIRST
    rows = view.execute(query.limit(at_once)).all()
    while rows:
        numbers = _visible_numbers(view, rows)
        yield from (row for row in rows if row.seq in numbers)
        if len(rows) < at_once:
            return
        at_once = min(2 * at_once, _MOST)
        rows = view.execute(query.where(audit.c.seq < rows[-1].seq).limit(at_once)).all()


def entry_visible(view: View, seq: int) -> bool:
    return bool(_visible_numbers(view, view.execute(select(audit).where(audit.c.seq == seq)).all()))


def _visible_numbers(view: View, rows: Sequence[Row[*tuple[object, ...]]]) -> set[int]:
    ingested = {_digest(row): row.seq for row in rows if row.event_type == INGESTED}
    certified: dict[bytes, list[int]] = {}
    for row in rows:
        if row.event_type == ISSUED and row.resource_id is not None:
            certified.setdefault(key_of(row.resource_id), []).append(row.seq)
    event, run = view.tables.event, view.tables.run
    events = select(event.c.digest).where(event.c.digest.in_(ingested))
    runs = select(run.c.key).where(run.c.key.in_(certified), view.tables.run_is_whole(run.c.id))
    visible = {ingested[bytes(digest)] for digest in view.scalars(events)} if ingested else set()
    return visible.union(*(certified[bytes(key)] for key in view.scalars(runs))) if certified else visible


def _digest(row: Row[*tuple[object, ...]]) -> bytes:
    """None if it was tampered with: then no event has it."""
    try:
        return bytes.fromhex((digest_in(row.details) or "").removeprefix("sha256:"))
    except ValueError:
        return b""
