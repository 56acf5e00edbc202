"""`headwater db`: upkeep of the database behind the store."""

from __future__ import annotations

import typer

from headwater.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from headwater.cli.output import show

db = typer.Typer(help="Look after the database behind the store.", no_args_is_help=False)


@db.callback()
def _group() -> None:
    """Look after the database behind the store."""


@db.command()
def upgrade(store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """Bring the store to the version this Headwater speaks, whole or not at all."""
    from headwater.cli.render.database import upgraded
    from headwater.store.engine import Database
    from headwater.store.upgrade import upgrade as upgrade_store

    database = Database(store, create=False)
    try:
        before, after = upgrade_store(database)
    finally:
        database.close()
    show({"store": str(database), "before": before, "after": after}, as_json, upgraded)
