"""The maximum number of direct edges: one for all events of a store, stored in it, changed by one audited command."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import select, text

from headwater.errors import EvidenceBroken, StoreError
from headwater.store.engine.database import Database
from headwater.store.fold.edge_limits import LIMITED, read_max_direct_edges
from headwater.store.schema.tables import audit
from headwater.store.schema.upgrade import upgrade
from headwater.store.store import Store
from tests.oracles.dump import differences, state_of_store
from tests.support.events import column_lineage, dataset_event, job_event, run_event, used
from tests.support.versions import take_back

INPUTS, OUTPUTS = ["a", "b", "c"], ["x", "y"]
STATED = {"columnLineage": column_lineage({"id": [("a", "id", "DIRECT", "IDENTITY")]})}


def events() -> list[dict[str, Any]]:
    """Six edges of a run, then others of the same and of another job, a late event, declarations and an alias."""
    links = {"symlinks": {"identifiers": [{"namespace": "catalog", "name": "x", "type": "TABLE"}]}}
    return [
        run_event(run="one", job="j", inputs=INPUTS, outputs=OUTPUTS),
        run_event(run="two", job="j", minute=1, inputs=["a", "b"], outputs=OUTPUTS),
        run_event(run="three", job="j", minute=2, inputs=INPUTS, outputs=["x"]),
        run_event(run="four", job="k", minute=3, inputs=OUTPUTS, outputs=["z"]),
        run_event(run="five", job="k", minute=4, inputs=OUTPUTS, outputs=[used("z", facets=STATED), "v"]),
        run_event("RUNNING", run="one", job="j", minute=5, inputs=["d"], outputs=[]),
        job_event(job="declared", inputs=INPUTS, outputs=OUTPUTS, minute=6),
        dataset_event(used("x", facets=links), minute=7),
    ]


def via_job(store: Store, name: str) -> set[bool]:
    return {node.via.via_job for node in store.upstream(name, depth=1).nodes}


def limit_of(store: Store) -> int:
    with store._database.read() as conn:
        return read_max_direct_edges(conn)


def logged(store: Store) -> list[Any]:
    with store._database.read() as conn:
        details = conn.scalars(select(audit.c.details).where(audit.c.event_type == LIMITED).order_by(audit.c.seq))
        return [json.loads(one) for one in details]


def test_a_store_keeps_the_limit_of_its_creation(durable_url: str) -> None:
    with Store(durable_url, max_direct_edges=3) as store:
        store.ingest(run_event(job="j", inputs=INPUTS, outputs=OUTPUTS))
    with Store(durable_url) as other:  # a process with other settings
        other.ingest(run_event(run="next", job="k", minute=1, inputs=INPUTS, outputs=OUTPUTS))
        other.verify()
        assert via_job(other, "x") == {True}
        assert logged(other) == [{"before": 10_000, "max_direct_edges": 3}]
    with pytest.raises(StoreError, match=r"has a maximum of 3 direct edges, not 4\. `headwater db max-direct-edges 4`"):
        Store(durable_url, max_direct_edges=4)
    Store(durable_url, max_direct_edges=3).close()


def test_the_environment_is_for_new_stores(durable_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_MAX_DIRECT_EDGES", "3")
    with Store(durable_url) as store:
        assert limit_of(store) == 3
        store.ingest(run_event(inputs=["a"], outputs=["b"]))
    monkeypatch.setenv("HEADWATER_MAX_DIRECT_EDGES", "5")
    with Store(durable_url) as store:
        assert limit_of(store) == 3


@pytest.mark.parametrize(("first", "then"), [(10_000, 3), (3, 10_000), (3, 0)])
def test_a_change_folds_all_events_again(durable_url: str, first: int, then: int) -> None:
    with Store("memory://", max_direct_edges=then) as fresh, Store(durable_url, max_direct_edges=first) as store:
        fresh.ingest_many(events())
        store.ingest_many(events())
        changed = store.change_max_direct_edges(then)
        assert (changed.before, changed.max_direct_edges, changed.runs) == (first, then, 5)
        assert not differences(state_of_store(fresh), state_of_store(store))
        assert via_job(store, "y") == {then < 6}
        store.verify()
        for opened in (fresh, store):  # what either remembers is of no harm
            opened.ingest(run_event(run="six", job="j", minute=9, inputs=INPUTS, outputs=OUTPUTS))
        assert not differences(state_of_store(fresh), state_of_store(store))
        store.verify()


def test_an_open_store_folds_under_the_new_limit(durable_url: str) -> None:
    with Store(durable_url) as writer, Store(durable_url) as operator:
        writer.ingest(run_event(run="one", job="j", inputs=INPUTS, outputs=OUTPUTS))
        operator.change_max_direct_edges(3)
        writer.ingest(run_event(run="two", job="j", minute=1, inputs=INPUTS, outputs=OUTPUTS))
        assert via_job(writer, "x") == {True}
        writer.verify()


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE graph_limit SET max_direct_edges = 7", "it is 7, and entry 1 of the log makes it 3"),
        ("INSERT INTO graph_limit VALUES (2, 7)", "the store has a second one"),
        ("DELETE FROM graph_limit", "it is 10,000, and entry 1 of the log makes it 3"),
    ],
)
def test_a_limit_that_the_log_does_not_contain_is_named(durable_url: str, statement: str, words: str) -> None:
    with Store(durable_url, max_direct_edges=3) as store:
        store.ingest_many(events())
        with store._database.write() as conn:
            conn.execute(text(statement))
        with pytest.raises(EvidenceBroken, match=words):
            store.verify()


def test_a_store_of_an_earlier_version_gets_the_default(durable_url: str) -> None:
    """A store that was folded under another limit is named, and the command folds it again."""
    with Store(durable_url) as store:
        with store._database.write() as conn:  # as an earlier version: without an entry in the log
            conn.execute(text("INSERT INTO graph_limit VALUES (1, 3)"))
        store.ingest_many(events())
        take_back(store, "0008")
    database = Database(durable_url)
    upgrade(database)
    database.close()
    with Store(durable_url) as store:
        assert limit_of(store) == 10_000
        with pytest.raises(EvidenceBroken, match="direct edges"):
            store.verify()
        store.change_max_direct_edges(3)
        store.verify()


@pytest.mark.parametrize("limit", ["many", "-1", "1.5", str(2**63)])
def test_a_limit_is_a_number(monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    monkeypatch.setenv("HEADWATER_MAX_DIRECT_EDGES", limit)
    with pytest.raises(StoreError, match="HEADWATER_MAX_DIRECT_EDGES"):
        Store("memory://")
    with pytest.raises(StoreError, match="not -1"):
        Store("memory://", max_direct_edges=-1)
