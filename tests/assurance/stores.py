"""Stores with evidence in them, and ways around their triggers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, text

from headwater.proof.keys import KeyRing
from headwater.store.store import Store
from tests.support.events import Json, run_event

PROTECTED = ("audit", "log_tile", "checkpoint", "certificate")


def manifest(source: str = "sha256:aa", target: str = "sha256:bb", **others: Any) -> dict[str, Any]:
    """The run facets of a run that ends with evidence."""
    return {
        "cdme.runManifest": {"inputChecksums": {"orders": source}, "outputChecksums": {"daily": target}, **others},
        "cdme.accountingLedger": {"inputRecordCount": 3, "processedCount": 3, "balanced": True},
    }


def ended(run: str, *, facets: Mapping[str, Any] | None = None, event_type: str = "COMPLETE", **options: Any) -> Json:
    return run_event(event_type, run=run, run_facets=manifest() if facets is None else facets, **options)


def fill(store: Store, key_file: Path) -> KeyRing:
    """A log with every kind of content except tiles: two certificates, two keys, two checkpoints."""
    ring = KeyRing.create(key_file)
    store.ingest(run_event("START", run="one"))
    store.ingest(ended("one", inputs=["orders"], outputs=["daily"]))
    store.checkpoint(key=ring)
    store.rotate_key(key=ring)
    ring = KeyRing.load(key_file)
    store.ingest(ended("two", minute=5))
    store.checkpoint(key=ring)
    return ring


def disarm(conn: Connection) -> None:
    """Removes the triggers, as a user with all rights to the database can."""
    if conn.dialect.name == "postgresql":
        for table in PROTECTED:
            conn.execute(text(f"ALTER TABLE {table} DISABLE TRIGGER USER"))
        return
    for (name,) in conn.execute(text("SELECT name FROM sqlite_master WHERE type = 'trigger'")).all():
        conn.execute(text(f"DROP TRIGGER {name}"))


def tamper(store: Store, *statements: Any) -> None:
    with store._database.write() as conn:
        disarm(conn)
        for statement in statements:
            conn.execute(text(statement) if isinstance(statement, str) else statement)
