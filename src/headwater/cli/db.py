"""`headwater db`: upkeep of the database behind the store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headwater.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from headwater.cli.output import show

FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="Backup file. It is a SQLite store itself.")]

db = typer.Typer(help="Manage the database of the store.", no_args_is_help=False)


@db.callback()
def _group() -> None:
    """Manage the database of the store."""


@db.command()
def upgrade(store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """Upgrade the store to the schema version of this Headwater, in one transaction."""
    from headwater.cli.render.database import upgrade_text
    from headwater.store.engine.database import Database
    from headwater.store.schema.upgrade import upgrade as upgrade_store

    database = Database(store, create=False)
    try:
        before, after = upgrade_store(database)
    finally:
        database.close()
    show({"store": str(database), "before": before, "after": after}, as_json, upgrade_text)


@db.command()
def backup(file: FileArgument, store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """Copy the store to a file. Other processes can read and write meanwhile."""
    from headwater.cli.render.database import BackedUp, backup_text
    from headwater.store.engine.backup import backup as copy_store
    from headwater.store.engine.database import Database

    database = Database(store, create=False)
    try:
        size = copy_store(database, file)
    finally:
        database.close()
    show(BackedUp(store=str(database), file=str(file), bytes=size), as_json, backup_text)


@db.command("max-direct-edges")
def max_direct_edges(
    limit: Annotated[
        int, typer.Argument(metavar="N", min=0, help="Maximum number of edges (inputs times outputs) of one run.")
    ],
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Set the maximum number of direct edges of a run without stated lineage, and rebuild the graph from all events."""
    import headwater
    from headwater.cli.render.database import ChangedLimit, limit_text

    with headwater.connect(store, create=False) as lineage:
        changed = lineage.change_max_direct_edges(limit)
    answer = ChangedLimit(
        store=store, max_direct_edges=changed.max_direct_edges, before=changed.before, runs=changed.runs
    )
    show(answer, as_json, limit_text)


@db.command()
def restore(file: FileArgument, store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """Restore a backup into an empty store. Existing data is never overwritten."""
    from headwater.cli.render.database import RestoredRows, restore_text
    from headwater.store.engine.backup import restore as copy_back
    from headwater.store.engine.database import Database

    database = Database(store)
    try:
        rows = copy_back(file, database)
    finally:
        database.close()
    show(RestoredRows(store=str(database), file=str(file), rows=rows), as_json, restore_text)
