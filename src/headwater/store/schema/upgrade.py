"""Is the database at the version this code speaks? And bringing it there."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Column, Connection, MetaData, Table, Text, inspect, select

from headwater.errors import StoreMissing, StoreNotOurs, StoreOutdated, StoreTooNew
from headwater.store.engine.database import Database
from headwater.store.schema import access_tables as _access_tables  # noqa: F401 (its tables are part of the metadata)
from headwater.store.schema import record_tables as _record_tables  # noqa: F401 (its too)
from headwater.store.schema.migrations import HEAD, REVISIONS, VERSION_TABLE
from headwater.store.schema.tables import metadata

_VERSION = Table(VERSION_TABLE, MetaData(), Column("version_num", Text))


def version_of(database: Database) -> str | None:
    """None where nothing of ours is in the database."""
    with database.read() as conn:
        return _version(conn)


def ensure_current(database: Database, *, create: bool) -> None:
    """Return if the store is at this code's version; make it if the database is empty and ``create`` says so."""
    with database.read() as conn:
        version = _version(conn)
        if version is None:
            _refuse_foreign_tables(conn, database)
    if version is None and create:
        upgrade(database)
    elif version is None:
        raise StoreMissing(f"There is no store at {database}. `headwater ingest` makes one.")
    elif version not in REVISIONS:
        raise StoreTooNew(
            f"The store at {database} is at version {version}, newer than this Headwater knows ({HEAD}). "
            "Upgrade Headwater."
        )
    elif version != HEAD:
        raise StoreOutdated(
            f"The store at {database} is at version {version}; this Headwater needs {HEAD}. Run `headwater db upgrade`."
        )


def upgrade(database: Database) -> tuple[str | None, str]:
    """Migrate to this code's version, whole or not at all; the version before and after."""
    from alembic import command
    from alembic.config import Config

    with database.write() as conn:
        before = _version(conn)
        if before is None:
            _refuse_foreign_tables(conn, database)
        elif before not in REVISIONS:
            raise StoreTooNew(f"The store at {database} is at version {before}, newer than this Headwater.")
        if before != HEAD:
            config = Config()
            config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
            config.attributes["connection"] = conn
            command.upgrade(config, "head")
    return before, HEAD


def _version(conn: Connection) -> str | None:
    if not inspect(conn).has_table(VERSION_TABLE):
        return None
    return conn.execute(select(_VERSION.c.version_num)).scalar()


def _refuse_foreign_tables(conn: Connection, database: Database) -> None:
    inspector = inspect(conn)
    taken = sorted({*inspector.get_table_names(), *inspector.get_view_names()} & set(metadata.tables))
    if taken:
        raise StoreNotOurs(
            f"{database} is not a Headwater store, but has tables of the same names: {', '.join(taken)}. "
            "Give Headwater a database or schema of its own."
        )
