"""Who did what, and when: one entry per event, in the transaction that stores the event."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime, timedelta

import pytest
import rfc8785
from sqlalchemy import select, text

from headwater.model.audit import Actor, AuditEntry
from headwater.store.schema.tables import audit, metadata
from headwater.store.store import Store
from tests.store.short_answers import links, row_counts
from tests.support.events import (
    column_lineage,
    dataset_event,
    job_event,
    run_event,
    run_id,
    schema,
    symlinks,
    used,
    written_in_part,
)

ACTOR = Actor("ann", "user", correlation_id="request 7", client_ip="192.0.2.1", user_agent="curl/8")


def test_the_facts_of_an_entry(store: Store) -> None:
    before = datetime.now(UTC)
    receipt = store.ingest(run_event("START", run="monday", job="load", minute=5), actor=ACTOR)
    (entry,) = store.audit()
    assert (entry.seq, entry.event_type, entry.action) == (1, "event.ingested", "ingest")
    assert (entry.actor_id, entry.actor_type) == ("ann", "user")
    assert (entry.resource_type, entry.resource_id) == ("run", run_id("monday"))
    assert entry.details == {
        "digest": f"sha256:{receipt.digest}",
        "event_time": "2026-11-15T06:05:00+00:00",
        "event_type": "START",
        "job": "scheduler/load",
    }
    assert (entry.correlation_id, entry.client_ip, entry.user_agent) == ("request 7", "192.0.2.1", "curl/8")
    assert before - timedelta(milliseconds=1) <= entry.recorded_at <= datetime.now(UTC)


def test_resources_of_each_kind(store: Store) -> None:
    store.ingest_many([run_event(run="r"), job_event(job="j"), dataset_event("d")])
    newest_first = [(entry.resource_type, entry.resource_id) for entry in store.audit()]
    assert newest_first == [("dataset", "warehouse/d"), ("job", "scheduler/j"), ("run", run_id("r"))]


def test_the_default_actor_is_that_of_the_store(store_url: str) -> None:
    with Store(store_url, actor=Actor("robot", "service")) as store:
        store.ingest(run_event(run="1"))
        store.ingest(run_event(run="2"), actor=ACTOR)
        assert [(entry.actor_id, entry.actor_type) for entry in store.audit()] == [
            ("ann", "user"),
            ("robot", "service"),
        ]


def test_without_any_actor_the_system_user_is_recorded(store: Store) -> None:
    import getpass

    store.ingest(run_event())
    assert store.audit()[0].actor_id == getpass.getuser()


def test_every_event_is_audited_and_a_duplicate_is_not(store: Store) -> None:
    events = [run_event(run=str(i), inputs=["a"], outputs=["x"], minute=i) for i in range(5)]
    for event in (*events, *events):
        store.ingest(event)
    store.ingest_many(events)
    assert [entry.seq for entry in store.audit()] == [5, 4, 3, 2, 1]
    assert store.verify()[0] == 5


def test_filters_and_pages(store: Store) -> None:
    for i in range(6):
        store.ingest(run_event(run=str(i)), actor=Actor(f"actor {i % 2}", correlation_id=f"request {i // 2}"))

    def numbers(entries: list[AuditEntry]) -> list[int]:
        return [entry.seq for entry in entries]

    assert numbers(store.audit(actor="actor 1")) == [6, 4, 2]
    assert numbers(store.audit(correlation_id="request 1")) == [4, 3]
    assert numbers(store.audit(resource=run_id("2"))) == [3]
    assert numbers(store.audit(event_type="event.ingested", limit=2)) == [6, 5]
    assert numbers(store.audit(before=5, limit=2)) == [4, 3]
    assert numbers(store.audit(event_type="nothing of this kind")) == []


def everything() -> list[dict[str, object]]:
    """A batch that writes to every table except that of checkpoints, if the log has 253 entries."""
    facets = {
        "schema": schema("c"),
        "columnLineage": column_lineage({"c": [("a", "c")]}),
        "symlinks": symlinks("alias"),
    }
    output = written_in_part("x", "p", **facets)
    manifest: dict[str, object] = {"cdme.runManifest": {}}
    return [
        run_event(inputs=["a"], outputs=[output], run_facets=manifest),
        job_event(job="j", inputs=[used("a")], outputs=["y"]),
    ]


NOT_OF_EVENTS = {
    "checkpoint",
    "capture_key",
    "graph_limit",
    *(name for name in metadata.tables if name.startswith(("record_", "access_", "exchange_"))),
}


def test_a_fault_anywhere_leaves_neither_event_nor_entry(store: Store) -> None:
    """Whichever table refuses its row, the first or the last to be written: nothing of the ingest remains."""
    store.ingest_many(run_event("START", run=str(i)) for i in range(252))
    store.ingest(run_event(run="before", inputs=["old"], outputs=["older"]))
    before, head = row_counts(store), store.verify()
    for table in sorted(metadata.tables.keys() - NOT_OF_EVENTS):
        refuse_inserts(store, table)
        with pytest.raises(Exception, match="injected"):
            store.ingest_many(everything())
        assert row_counts(store) == before, table
        assert store.verify() == head, table
        accept_inserts(store)
    store.ingest_many(everything())
    assert store.verify()[0] == 256
    assert links(store) == {("old", "older"), ("a", "x"), ("a", "y")}


def refuse_inserts(store: Store, table: str) -> None:
    if store._database.is_sqlite:
        statements = [f"CREATE TRIGGER fault BEFORE INSERT ON {table} BEGIN SELECT RAISE(ABORT, 'injected'); END"]
    else:
        statements = [
            "CREATE FUNCTION fault() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'injected'; END $$",
            f"CREATE TRIGGER fault BEFORE INSERT ON {table} EXECUTE FUNCTION fault()",
        ]
    with store._database.write() as conn:
        for statement in statements:
            conn.execute(text(statement))


def accept_inserts(store: Store) -> None:
    with store._database.write() as conn:
        conn.execute(text("DROP TRIGGER fault" if store._database.is_sqlite else "DROP FUNCTION fault CASCADE"))


def test_a_hash_can_be_recomputed(store: Store) -> None:
    """The rule: SHA-256 over the RFC 8785 form of the entry's columns, with the hash before it in hexadecimal."""
    for i in range(3):
        store.ingest(run_event(run=f"größe {i}", job="läuft"), actor=ACTOR)
    with store._database.read() as conn:
        rows = [dict(row._mapping) for row in conn.execute(select(audit).order_by(audit.c.seq))]
    previous = "00" * 32
    for row in rows:
        kept, kept_previous = bytes(row.pop("hash")).hex(), bytes(row.pop("previous_hash")).hex()
        assert set(row) == {
            "seq", "recorded_at", "event_type", "actor_id", "actor_type", "resource_type", "resource_id", "action",
            "details", "correlation_id", "client_ip", "user_agent", "algorithm",
        }  # fmt: skip
        assert rfc8785.dumps(json.loads(row["details"])).decode() == row["details"]
        assert row["algorithm"] == "sha256-rfc8785"
        digest = hashlib.sha256(rfc8785.dumps({**row, "previous_hash": previous})).hexdigest()
        assert (kept, kept_previous) == (digest, previous)
        previous = digest
    assert store.verify()[:2] == (3, previous)
    assert store.audit(limit=1)[0].hash == previous


def test_an_empty_log_verifies(store: Store) -> None:
    assert store.verify()[:2] == (0, "00" * 32)


def test_a_log_longer_than_a_page_verifies(store: Store) -> None:
    store.ingest_many(run_event(run=str(i)) for i in range(2_001))
    assert store.verify()[0] == 2_001
