"""The table of every route, and a store with two sides for requests about each."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import update

from headwater.model.access import Scope
from headwater.server.access.credentials import CSRF_HEADER
from headwater.server.access.rate_limits import RateLimiter
from headwater.server.app.app import create_app
from headwater.server.app.settings import ServerSettings
from headwater.store.schema.access_tables import access_key
from headwater.store.schema.tables import to_micros
from tests.server.api import LOCAL
from tests.server.two_sided_store import ABSENT, OPEN, VAULT, Json, build, event, run_id

READ, WRITE, ADMIN = Scope
ALL = "all namespaces"
PUBLIC, KNOWN = "public", "known"


@dataclass(frozen=True)
class Row:
    """What a route requires, and its request about a side: `{side}`, `{run}`, `{seq}` … are filled in."""

    needs: tuple[Any, ...]
    query: dict[str, str] = field(default_factory=dict)
    body: Any = None
    own: int = 200
    own_admin: int | None = None
    """What an admin is answered, where that is something else; 0: nothing that can be asked for here."""
    other: int = 404
    """What is answered about another's: as if it were not there."""
    absent: bool = True
    """Whether it can be asked about something that is not there at all."""
    tells: str | None = None
    """What an answer without a veil tells of the vault, so that the test can see what it looks for."""


DATASET = {"dataset": "{side}/b", "namespace": "{side}"}
MADE = {"dataset": "{side}/c", "namespace": "{side}"}
NODE = {"nodeId": "dataset:{side}:{side}/c"}
MISSING = {**DATASET, "source": "{side}/a", "where": {"x": 1}}
LIST: dict[str, Any] = {"needs": (READ,), "other": 200, "absent": False, "tells": VAULT}
ONE: dict[str, Any] = {"needs": (READ,)}
EVENT = "event"
STATEMENT = {"event": "accessed", "at": "2026-11-15T11:00:00Z"}
RECORD = {"root_id": "r", "node_id": "n", "parent_id": "r", "action_taken": "made", "storage_location": "here"}
QUALITY = {"metrics": {"accuracy": 1}}

