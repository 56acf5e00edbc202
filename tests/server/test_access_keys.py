"""Keys are created, listed and revoked over HTTP by an admin of all namespaces, with audit entries."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from headwater.server.access.credentials import CSRF_HEADER
from headwater.store.store import Store
from tests.server.api import API, ask

KEYS = f"{API}/access/keys"
DATASETS = f"{API}/datasets"


def store_of(client: TestClient) -> Store:
    assert isinstance(client.app, FastAPI)
    store: Store = client.app.state.service.store
    return store


@pytest.fixture
def admin(client: TestClient) -> TestClient:
    """A client with a key that may do everything."""
    secret = store_of(client).access.add("boss", scopes=["read", "write", "admin"]).secret
    client.headers["Authorization"] = f"Bearer {secret}"
    return client


def created(client: TestClient, expected: int = 201, /, **asked: Any) -> Any:
    answer = client.post(KEYS, json=asked)
    assert answer.status_code == expected, answer.text
    return answer.json()


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def test_the_life_of_a_key(admin: TestClient) -> None:
    told = created(admin, name="orders team", scopes=["write", "read"], namespaces=["orders", "s3://lake/*"])
    key, secret = told["key"], told["secret"]
    assert (key["name"], key["scopes"], key["namespaces"]) == (
        "orders team",
        ["read", "write"],
        ["orders", "s3://lake/*"],
    )
    assert secret.startswith(f"hw_{key['key_id']}_")
    assert admin.get(DATASETS, headers=bearer(secret)).status_code == 200
    listed = ask(admin, "/access/keys")
    assert [one["name"] for one in listed["items"]] == ["boss", "orders team"]
    assert secret not in str(listed)
    assert "secret" not in str(listed)
    revoked = admin.delete(f"{KEYS}/{key['key_id']}")
    assert (revoked.status_code, revoked.json()["revoked_at"] is not None) == (200, True)
    assert admin.get(DATASETS, headers=bearer(secret)).status_code == 401  # at once, where it was revoked
    again = admin.delete(f"{KEYS}/{key['key_id']}")
    assert again.json() == revoked.json()
    assert admin.delete(f"{KEYS}/nobody").json()["code"] == "unknown_access_key"


def test_the_last_admin_key_cannot_be_revoked(admin: TestClient) -> None:
    [boss] = store_of(admin).access.keys()
    created(admin, name="reader")
    late = created(admin, name="late", scopes=["admin"])["key"]["key_id"]
    assert admin.delete(f"{KEYS}/{late}").status_code == 200
    for others in ({"namespaces": ["team"], "scopes": ["admin"]}, {"scopes": ["read", "write"]}):
        created(admin, name="other", **others)  # none of them can manage keys
        refused = admin.delete(f"{KEYS}/{boss.key_id}")
        assert (refused.status_code, refused.json()["code"]) == (409, "last_admin_key")
        assert "headwater access revoke" in refused.json()["detail"]
    assert ask(admin, "/access/keys")["items"][0]["revoked_at"] is None
    second = created(admin, name="second", scopes=["admin", "read"])["secret"]
    assert admin.delete(f"{KEYS}/{boss.key_id}").status_code == 200
    listed = admin.get(KEYS, headers=bearer(second)).json()["items"]
    assert listed[0]["revoked_at"] is not None


def test_changes_of_keys_are_audited(admin: TestClient) -> None:
    key_id = created(admin, name="x")["key"]["key_id"]
    admin.delete(f"{KEYS}/{key_id}")
    entries = store_of(admin).audit(resource=key_id)
    assert [entry.event_type for entry in entries] == ["access.key_revoked", "access.key_added"]
    for entry in entries:
        assert (entry.actor_type, entry.actor_id.startswith("boss (")) == ("key", True)
        assert (entry.client_ip, entry.correlation_id is not None) == ("testclient", True)
    assert "secret" not in str(entries)


def test_expiry(admin: TestClient) -> None:
    assert created(admin, name="forever")["key"]["expires_at"] is None
    week = datetime.fromisoformat(created(admin, name="week", expires_in_days=7)["key"]["expires_at"])
    assert abs(week - datetime.now(UTC) - timedelta(days=7)) < timedelta(minutes=1)
    assert created(admin, name="then", expires_at="2999-01-02")["key"]["expires_at"] == "2999-01-02T00:00:00Z"
    assert created(admin, 422, name="past", expires_at="2001-01-01")["code"] == "access_key_invalid"
    created(admin, 422, name="both", expires_at="2999-01-01", expires_in_days=3)


@pytest.mark.parametrize(
    "asked",
    [
        {}, {"name": ""}, {"name": " "}, {"name": "x" * 201}, {"name": "\x00"}, {"name": 5},
        {"name": "x", "scopes": []}, {"name": "x", "scopes": ["god"]},
        {"name": "x", "namespaces": []}, {"name": "x", "namespaces": ["\x00"]},
        {"name": "x", "namespaces": "all"}, {"name": "x", "expires_in_days": 0}, {"name": "x", "expires_at": "soon"},
        {"name": "x", "secret": "mine"},
    ],
)  # fmt: skip
def test_invalid_keys_are_not_created(admin: TestClient, asked: dict[str, Any]) -> None:
    created(admin, 422, **asked)
    assert len(store_of(admin).access.keys()) == 1


def test_an_admin_cannot_grant_a_scope_that_they_lack(client: TestClient) -> None:
    """Otherwise `admin` would imply all other scopes."""
    client.headers["Authorization"] = f"Bearer {store_of(client).access.add('only', scopes=['admin']).secret}"
    assert created(client, 403, name="x", scopes=["read"])["code"] == "not_permitted"
    assert created(client, name="x", scopes=["admin"])["key"]["scopes"] == ["admin"]


def test_from_a_session_only_with_its_token(client: TestClient) -> None:
    secret = store_of(client).access.add("boss", scopes=["read", "admin"]).secret
    token = client.post(f"{API}/session", json={"key": secret}).json()["csrf_token"]
    assert client.get(KEYS).status_code == 200
    assert created(client, 403, name="x")["code"] == "origin_refused"
    assert client.delete(f"{KEYS}/x").status_code == 403
    assert client.post(KEYS, json={"name": "x"}, headers={CSRF_HEADER: token}).status_code == 201


def test_the_first_key_closes_the_server(client: TestClient) -> None:
    """On loopback it is open until there is one."""
    secret = created(client, name="first", scopes=["read", "write", "admin"])["secret"]
    assert client.get(KEYS).status_code == 401
    assert client.get(KEYS, headers=bearer(secret)).status_code == 200
