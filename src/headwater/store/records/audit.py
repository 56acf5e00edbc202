"""What is done to the record ledger, in the audit log."""

from __future__ import annotations

from sqlalchemy import Connection, select

from headwater.model.audit import Actor
from headwater.store.engine.prepared import Prepared
from headwater.store.log import audit
from headwater.store.log.audit import Deed
from headwater.store.log.log_head import GENESIS, Standing
from headwater.store.schema.tables import audit as log


def write_down(conn: Connection, actor: Actor, deed: Deed) -> None:
    """The caller holds the write lock."""
    # Of where the store stands only the head of the log is needed.
    head = _HEAD.rows(conn)
    seq, hash = head[0] if head else (0, GENESIS)
    audit.record(conn, Standing(seq, hash), [(actor, deed)])


_HEAD = Prepared(select(log.c.seq, log.c.hash).order_by(log.c.seq.desc()).limit(1))
