"""Forges a log: rewrites everything from the first entry on, so that it is consistent."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import rfc8785
from sqlalchemy import Connection, delete, insert, select

from headwater.model.audit import Actor
from headwater.proof.history import ADOPTED
from headwater.proof.keys import KeyRing
from headwater.store.log import checkpoints
from headwater.store.log.merkle_log import grow, size_of
from headwater.store.schema.tables import audit, checkpoint, log_tile
from headwater.store.store import Store
from tests.assurance.stores import disarm


def rewrite(store: Store, change: Mapping[int, Mapping[str, Any]], *, sign: KeyRing) -> None:
    """Changes values of entries, recomputes all later hashes, and signs everything again."""
    with store._database.read() as conn:
        rows = [dict(row._mapping) for row in conn.execute(select(audit).order_by(audit.c.seq))]
    with store._database.write() as conn:
        disarm(conn)
        for table in (audit, checkpoint, log_tile):
            conn.execute(delete(table))
        for row in rows:
            if row["event_type"] == ADOPTED:
                checkpoints._record(conn, Actor(row["actor_id"]), ADOPTED, checkpoints.origin(conn), sign.newest)
            elif row["event_type"] == checkpoints.ANNOUNCED:
                checkpoints.sign(conn, sign, Actor("forger"))
            else:
                put(conn, {**row, **change.get(row["seq"], {})})


def put(conn: Connection, row: Mapping[str, Any]) -> None:
    """An entry with those values as the next one; its hash by the published rule, not by our code."""
    before = size_of(conn)
    previous = conn.scalars(select(audit.c.hash).where(audit.c.seq == before)).one_or_none()
    entry = {name: row[name] for name in row if name not in ("hash", "previous_hash")} | {"seq": before + 1}
    previous = bytes(32) if previous is None else bytes(previous)
    digest = sha256(rfc8785.dumps({**entry, "previous_hash": previous.hex()})).digest()
    conn.execute(insert(audit), {**entry, "previous_hash": previous, "hash": digest})
    grow(conn, before, before + 1)