TABLE: dict[str, Row] = {
    "GET /health/live": Row((PUBLIC,), other=200, absent=False),
    "GET /health/ready": Row((PUBLIC,), other=200, absent=False),
    "GET /metrics": Row((READ, ALL), absent=False),
    "GET /api/v1/session": Row((KNOWN,), other=200, absent=False),
    "POST /api/v1/session": Row((PUBLIC,), body={"key": "{key}"}, other=200, absent=False),
    "DELETE /api/v1/session": Row((KNOWN,), own=401, other=401, absent=False),  # a key has no session to close
    "GET /api/v1/access/keys": Row((ADMIN, ALL), absent=False),
    "POST /api/v1/access/keys": Row((ADMIN, ALL), body={"name": "made", "scopes": ["admin"]}, own=201, absent=False),
    "DELETE /api/v1/access/keys/{key_id}": Row((ADMIN, ALL), own=404),
    "POST /api/v1/lineage": Row((WRITE,), body=EVENT, own=201, other=403, absent=False),
    "POST /api/v1/lineage/batch": Row((WRITE,), body=[EVENT], own=204, other=200, absent=False),
    "GET /api/v1/lineage/upstream": Row(**ONE, query=MADE, tells=VAULT),
    "GET /api/v1/lineage/downstream": Row(**ONE, query=DATASET, tells=VAULT),
    "GET /api/v1/lineage/columns": Row(**ONE, query={**DATASET, "column": "x", "direction": "downstream"}, tells=VAULT),
    "GET /api/v1/lineage/impact": Row(**ONE, query=DATASET, tells=VAULT),
    "GET /api/v1/graph/around": Row(**ONE, query=MADE, tells=VAULT),
    "GET /api/v1/graph/columns": Row(**ONE, query=MADE, tells=VAULT),
    "GET /api/v1/graph/map": Row(**LIST),
    "GET /api/v1/overview": Row(**LIST),
    "GET /api/v1/datasets": Row(**LIST),
    "GET /api/v1/datasets/named": Row(**ONE, query=MADE),
    "GET /api/v1/datasets/{namespace}/{name}": Row(**ONE),
    "GET /api/v1/datasets/{namespace}/{name}/quality": Row(**ONE),
    "POST /api/v1/datasets/{namespace}/{name}/quality": Row((WRITE,), body=QUALITY, own=201, other=403),
    "GET /api/v1/datasets/{namespace}/{name}/provenance": Row(**ONE),
    "POST /api/v1/datasets/{namespace}/{name}/provenance": Row((WRITE,), body=STATEMENT, own=201),
    "GET /api/v1/jobs": Row(**LIST),
    "GET /api/v1/jobs/named/{namespace}/{name}": Row(**ONE),
    "GET /api/v1/find": Row(**LIST, query={"q": "a"}),
    "GET /api/v1/coverage": Row(**LIST),
    "GET /api/v1/certificates": Row(**LIST),
    "GET /api/v1/output-facets": Row(**ONE, query={**DATASET, "facet": "columnLineage"}),
    "GET /api/v1/runs": Row(**LIST),
    "GET /api/v1/runs/{run_id}": Row(**ONE),
    "GET /api/v1/runs/{run_a}/diff/{run_b}": Row(**ONE),
    "GET /api/v1/runs/{run_id}/ledger": Row(**ONE),
    "GET /api/v1/runs/{run_id}/manifest": Row(**ONE),
    "GET /api/v1/runs/{run_id}/certificate": Row(**ONE),
    "GET /api/v1/runs/{run_id}/verified": Row(**ONE),
    "GET /api/v1/runs/{run_id}/bundle": Row(**ONE),
    "GET /api/v1/runs/{run_id}/report": Row(**ONE),
    "GET /api/v1/events": Row(**LIST),
    "GET /api/v1/events/by-digest/{digest}": Row(**ONE),
    "GET /api/v1/export": Row(**LIST),
    "GET /api/v1/audit": Row(**LIST),
    "GET /api/v1/log/checkpoint": Row((READ, ALL), absent=False),
    "GET /api/v1/log/checkpoints": Row((READ, ALL), absent=False),
    "GET /api/v1/log/keys": Row((READ, ALL), absent=False),
    "POST /api/v1/log/verify": Row((READ, ALL), own=0, absent=False),  # one at a time: tests/server/test_verify.py
    "GET /api/v1/log/proof": Row(**ONE, query={"seq": "{seq}"}, other=400),
    "GET /api/v1/log/consistency": Row((READ,), query={"old": "1"}, other=200, absent=False),
    # Without pair tables Spark is started, by an admin, and only where it can answer.
    "GET /api/v1/rows/askable": Row((READ, ALL), query=DATASET),
    "POST /api/v1/rows/trace": Row((READ, ALL), body={"run": "{run}"}, own=403, own_admin=409),
    "POST /api/v1/rows/forward": Row((READ, ALL), body=DATASET, own=403, own_admin=0),
    "POST /api/v1/rows/why-not": Row((READ, ALL), body=MISSING, own=403, own_admin=409),
    "POST /api/v1/records": Row((WRITE, ALL), body=RECORD, own=202, absent=False),
    "GET /api/v1/records/trace": Row((READ, ALL), query={"root": "nobody's"}, own=404, absent=False),
    "GET /api/v1/records/find": Row((READ, ALL), absent=False),
    "GET /api/v1/tasks": Row((READ,), other=200, absent=False),
    "GET /api/v1/tasks/{task_id}": Row((READ,), own=404),
    "DELETE /api/v1/tasks/{task_id}": Row((READ,), own=404),
    "GET /api/v1/stream": Row((READ,), own=0, absent=False),  # has no end: tests/server/test_live.py
    "GET /api/v1/namespaces": Row(**LIST),
    "GET /api/v1/namespaces/{namespace}": Row(**ONE),
    "GET /api/v1/namespaces/{namespace}/datasets": Row(**ONE),
    "GET /api/v1/namespaces/{namespace}/datasets/{name}": Row(**ONE),
    "GET /api/v1/namespaces/{namespace}/datasets/{name}/versions": Row(**ONE),
    "GET /api/v1/namespaces/{namespace}/datasets/{name}/versions/{version}": Row(**ONE),
    "GET /api/v1/namespaces/{namespace}/jobs": Row(**ONE),
    "GET /api/v1/namespaces/{namespace}/jobs/{name}": Row(**ONE),
    "GET /api/v1/namespaces/{namespace}/jobs/{name}/runs": Row(**ONE),
    "GET /api/v1/jobs/runs/{run_id}": Row(**ONE),
    "GET /api/v1/jobs/runs/{run_id}/facets": Row(**ONE, query={"type": "run"}),
    "GET /api/v1/lineage": Row(**ONE, query=NODE, tells=VAULT),
    "GET /api/v1/column-lineage": Row(**ONE, query=NODE, tells=VAULT),
    "GET /api/v1/search": Row(**LIST, query={"q": "a"}),
    "GET /api/v1/events/lineage": Row(**LIST),
}


