"""Every route, every role, one's own namespace and another's.

The routes are those of the OpenAPI document: one that has no row in the table below fails the first test.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import update

from headwater.model.access import Scope
from headwater.server.access.credentials import CSRF_HEADER
from headwater.server.access.rate_limits import Rates
from headwater.server.app.app import create_app
from headwater.server.app.settings import Settings
from headwater.store.schema.access_tables import access_key
from headwater.store.schema.tables import to_micros
from tests.server.asking import LOCAL
from tests.server.estate import ABSENT, OPEN, VAULT, build, event, run_id

READ, WRITE, ADMIN = Scope
ALL = "all namespaces"
PUBLIC, KNOWN = "public", "known"


@dataclass(frozen=True)
class Row:
    """What a route takes, and how to ask it about a side: `{side}`, `{run}`, `{seq}` … are filled in."""

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
    """What an unlimited answer tells of the vault, so that the test can see what it looks for."""


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
class Estate:
    client: TestClient
    keys: dict[str, str]
    about: dict[str, dict[str, str]]
    """By side: what stands for the names in curly brackets."""

    sessions: dict[str, dict[str, str]] = field(default_factory=dict)

    def session(self, role: str) -> dict[str, str]:
        """What the page of somebody with this key sends."""
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
    """What stands in a path for the names in curly brackets."""
    known = {**words, "name": words["job"]} if "/jobs/" in route else words
    return {name: known[name] for name in re.findall(r"\{(\w+)\}", route)}


def filled(body: Any, side: str, words: Mapping[str, str]) -> Any:
    made = event(side, "written", 30, [], [{"namespace": side, "name": f"{side}/a"}])
    if body in (EVENT, [EVENT]):
        return made if body == EVENT else [made]
    return {name: value.format(**words) if isinstance(value, str) else value for name, value in body.items()}


ROLES = ["read", "write", "admin", "read write admin"]
BAD = [None, "expired", "revoked", "wrong", "garbage"]


@pytest.fixture(scope="module")
def estate(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Iterator[Estate]:
    folder = tmp_path_factory.mktemp("estate")
    url = f"sqlite:///{folder}/store.db"
    shutil.copy(sqlite_template, folder / "store.db")
    build(url, folder)
    app = create_app(url, Settings(workspace=str(folder), rows_location=str(folder / "rows")))
    app.state.credentials._guesses = Rates(1e6, 1e6)
    with TestClient(app, base_url=LOCAL) as client:
        keys = _keys(app)
        about = {side: _about(app, side) for side in (OPEN, VAULT, ABSENT)}
        for side in (OPEN, VAULT):
            listed = f"/api/v1/namespaces/{side}/datasets/{side}%2Fb/versions"
            versions = client.get(listed, headers={"Authorization": f"Bearer {keys['any read']}"}).json()["versions"]
            about[side]["version"] = versions[0]["version"]
        yield Estate(client, keys, about)


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


# -- the table is whole -----------------------------------------------------------------------------------------------


def test_every_route_has_its_row(estate: Estate) -> None:
    app = estate.client.app
    assert isinstance(app, FastAPI)
    described = {f"{method.upper()} {path}" for path, ways in app.openapi()["paths"].items() for method in ways}
    assert described == TABLE.keys()


def test_what_is_not_described_is_closed_as_well(estate: Estate) -> None:
    """Below /api/ the door is before the routes: also for those that nobody has written yet."""
    for path in ("openapi.json", "nowhere", "", "../api/v1/datasets", "datasets/"):
        assert estate.client.get(f"/api/v1/{path}").status_code == 401, path
    assert estate.client.get("/").status_code == 200  # the page, which holds nothing


# -- who comes in -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("route", TABLE)
def test_nobody_comes_in_without_a_good_key(estate: Estate, route: str) -> None:
    for role in BAD:
        answer = estate.ask(route, OPEN, role)
        if PUBLIC in TABLE[route].needs:
            assert answer.status_code == 200, role
        else:
            assert answer.status_code == 401, role
            assert answer.headers["www-authenticate"].startswith("Bearer")
            assert answer.json()["code"] == "not_authenticated"


@pytest.mark.parametrize("route", TABLE)
@pytest.mark.parametrize("role", ROLES)
def test_a_key_is_good_for_its_scopes_alone(estate: Estate, route: str, role: str) -> None:
    row = TABLE[route]
    for side in (OPEN, "any"):
        lacking = needs(row) - set(role.split()) or (ALL in row.needs and side != "any")
        expected = row.own_admin if row.own_admin is not None and "admin" in role else row.own
        if not lacking and expected == 0:
            continue
        answer = estate.ask(route, OPEN, f"{side} {role}")
        assert answer.status_code == (403 if lacking else expected), (side, answer.text)
        if lacking:
            assert answer.json()["code"] == "not_permitted"


# -- what is not theirs -----------------------------------------------------------------------------------------------

CLOSED_BY_ALL = [route for route, row in TABLE.items() if ALL in row.needs or row.own == 0]
SHARED = [route for route in TABLE if route not in CLOSED_BY_ALL]


OF_SESSIONS = ("POST /api/v1/session", "DELETE /api/v1/session")  # tests/server/test_access.py


WAYS = [(route, by) for route in TABLE for by in ("key", "session") if by == "key" or route not in OF_SESSIONS]


@pytest.mark.parametrize(("route", "by"), WAYS)
def test_another_namespace_is_not_there(estate: Estate, route: str, by: str) -> None:
    """For whatever role: the answer about it is word for word the answer about one that does not exist."""
    row, by_session = TABLE[route], by == "session"
    for role in ROLES:
        lacking = needs(row) - set(role.split()) or ALL in row.needs
        if not lacking and row.own == 0:
            continue
        answer = estate.ask(route, VAULT, f"open {role}", by_session=by_session)
        assert answer.status_code == (403 if lacking else row.other), (role, answer.text)
        if row.absent:
            absent = estate.ask(route, ABSENT, f"open {role}", by_session=by_session)
            assert _told(answer, estate.about[VAULT]) == _told(absent, estate.about[ABSENT]), role


def _told(answer: Any, words: dict[str, str]) -> str:
    """Without the names that were asked for, and the id of the request."""
    text: str = answer.text.replace(str(answer.headers["x-request-id"]), "")
    text = re.sub(r"Closest: [^\"]*", "", text)  # of what they see, by how like it is to what was asked
    text = re.sub(r'"closest":\[[^]]*\]', "", text)
    asked = {quote(each, safe="") for each in words.values()} | set(words.values())
    for word in sorted(asked, key=len, reverse=True):
        text = text.replace(word, "·")
    return text


@pytest.mark.parametrize("route", SHARED)
def test_no_answer_tells_of_another_namespace(estate: Estate, route: str) -> None:
    row = TABLE[route]
    hidden = [VAULT, run_id(VAULT), run_id(VAULT, "again"), run_id(VAULT, "reach"), estate.about[VAULT]["digest"]]
    text = estate.ask(route, OPEN, "open read write admin").text
    for word in hidden:
        assert word not in text, text
    if row.tells is not None:
        assert row.tells in estate.ask(route, OPEN, "any read write admin").text


MIXED = [
    *(
        "/runs/{run}",
        "/runs/{run}/diff/{open}",
        "/runs/{run}/ledger",
        "/runs/{run}/manifest",
        "/runs/{run}/certificate",
    ),
    *("/datasets/open/open%2Fa/provenance", "/datasets/open/open%2Fb/provenance", "/datasets/open/open%2Fc/provenance"),
    *("/datasets/open/open%2Fd/provenance", "/datasets/open/open%2Fe/provenance"),
    *("/runs/{run}/verified", "/runs/{run}/bundle", "/runs/{run}/report", "/jobs/runs/{run}"),
    "/events?run={run}",
    *("/jobs/runs/{run}/facets?type=run", "/jobs/runs/{run}/facets?type=job", "/jobs/named/open/open-mixing"),
    *("/namespaces/open/jobs/open-mixing", "/namespaces/open/jobs/open-mixing/runs", "/datasets/open/open%2Fc"),
    *("/datasets/open/open%2Fb/quality", "/datasets/open/open%2Fc/quality"),
    *("/datasets/open/open%2Fe", "/namespaces/open/datasets/open%2Fc", "/namespaces/open/datasets/open%2Fd"),
    *("/lineage/upstream?dataset=open/c", "/lineage/upstream?dataset=open/d", "/lineage/upstream?dataset=open/e"),
    *("/lineage/columns?dataset=open/c&column=x", "/lineage/impact?dataset=open/a", "/datasets?search=alias"),
    *("/graph/around?dataset=open/c&upstream=3", "/graph/around?dataset=open/e", "/graph/columns?dataset=open/c"),
    *("/graph/map?namespace=open", "/find?q=x&type=column", "/find?q=vault&type=any", "/find?q={vault}&type=run"),
    *("/lineage?nodeId=job:open:open-mixing", "/column-lineage?nodeId=dataset:open:open/c", "/runs?dataset=open/c"),
    *(
        "/lineage?nodeId=dataset:open:open/e&depth=20",
        "/namespaces/open/datasets/open%2Fc/versions",
        "/audit?resource={run}",
    ),
]


@pytest.mark.parametrize("path", MIXED)
def test_nor_of_its_part_in_what_is_shared(estate: Estate, path: str) -> None:
    """A run that reads from the vault, a dataset that the vault writes to: only the open side of them is there."""
    asked = path.format(run=run_id(OPEN, "mixed"), open=run_id(OPEN), vault=run_id(VAULT)[:9])
    key = estate.keys["open read"]
    answer = estate.client.get(f"/api/v1{asked}", headers={"Authorization": f"Bearer {key}"})
    proofs = ("ledger", "manifest", "certificate", "verified", "bundle", "report")
    assert answer.status_code == (404 if path.endswith(proofs) else 200), answer.text
    for word in (VAULT, run_id(VAULT), run_id(VAULT, "reach")):
        assert word not in answer.text, answer.text


def test_the_raw_events_of_what_is_shared_are_cut(estate: Estate) -> None:
    key = {"Authorization": f"Bearer {estate.keys['open read']}"}
    listed = estate.client.get("/api/v1/events", headers=key, params={"run": run_id(OPEN, "mixed")}).json()["items"]
    assert len(listed) == 1
    lines = estate.client.get("/api/v1/export", headers=key).text.splitlines()
    mixed = [json.loads(line) for line in lines if run_id(OPEN, "mixed") in line]
    assert [use["name"] for use in mixed[0]["inputs"] + mixed[0]["outputs"]] == ["open/b", "open/c"]
    assert "sql" not in mixed[0]["job"]["facets"]


# -- what they do is written down -------------------------------------------------------------------------------------


def test_what_is_written_is_audited_with_who_from_where_and_with_what(estate: Estate) -> None:
    answer = estate.ask("POST /api/v1/lineage", OPEN, "any read write admin")
    app = estate.client.app
    assert isinstance(app, FastAPI)
    [entry] = app.state.service.store.audit(resource=run_id(OPEN, "written"), event_type="event.ingested")
    assert entry.actor_type == "key"
    assert re.fullmatch(r"(write|read write admin) \([0-9a-f]{12}\)", entry.actor_id)
    assert (entry.client_ip, entry.user_agent) == ("testclient", "matrix")
    assert entry.correlation_id is not None
    assert answer.headers["x-request-id"]
