"""What is done to the record ledger, in the audit log."""

from __future__ import annotations

from sqlalchemy import Connection

from headwater.model.audit import Actor
from headwater.store import audit
from headwater.store.audit import Deed
from headwater.store.prepared import together
from headwater.store.standing import STANDING, Standing


def write_down(conn: Connection, actor: Actor, deed: Deed) -> None:
    """The caller holds the write lock."""
    ((told,),) = together(conn, [(STANDING, {})])
    audit.record(conn, Standing.told(told), [(actor, deed)])
