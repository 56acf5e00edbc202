"""Generated requests, from the OpenAPI document: each response is one that the document describes.

No response is a 5xx, none has a status, a type or a shape that the document does not describe, and requests that the
document does not allow are refused. Names are random, or taken from a store that has them.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from headwater.store.store import Store
from tests.server.matrix import ADMIN, RECORD, TABLE, filled, names_in
from tests.server.running import ServerProcess
from tests.server.test_records import load
from tests.server.two_sided_store import OPEN, build, run_id

if TYPE_CHECKING:
    from schemathesis import Case
    from schemathesis.schemas import APIOperation, BaseSchema

ENDLESS = "GET /api/v1/stream"
"""Its answer has no end; what it tells is for tests/server/test_live.py."""
ROUTES = [route for route in TABLE if route != ENDLESS]
NOT_UNDERSTOOD = {
    "DELETE /api/v1/session": "a key has no session to close",
    "POST /api/v1/rows/trace": "without pair tables it is for an admin, and starts Spark",
    "POST /api/v1/rows/forward": "is for an admin, and starts Spark",
    "POST /api/v1/rows/why-not": "is for an admin, and starts Spark",
}
"""All others have to answer 2xx when they are asked about what is there."""
TAKEN_IN_PART = ("POST /api/v1/lineage", "POST /api/v1/lineage/batch", "POST /api/v1/records")
"""They take what they can, and tell what was wrong with the rest: a 2xx is no sign that all of it was good. What events
are refused for is in tests/server/test_bad_input.py."""
NEVER_WRONG = {
    *("GET /health/live", "GET /health/ready", "GET /metrics", "GET /api/v1/session", "DELETE /api/v1/session"),
    *("GET /api/v1/overview", "GET /api/v1/tasks", "GET /api/v1/log/checkpoint", "GET /api/v1/log/keys"),
    *("GET /api/v1/access/keys", "DELETE /api/v1/access/keys/{key_id}"),
    *("GET /api/v1/tasks/{task_id}", "DELETE /api/v1/tasks/{task_id}", "GET /api/v1/events/by-digest/{digest}"),
    *("GET /api/v1/datasets/{namespace}/{name}", "GET /api/v1/jobs/named/{namespace}/{name}"),
    *("GET /api/v1/runs/{run_id}", "GET /api/v1/runs/{run_a}/diff/{run_b}", "GET /api/v1/jobs/runs/{run_id}"),
    *(f"GET /api/v1/runs/{{run_id}}/{what}" for what in ("ledger", "manifest", "certificate", "verified", "bundle")),
    *("GET /api/v1/runs/{run_id}/report", "GET /api/v1/namespaces/{namespace}"),
    *(f"GET /api/v1/namespaces/{{namespace}}/{what}/{{name}}" for what in ("datasets", "jobs")),
    "GET /api/v1/namespaces/{namespace}/datasets/{name}/versions/{version}",
}
"""They take nothing, or names alone, and any text may be one: what is not there is not found."""
STRICT = [route for route in ROUTES if route not in NEVER_WRONG and route not in TAKEN_IN_PART]


def answer_checks() -> list[Any]:
    """Imported where a test runs: schemathesis takes seconds to import, and every worker collects this file."""
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi import checks

    return [
        not_a_server_error,
        checks.status_code_conformance,
        checks.content_type_conformance,
        checks.response_headers_conformance,
        checks.response_schema_conformance,
    ]


@dataclass
class DescribedServer:
    """A server with data, and the requests that it got."""

    schema: BaseSchema
    keys: dict[bool, dict[str, str]]
    """Whether an admin is wanted, and what is shown then. Not both in one: a task would start Spark."""
    words: dict[str, str]
    """What is there, by the name of the parameter."""

    def operation(self, route: str) -> APIOperation[Any, Any, Any, Any]:
        method, _, path = route.partition(" ")
        return self.schema[path][method]

    def ask(self, route: str, case: Case[Any], *more: Any) -> int:
        headers = self.keys[ADMIN in TABLE[route].needs]
        answer = case.call(headers=headers, timeout=30)
        case.validate_response(answer, checks=[*answer_checks(), *more])
        return int(answer.status_code)

    def real(self, route: str) -> dict[str, Any]:
        """The paths and parameters of existing objects."""
        row, words = TABLE[route], self.words
        query = {name: value.format(**words) for name, value in row.query.items()}
        if route == "GET /api/v1/records/trace":
            query = {"root": RECORD["root_id"]}
        names = {name: quote(value, safe="") for name, value in names_in(route, words).items()}
        return {"path_parameters": names or None, "query": query or None}


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Iterator[DescribedServer]:
    import schemathesis

    folder = tmp_path_factory.mktemp("described")
    url = f"sqlite:///{folder}/store.db"
    shutil.copy(sqlite_template, folder / "store.db")
    build(url, folder)
    with Store(url) as store:
        made = {admin: store.access.add("schemathesis", scopes=["admin"] if admin else ["read", "write"])
                for admin in (False, True)}  # fmt: skip
        spare = store.access.add("spare").key.key_id
        [entry, *_] = store.audit(resource=run_id(OPEN), event_type="event.ingested")
    keys = {admin: {"Authorization": f"Bearer {one.secret}"} for admin, one in made.items()}
    words = {
        **{"side": OPEN, "namespace": OPEN, "name": f"{OPEN}/b", "job": f"{OPEN}-job", "key_id": spare},
        **{"run": run_id(OPEN), "run_id": run_id(OPEN), "run_a": run_id(OPEN), "run_b": run_id(OPEN, "again")},
        **{"digest": entry.details["digest"].removeprefix("sha256:"), "seq": str(entry.seq)},
        **{"key": made[False].secret, "vault": "vault"},
    }
    with ServerProcess(url, log=folder / "server.log") as server:
        assert server.post("/api/v1/records", RECORD, **keys[False])[0] == 202
        load(url)
        _, task = server.post("/api/v1/log/verify", b"", **keys[False])
        while server.get(f"/api/v1/tasks/{task['id']}", **keys[False])[1]["state"] == "running":
            time.sleep(0.1)
        _, versions = server.get(f"/api/v1/namespaces/{OPEN}/datasets/{OPEN}%2Fb/versions", **keys[False])
        words |= {"task_id": task["id"], "version": versions["versions"][0]["version"]}
        schema = schemathesis.openapi.from_url(f"{server.url}/api/v1/openapi.json", headers=keys[False])
        # A body that is too long is refused before anybody looks into it.
        schema.config.checks.negative_data_rejection.expected_statuses += ["413"]
        yield DescribedServer(schema, keys, words)


_LONG_TIMEOUT = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
QUICK = settings(
    max_examples=3,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=_LONG_TIMEOUT,
)
QUICK_REFUSALS = settings(QUICK, max_examples=2)
LONG = settings(max_examples=300, deadline=None, database=None, suppress_health_check=_LONG_TIMEOUT)


def check(described: DescribedServer, route: str, how: settings) -> None:
    """With random names, and with existing ones, the rest of the request is generated."""
    operation = described.operation(route)
    real = described.real(route)

    @how
    @given(case=st.one_of(operation.as_strategy(**real), operation.as_strategy()))
    def checked(case: Case[Any]) -> None:
        described.ask(route, case)

    checked()


def check_refusals(described: DescribedServer, route: str, how: settings) -> None:
    from schemathesis import GenerationMode
    from schemathesis.specs.openapi.checks import negative_data_rejection

    operation = described.operation(route)

    @how
    @given(case=operation.as_strategy(GenerationMode.NEGATIVE))
    def checked(case: Case[Any]) -> None:
        described.ask(route, case, negative_data_rejection)

    checked()


@pytest.mark.parametrize("route", [route for route in ROUTES if route not in NOT_UNDERSTOOD])
def test_existing_objects_are_returned_as_described(described: DescribedServer, route: str) -> None:
    """If all requests were refused, the tests below would prove nothing."""
    operation = described.operation(route)
    body = TABLE[route].body
    sent = {} if body is None else {"body": filled(body, OPEN, described.words), "media_type": "application/json"}
    assert described.ask(route, operation.Case(**described.real(route), **sent)) < 300


@pytest.mark.parametrize("route", ROUTES)
def test_every_response_is_described(described: DescribedServer, route: str) -> None:
    check(described, route, QUICK)


def test_routes_without_a_422(described: DescribedServer) -> None:
    document = described.schema.raw_schema
    told = {
        f"{method.upper()} {path}"
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if "422" not in operation["responses"] and "requestBody" not in operation
    }
    assert told == NEVER_WRONG


@pytest.mark.parametrize("route", STRICT)
def test_undescribed_requests_are_refused(described: DescribedServer, route: str) -> None:
    check_refusals(described, route, QUICK_REFUSALS)


@pytest.mark.long
@pytest.mark.parametrize("route", ROUTES)
def test_every_response_to_very_many_is_described(described: DescribedServer, route: str) -> None:
    check(described, route, LONG)


@pytest.mark.long
@pytest.mark.parametrize("route", STRICT)
def test_very_many_undescribed_requests_are_refused(described: DescribedServer, route: str) -> None:
    check_refusals(described, route, LONG)
