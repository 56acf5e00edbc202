"""The append-only audit log.

Each entry's hash covers the entry and the hash before it: SHA-256 over RFC 8785 canonical JSON, so anybody can
recompute it with another implementation. Triggers (see the migrations) refuse UPDATE and DELETE; the chain shows
what was done behind the triggers' back, except a cut at the very end, for which the head has to be kept elsewhere.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import rfc8785
from sqlalchemy import Connection, Row, insert, select

from headwater.errors import AuditBroken
from headwater.model.audit import Actor, AuditEntry
from headwater.store.prepared import Prepared
from headwater.store.standing import GENESIS, Standing
from headwater.store.tables import audit, from_micros, to_micros

ALGORITHM = "sha256-rfc8785"
_HASHED = [c.name for c in audit.c if c.name not in ("hash", "previous_hash")]
_INSERT = Prepared(insert(audit))
_PAGE = 2_000


@dataclass(frozen=True, slots=True)
class Deed:
    """One thing to be recorded."""

    event_type: str
    action: str
    resource_type: str | None
    resource_id: str | None
    details: Mapping[str, str]


def record(conn: Connection, standing: Standing, deeds: Sequence[tuple[Actor, Deed]]) -> None:
    """Append to the log and move the head. The caller holds the write lock, so nobody else moves it."""
    now = to_micros(datetime.now(UTC))
    rows = []
    for actor, deed in deeds:
        standing.seq += 1
        row: dict[str, Any] = {
            "seq": standing.seq,
            "recorded_at": now,
            "event_type": deed.event_type,
            "actor_id": actor.id,
            "actor_type": actor.type,
            "resource_type": deed.resource_type,
            "resource_id": deed.resource_id,
            "action": deed.action,
            "details": _canonical(deed.details),
            "correlation_id": actor.correlation_id,
            "client_ip": actor.client_ip,
            "user_agent": actor.user_agent,
            "algorithm": ALGORITHM,
        }
        previous = standing.hash
        standing.hash = hashlib.sha256(_canonical(_hashed(row, previous)).encode()).digest()
        rows.append(row | {"previous_hash": previous, "hash": standing.hash})
    _INSERT.run(conn, rows)


def _hashed(row: Mapping[Any, Any], previous: bytes) -> dict[str, Any]:
    return {name: row[name] for name in _HASHED} | {"previous_hash": previous.hex()}


# An entry is made of texts, whole numbers and nulls under names of plain letters. For these Python's own JSON is the
# canonical one, and many times as quick; verifying goes by rfc8785, so that neither has to be taken at its word.
_canonical = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode


def verify(conn: Connection) -> tuple[int, str]:
    """Recompute the whole chain: how many entries hold and the head's hash, or :class:`AuditBroken`."""
    seq, previous = 0, GENESIS
    for row in _in_order(conn):
        seq += 1
        if row.seq != seq:
            raise AuditBroken(seq, f"missing; the next entry there is {row.seq}")
        if row.previous_hash != previous:
            raise AuditBroken(seq, "it does not follow from the entry before it")
        if row.algorithm != ALGORITHM:
            raise AuditBroken(seq, f"unknown algorithm {row.algorithm!r}")
        try:
            recomputed = rfc8785.dumps(_hashed(row._mapping, previous))
            matches = hashlib.sha256(recomputed).digest() == row.hash
        except rfc8785.CanonicalizationError:  # something that we never write and that has no canonical form
            matches = False
        if not matches:
            raise AuditBroken(seq, "its content does not match its hash")
        previous = row.hash
    return seq, previous.hex()


def _in_order(conn: Connection) -> Iterator[Row[Any]]:
    """From the lowest number there is, so that an entry smuggled in before the first shows too."""
    query = select(audit).order_by(audit.c.seq).limit(_PAGE)
    page = conn.execute(query).all()
    while page:
        yield from page
        page = conn.execute(query.where(audit.c.seq > page[-1].seq)).all()


def entries(conn: Connection, *, limit: int, before: int | None = None, **equals: str | None) -> list[AuditEntry]:
    """The newest entries first; ``equals`` filters by column."""
    query = select(audit).order_by(audit.c.seq.desc()).limit(limit)
    if before is not None:
        query = query.where(audit.c.seq < before)
    for column, value in equals.items():
        if value is not None:
            query = query.where(audit.c[column] == value)
    return [_entry(row) for row in conn.execute(query)]


def _entry(row: Row[Any]) -> AuditEntry:
    fields = dict(row._mapping)
    fields["recorded_at"] = from_micros(row.recorded_at)
    fields["details"] = json.loads(row.details)
    fields["previous_hash"], fields["hash"] = row.previous_hash.hex(), row.hash.hex()
    return AuditEntry(**fields)
