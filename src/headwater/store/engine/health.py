"""How a store is: what its log says of the time, and whether it could be written. Nothing is changed by asking."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

from sqlalchemy import func, insert, select, text
from sqlalchemy.sql.expression import false

from headwater.store.engine.database import Database
from headwater.store.engine.dialect import dialect_of
from headwater.store.schema.tables import audit, event, from_micros

_NEWEST_EVENTS = 1_000


class Times(NamedTuple):
    entry: datetime | None
    """When the newest entry of the log was made."""
    event: datetime | None
    """The latest time that one of the newest events gives itself."""
    database: datetime | None
    """What the database server takes for now; a file has no clock."""


def times(database: Database) -> Times:
    with database.read() as conn:
        entry = conn.scalar(select(audit.c.recorded_at).order_by(audit.c.seq.desc()).limit(1))
        newest = select(event.c.event_time).order_by(event.c.id.desc()).limit(_NEWEST_EVENTS).subquery()
        latest = conn.scalar(select(func.max(newest.c.event_time)))
        now = dialect_of(conn).now(conn)
    return Times(
        None if entry is None else from_micros(entry),
        None if latest is None else from_micros(latest),
        None if now is None else now.astimezone(UTC),
    )


def journal_mode(database: Database) -> str | None:
    """Of a file of SQLite, after it was opened, which sets WAL where that can be."""
    if database.file is None:
        return None
    with database.read() as conn:
        return str(conn.scalar(text("PRAGMA journal_mode")))


def try_writing(database: Database) -> None:
    """Raises a StoreError if events could not be stored. No row is written, but the rights to write are checked as
    for any."""
    with database.write(alone=False) as conn:
        for table in (event, audit):
            nothing = select(table).where(false())
            conn.execute(insert(table).from_select([column.name for column in table.c], nothing))
