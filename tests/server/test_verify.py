"""Verification of the whole store as a task, and the log's keys and checkpoints."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.testclient import TestClient
from jsonschema import Draft202012Validator

from headwater.errors import AuditBroken, EvidenceBroken
from headwater.proof.keys import KeyRing
from headwater.server.app.problems import problem_of
from headwater.store.store import Store
from tests.assurance.stores import ended, tamper
from tests.server.api import API, ask, document


def store_of(client: TestClient) -> Store:
    assert isinstance(client.app, FastAPI)
    store: Store = client.app.state.service.store
    return store


def verified(client: TestClient, **parameters: Any) -> Any:
    started = client.post(f"{API}/log/verify", params=parameters)
    assert started.status_code == 202, started.text
    assert started.headers["location"] == f"{API}/tasks/{started.json()['id']}"
    for _ in range(600):
        task = ask(client, f"/tasks/{started.json()['id']}")
        if task["state"] != "running":
            return task
        time.sleep(0.05)
    raise AssertionError("the task does not end")


def test_a_valid_store_and_a_broken_one(client: TestClient, tmp_path: Path) -> None:
    store = store_of(client)
    for number in range(3):
        store.ingest(ended(f"run {number}", outputs=["daily"], minute=number))
    store.checkpoint(key=KeyRing.create(tmp_path / "key.pem"))
    task = verified(client)
    assert (task["kind"], task["state"]) == ("log.verify", "succeeded"), task
    result, holds = task["result"], store.verify()
    assert result == {"holds": True, **holds._asdict(), "not_covered": list(holds.not_covered)}
    assert task["progress"]["done"] == task["progress"]["total"] == result["events"]
    components = document()["components"]
    Draft202012Validator({**components["schemas"]["VerifiedStore"], "components": components}).validate(result)
    assert verified(client, events=False)["result"]["events"] is None

    tamper(store, "UPDATE audit SET actor_id = 'nobody' WHERE seq = 2")
    broken = verified(client)
    assert broken["state"] == "failed"
    assert broken["problem"] == {
        "code": "audit_broken",
        "detail": "The audit log does not hold at entry 2: its content does not match its hash",
        "entry": 2,
        "reason": "its content does not match its hash",
    }


def test_a_failure_is_reported_as_by_the_command() -> None:
    entry = problem_of(AuditBroken(7, "missing"))
    assert (entry.status, entry.code, entry.more) == (409, "audit_broken", {"entry": 7, "reason": "missing"})
    evidence = problem_of(EvidenceBroken("Tile 1/0 of the log", "it is missing"))
    assert evidence.more == {"what": "Tile 1/0 of the log", "reason": "it is missing"}


def test_keys_and_checkpoints_of_the_log(client: TestClient, tmp_path: Path) -> None:
    assert ask(client, "/log/keys") == ask(client, "/log/checkpoints") == {"items": [], "next": None}
    assert ask(client, "/log/checkpoint", 404)["code"] == "no_checkpoint"
    store, ring = store_of(client), KeyRing.create(tmp_path / "key.pem")
    for number in range(3):
        store.ingest(ended(f"run {number}", outputs=["daily"], minute=number))
        store.checkpoint(key=ring)
    store.rotate_key(key=ring)
    keys = ask(client, "/log/keys")["items"]
    assert [(key["from_entry"], key["key"]) for key in keys] == [(r.seq, str(r.key)) for r in store.signing_keys()]
    assert len(keys) == 2
    first = ask(client, "/log/checkpoints", limit=2)
    second = ask(client, "/log/checkpoints", limit=2, cursor=first["next"])
    sizes = [one["size"] for one in (*first["items"], *second["items"])]
    assert (sizes, second["next"]) == ([one.size for one in store.checkpoints()], None)
    assert len(sizes) == 3
    assert ask(client, "/log/checkpoint") == first["items"][0]
