"""How tasks that are not in this process reach the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.errors import ArchiveUnusable

if TYPE_CHECKING:
    from headwater.store.engine.database import Database


def address_of(database: Database) -> tuple[str, bool]:
    """The address, and whether it is a file of SQLite."""
    if not database.is_sqlite:
        return database.url.set(drivername="postgresql").render_as_string(hide_password=False), False
    if database.file is None:
        raise ArchiveUnusable("A store in memory cannot be read from other processes: its records stay where they are.")
    return str(database.file), True
