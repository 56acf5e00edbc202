"""Provenance over HTTP: read in pages, and stated by keys that may write."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from headwater.model.plain import plain
from headwater.store.store import Store
from tests.server.api import API, ask, segment
from tests.support.events import at, run_event

ADDRESS = f"/datasets/{segment('warehouse')}/made/provenance"
STATED: dict[str, Any] = {
    "event": "accessed",
    "agent": {"type": "user", "id": "ann", "name": "Ann"},
    "operation": {"type": "export", "method": "csv", "parameters": {"rows": 3}},
    "purpose": "tax audit",
    "legal_basis": "legal obligation",
    "retention_period": "P10Y",
    "sensitivity": "confidential",
    "at": "2026-11-16T00:00:00Z",
}


@pytest.fixture
def store(client: TestClient) -> Store:
    app = client.app
    assert isinstance(app, FastAPI)
    store: Store = app.state.service.store
    store.ingest_many(run_event(run=f"r{n}", inputs=["raw"], outputs=["made"], minute=n) for n in range(5))
    return store


def test_the_response_equals_the_stores_answer(client: TestClient, store: Store) -> None:
    assert ask(client, ADDRESS)["items"] == plain(store.provenance("made"))
    created = ask(client, ADDRESS, event="created")["items"]
    assert created == plain(store.provenance("made", event="created"))
    part = ask(client, ADDRESS, since=at(1).isoformat(), until=at(3).isoformat())["items"]
    assert part == plain(store.provenance("made", since=at(1), until=at(3)))
    first = ask(client, ADDRESS, limit=3)
    rest = ask(client, ADDRESS, limit=3, cursor=first["next"])
    assert first["items"] + rest["items"] == plain(store.provenance("made"))
    assert rest["next"] is None


def test_a_statement(client: TestClient, store: Store) -> None:
    answer = client.post(f"{API}{ADDRESS}", json=STATED)
    assert (answer.status_code, answer.json()["duplicate"]) == (201, False)
    assert client.post(f"{API}{ADDRESS}", json=STATED).json()["duplicate"] is True
    told = ask(client, ADDRESS)["items"][0]
    assert (told["event"], told["at"], told["stated"]) == ("accessed", "2026-11-16T00:00:00Z", True)
    assert (told["agent"], told["operation"]) == (STATED["agent"], STATED["operation"])
    assert told["context"] == {
        "purpose": "tax audit",
        "legal_basis": "legal obligation",
        "retention_period": "P10Y",
        "sensitivity_level": "confidential",
    }


def test_the_caller_is_the_default_agent(client: TestClient, store: Store) -> None:
    assert client.post(f"{API}{ADDRESS}", json={"event": "deleted"}).status_code == 201
    (told,) = ask(client, ADDRESS, event="deleted")["items"]
    entry = store.audit(limit=1, event_type="event.ingested")[0]
    assert (told["agent"]["type"], told["agent"]["id"]) == (entry.actor_type, entry.actor_id)
    assert told["operation"]["type"] == "write"


@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        ({}, 422),
        ({"event": "seen"}, 422),
        ({**STATED, "purpos": "x"}, 422),
        ({**STATED, "sensitivity": "top"}, 422),
        ({**STATED, "agent": {"type": "robot", "id": "x"}}, 422),
        ({**STATED, "purpose": "\0"}, 422),
        ({**STATED, "at": "yesterday"}, 422),
        ([], 422),
    ],
)
def test_invalid_statements_are_refused(client: TestClient, store: Store, wrong: Any, status: int) -> None:
    answer = client.post(f"{API}{ADDRESS}", json=wrong)
    assert answer.status_code == status, answer.text
    assert answer.json()["code"] in ("request_invalid", "provenance_invalid")
    assert len(store.provenance("made")) == 5


def test_an_unknown_dataset(client: TestClient, store: Store) -> None:
    nowhere = ADDRESS.replace("made", "maid")
    assert ask(client, nowhere, 404)["code"] == "unknown_dataset"
    assert client.post(f"{API}{nowhere}", json=STATED).status_code == 404
    assert ask(client, ADDRESS, 422, event="seen")["code"] == "request_invalid"
    assert ask(client, ADDRESS, 400, cursor="x")["code"] == "query_error"
