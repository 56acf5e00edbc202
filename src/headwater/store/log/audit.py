"""The append-only audit log.

Each entry's hash covers the entry and the hash before it: SHA-256 over RFC 8785 canonical JSON, so it can be
recomputed with another implementation. Triggers (see the migrations) refuse UPDATE and DELETE; the chain detects
changes that bypass the triggers (``verify.py``), except a rewrite from some entry to the end: to detect that, a
checkpoint must be stored elsewhere.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection, Row, Select, insert, select

from headwater.model.audit import Actor, AuditEntry
from headwater.store.engine.prepared import Prepared
from headwater.store.log.log_head import Standing
from headwater.store.log.merkle_log import grow
from headwater.store.schema.tables import audit, from_micros, to_micros

ALGORITHM = "sha256-rfc8785"
INGESTED = "event.ingested"
_HASHED = [c.name for c in audit.c if c.name not in ("hash", "previous_hash")]
_INSERT = Prepared(insert(audit))


@dataclass(frozen=True, slots=True)
class Deed:
    """One thing to be recorded."""

    event_type: str
    action: str
    resource_type: str | None
    resource_id: str | None
    details: Mapping[str, str] | str
    """Canonical JSON where it is text already."""


def record(conn: Connection, standing: Standing, deeds: Sequence[tuple[Actor, Deed]]) -> None:
    """Append to the log and move the head. The caller holds the write lock, so no other process moves it."""
    before, now = standing.seq, to_micros(datetime.now(UTC))
    rows = []
    for actor, deed in deeds:
        standing.seq += 1
        row: dict[str, int | str | None] = {
            "seq": standing.seq,
            "recorded_at": now,
            "event_type": deed.event_type,
            "actor_id": actor.id,
            "actor_type": actor.type,
            "resource_type": deed.resource_type,
            "resource_id": deed.resource_id,
            "action": deed.action,
            "details": deed.details if isinstance(deed.details, str) else _canonical(deed.details),
            "correlation_id": actor.correlation_id,
            "client_ip": actor.client_ip,
            "user_agent": actor.user_agent,
            "algorithm": ALGORITHM,
        }
        previous = standing.hash
        standing.hash = hashlib.sha256(_canonical(_hashed(row, previous)).encode()).digest()
        rows.append(row | {"previous_hash": previous, "hash": standing.hash})
    _INSERT.run(conn, rows)
    grow(conn, before, standing.seq)


def _hashed(row: Mapping[str, object], previous: bytes) -> dict[str, object]:
    return {name: row[name] for name in _HASHED} | {"previous_hash": previous.hex()}


# An entry is made of texts, whole numbers and nulls under names of plain letters. For these Python's own JSON is the
# canonical one, and many times as quick as rfc8785; a test holds the two together.
_canonical = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode


def entries(conn: Connection, *, limit: int, before: int | None = None, **equals: str | None) -> list[AuditEntry]:
    """The newest entries first; ``equals`` filters by column."""
    query = asked_for(before=before, **equals).limit(limit)
    return [read_entry(row) for row in conn.execute(query)]


def asked_for(*, before: int | None = None, **equals: str | None) -> Select[*tuple[object, ...]]:
    query = select(audit).order_by(audit.c.seq.desc())
    if before is not None:
        query = query.where(audit.c.seq < before)
    for column, value in equals.items():
        if value is not None:
            query = query.where(audit.c[column] == value)
    return query


def read_entry(row: Row[*tuple[object, ...]]) -> AuditEntry:
    fields = dict(row._mapping)
    fields["recorded_at"] = from_micros(row.recorded_at)
    fields["details"] = json.loads(row.details)
    fields["previous_hash"], fields["hash"] = row.previous_hash.hex(), row.hash.hex()
    return AuditEntry(**fields)
