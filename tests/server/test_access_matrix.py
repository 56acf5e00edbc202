"""Every route, every role, one's own namespace and another's.

The routes are those of the OpenAPI document: a route without a row in the table (matrix.py) fails the first test.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI

from tests.server.matrix import ALL, BAD, PUBLIC, ROLES, TABLE, TwoSidedServer, comparable_text, needs, two_sides
from tests.server.two_sided_store import ABSENT, OPEN, VAULT, run_id


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Iterator[TwoSidedServer]:
    with two_sides(tmp_path_factory.mktemp("sides"), sqlite_template) as sides:
        yield sides


# -- the table is whole -----------------------------------------------------------------------------------------------


def test_every_route_has_its_row(sides: TwoSidedServer) -> None:
    app = sides.client.app
    assert isinstance(app, FastAPI)
    described = {f"{method.upper()} {path}" for path, ways in app.openapi()["paths"].items() for method in ways}
    assert described == TABLE.keys()


def test_undocumented_paths_are_closed(sides: TwoSidedServer) -> None:
    """Below /api/ authentication comes before the routes: also for future ones."""
    for path in ("openapi.json", "nowhere", "", "../api/v1/datasets", "datasets/"):
        assert sides.client.get(f"/api/v1/{path}").status_code == 401, path
    assert sides.client.get("/").status_code == 200  # the page, which holds nothing


# -- who comes in -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("route", TABLE)
def test_every_route_needs_a_valid_key(sides: TwoSidedServer, route: str) -> None:
    for role in BAD:
        answer = sides.ask(route, OPEN, role)
        if PUBLIC in TABLE[route].needs:
            assert answer.status_code == 200, role
        else:
            assert answer.status_code == 401, role
            assert answer.headers["www-authenticate"].startswith("Bearer")
            assert answer.json()["code"] == "not_authenticated"


@pytest.mark.parametrize("route", TABLE)
@pytest.mark.parametrize("role", ROLES)
def test_a_key_is_limited_to_its_scopes(sides: TwoSidedServer, route: str, role: str) -> None:
    row = TABLE[route]
    for side in (OPEN, "any"):
        lacking = needs(row) - set(role.split()) or (ALL in row.needs and side != "any")
        expected = row.own_admin if row.own_admin is not None and "admin" in role else row.own
        if not lacking and expected == 0:
            continue
        answer = sides.ask(route, OPEN, f"{side} {role}")
        assert answer.status_code == (403 if lacking else expected), (side, answer.text)
        if lacking:
            assert answer.json()["code"] == "not_permitted"


# -- what is not theirs -----------------------------------------------------------------------------------------------

CLOSED_BY_ALL = [route for route, row in TABLE.items() if ALL in row.needs or row.own == 0]
SHARED = [route for route in TABLE if route not in CLOSED_BY_ALL]


OF_SESSIONS = ("POST /api/v1/session", "DELETE /api/v1/session")  # tests/server/test_access.py


WAYS = [(route, by) for route in TABLE for by in ("key", "session") if by == "key" or route not in OF_SESSIONS]


@pytest.mark.parametrize(("route", "by"), WAYS)
def test_another_namespace_does_not_exist(sides: TwoSidedServer, route: str, by: str) -> None:
    """For every role, the response about it is word for word that about an unknown one."""
    row, by_session = TABLE[route], by == "session"
    for role in ROLES:
        lacking = needs(row) - set(role.split()) or ALL in row.needs
        if not lacking and row.own == 0:
            continue
        answer = sides.ask(route, VAULT, f"open {role}", by_session=by_session)
        assert answer.status_code == (403 if lacking else row.other), (role, answer.text)
        if row.absent:
            absent = sides.ask(route, ABSENT, f"open {role}", by_session=by_session)
            assert comparable_text(answer, sides.about[VAULT]) == comparable_text(absent, sides.about[ABSENT]), role


@pytest.mark.parametrize("route", SHARED)
def test_no_response_contains_another_namespace(sides: TwoSidedServer, route: str) -> None:
    row = TABLE[route]
    hidden = [VAULT, run_id(VAULT), run_id(VAULT, "again"), run_id(VAULT, "reach"), sides.about[VAULT]["digest"]]
    text = sides.ask(route, OPEN, "open read write admin").text
    for word in hidden:
        assert word not in text, text
    if row.tells is not None:
        assert row.tells in sides.ask(route, OPEN, "any read write admin").text


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
def test_no_response_contains_the_hidden_part_of_shared_objects(sides: TwoSidedServer, path: str) -> None:
    """A run that reads from the vault, a dataset that the vault writes to: only their open side is shown."""
    asked = path.format(run=run_id(OPEN, "mixed"), open=run_id(OPEN), vault=run_id(VAULT)[:9])
    key = sides.keys["open read"]
    answer = sides.client.get(f"/api/v1{asked}", headers={"Authorization": f"Bearer {key}"})
    proofs = ("ledger", "manifest", "certificate", "verified", "bundle", "report")
    assert answer.status_code == (404 if path.endswith(proofs) else 200), answer.text
    for word in (VAULT, run_id(VAULT), run_id(VAULT, "reach")):
        assert word not in answer.text, answer.text


def test_raw_events_of_shared_objects_are_not_shown(sides: TwoSidedServer) -> None:
    key = {"Authorization": f"Bearer {sides.keys['open read']}"}
    listed = sides.client.get("/api/v1/events", headers=key, params={"run": run_id(OPEN, "mixed")}).json()["items"]
    assert len(listed) == 1
    lines = sides.client.get("/api/v1/export", headers=key).text.splitlines()
    mixed = [json.loads(line) for line in lines if run_id(OPEN, "mixed") in line]
    assert [use["name"] for use in mixed[0]["inputs"] + mixed[0]["outputs"]] == ["open/b", "open/c"]
    assert "sql" not in mixed[0]["job"]["facets"]


# -- what they do is written down -------------------------------------------------------------------------------------


def test_writes_are_audited_with_key_address_and_program(sides: TwoSidedServer) -> None:
    answer = sides.ask("POST /api/v1/lineage", OPEN, "any read write admin")
    app = sides.client.app
    assert isinstance(app, FastAPI)
    [entry] = app.state.service.store.audit(resource=run_id(OPEN, "written"), event_type="event.ingested")
    assert entry.actor_type == "key"
    assert re.fullmatch(r"(write|read write admin) \([0-9a-f]{12}\)", entry.actor_id)
    assert (entry.client_ip, entry.user_agent) == ("testclient", "matrix")
    assert entry.correlation_id is not None
    assert answer.headers["x-request-id"]