@dataclass(frozen=True)
class TwoSidedServer:
    client: TestClient
    keys: dict[str, str]
    about: dict[str, dict[str, str]]
    """By side: what stands for the names in curly brackets."""

    sessions: dict[str, dict[str, str]] = field(default_factory=dict)

    def session(self, role: str) -> dict[str, str]:
        """The headers that the page sends for a user with this key."""
        if role not in self.sessions:
            opened = self.client.post("/api/v1/session", json={"key": self.keys[role]})
            cookie = f"headwater_session={opened.cookies['headwater_session']}"
            self.sessions[role] = {"Cookie": cookie, CSRF_HEADER: opened.json()["csrf_token"]}
        return self.sessions[role]

    def ask(self, route: str, side: str, role: str | None, *, by_session: bool = False) -> Any:
        method, _, path = route.partition(" ")
        row, words = TABLE[route], {**self.about[side], "key": self.keys["open read"]}
        path = path.format(**{name: quote(value, safe="") for name, value in names_in(route, words).items()})
        headers = {"User-Agent": "matrix", "Content-Type": "application/json"}
        if role is not None:
            headers |= self.session(role) if by_session else {"Authorization": f"Bearer {self.keys[role]}"}
        query = {name: value.format(**words) for name, value in row.query.items()}
        self.client.cookies.clear()  # of sessions that were opened
        body = None if row.body is None else json.dumps(filled(row.body, side, words)).encode()
        return self.client.request(method, path, params=query, headers=headers, content=body)


def names_in(route: str, words: Mapping[str, str]) -> dict[str, str]:
    """The names in curly brackets of a path."""
    known = {**words, "name": words["job"]} if "/jobs/" in route else words
    return {name: known[name] for name in re.findall(r"\{(\w+)\}", route)}


def filled(body: Any, side: str, words: Mapping[str, str]) -> Any:
    made = event(side, "written", 30, [], [{"namespace": side, "name": f"{side}/a"}])
    if body in (EVENT, [EVENT]):
        return made if body == EVENT else [made]
    return {name: value.format(**words) if isinstance(value, str) else value for name, value in body.items()}


ROLES = ["read", "write", "admin", "read write admin"]
BAD = [None, "expired", "revoked", "wrong", "garbage"]


@contextmanager
def two_sides(folder: Path, template: Path, *events: Json) -> Iterator[TwoSidedServer]:
    """``template`` is an empty store; ``events`` are added to those of every test store."""
    url = f"sqlite:///{folder}/store.db"
    shutil.copy(template, folder / "store.db")
    build(url, folder, *events)
    app = create_app(url, ServerSettings(workspace=str(folder), rows_location=str(folder / "rows")))
    app.state.authenticator._failures = RateLimiter(1e6, 1e6)
    with TestClient(app, base_url=LOCAL) as client:
        keys = _keys(app)
        about = {side: _about(app, side) for side in (OPEN, VAULT, ABSENT)}
        for side in (OPEN, VAULT):
            listed = f"/api/v1/namespaces/{side}/datasets/{side}%2Fb/versions"
            versions = client.get(listed, headers={"Authorization": f"Bearer {keys['any read']}"}).json()["versions"]
            about[side]["version"] = versions[0]["version"]
        yield TwoSidedServer(client, keys, about)


def _keys(app: FastAPI) -> dict[str, str]:
    access = app.state.service.store.access
    keys = {
        f"{side} {role}": access.add(role, scopes=role.split(), namespaces=["*" if side == "any" else side]).secret
        for side in (OPEN, VAULT, "any")
        for role in ROLES
    }
    gone, late = access.add("gone", scopes=list(Scope)), access.add("late", scopes=list(Scope))
    access.revoke("gone")
    past = to_micros(datetime.now(UTC) - timedelta(seconds=1))
    with app.state.service.store._database.write() as conn:
        conn.execute(update(access_key).where(access_key.c.key_id == late.key.key_id).values(expires_at=past))
    other = gone.secret.rpartition("_")[2]
    wrong = keys["any read"].rpartition("_")[0] + "_" + other
    return {**keys, "revoked": gone.secret, "expired": late.secret, "wrong": wrong, "garbage": "\x7f%00"}


def _about(app: FastAPI, side: str) -> dict[str, str]:
    store, run = app.state.service.store, run_id(side)
    entries = [] if side == ABSENT else store.audit(resource=run, event_type="event.ingested")
    digest = entries[0].details["digest"].removeprefix("sha256:") if entries else "0" * 64
    return {
        **{"side": side, "namespace": side, "name": f"{side}/b", "run": run, "run_id": run, "run_a": run},
        **{"run_b": run_id(side, "again"), "task_id": run, "key_id": "nobody", "digest": digest},
        **{"seq": str(entries[0].seq if entries else 9999), "version": run, "job": f"{side}-job"},
    }


def needs(row: Row) -> set[Scope]:
    return {each for each in row.needs if isinstance(each, Scope)}


def comparable_text(answer: Any, words: Mapping[str, str]) -> str:
    """Without the requested names and the id of the request."""
    text: str = answer.text.replace(str(answer.headers["x-request-id"]), "")
    text = re.sub(r'"closest":\[[^]]*\]', "", text)
    text = re.sub(r"Closest: [^\"]*", "", text)  # of what they see, by how like it is to what was asked
    return without(text, words)


def without(text: str, words: Mapping[str, str]) -> str:
    asked = {quote(each, safe="") for each in words.values()} | set(words.values())
    for word in sorted(asked, key=len, reverse=True):
        text = text.replace(word, "·")
    return text
