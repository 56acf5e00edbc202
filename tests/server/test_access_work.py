"""Requests for hidden and for unknown names take the same work: the same response after the same SQL statements.

No clock is used, which would depend on the machine: each statement that SQLite gets is recorded. Names, ids and
numbers in them may differ; their number, order and everything else may not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from fastapi import FastAPI
from sqlalchemy import Engine
from sqlalchemy import event as listening

from headwater.model.tasks import TaskState
from headwater.server.rows.audit import READ
from headwater.server.tasks.tasks import Tasks
from tests.cli.running import run_here
from tests.server.matrix import ALL, ROLES, TABLE, TwoSidedServer, comparable_text, needs, two_sides
from tests.server.two_sided_store import ABSENT, OPEN, VAULT, event, run_id
from tests.support.pair_tables import write_orders, write_pair_tables

RECORD = {"root_id": "r-canary", "node_id": "n-canary", "parent_id": "r-canary", "action_taken": "made"}
CHILD = "tests.server.slow_task"
_LITERAL = re.compile(r"[xX]'[0-9a-fA-F]*'|'(?:[^']|'')*'|\b\d+\b")
_LIST = re.compile(r"\bIN \((?:[^()]|\([^()]*\))*\)")
OF_NUMBERS = ("GET /api/v1/log/proof",)
"""Asks for an entry of the log by its number. That one is taken is no secret: `/log/consistency` tells every reader how
many there are. Of one that is taken the event is looked up."""
_OF_KEYS = ("access_key", "access_session")
"""Whether a key is good is looked up now and then, whatever is asked."""


def _shape(text: str) -> str:
    """Without its values; an empty list is written as a condition that is never true."""
    return _LIST.sub("IN (?)", _LITERAL.sub("?", text)).replace(" AND (? != ?)", "")


class Statements:
    """The statements that SQLite gets, without their values."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        for name in ("connect", "checkout"):  # a connection may be older than this
            listening.listen(Engine, name, self._watch)

    def _watch(self, connection: Any, *_: Any) -> None:
        if hasattr(connection, "set_trace_callback"):
            connection.set_trace_callback(self._texts.append)

    def close(self) -> None:
        for name in ("connect", "checkout"):
            listening.remove(Engine, name, self._watch)

    def of(self, call: Callable[[], Any]) -> tuple[Any, list[str]]:
        self._texts.clear()
        answer = call()
        return answer, [text for part in self._transactions() for text in part]

    def _transactions(self) -> Iterator[list[str]]:
        part: list[str] = []
        for text in [*map(_shape, self._texts), "BEGIN"]:
            if text.startswith("BEGIN"):
                # A part that does not begin or end in here belongs to something earlier or later.
                whole = bool(part) and part[0].startswith("BEGIN") and part[-1] in ("COMMIT", "ROLLBACK")
                if whole and not any(name in statement for statement in part for name in _OF_KEYS):
                    yield part
                part = []
            part.append(text)


@pytest.fixture(scope="module")
def statements() -> Iterator[Statements]:
    statements = Statements()
    yield statements
    statements.close()


@pytest.fixture(scope="module")
def sides(
    statements: Statements, tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path
) -> Iterator[TwoSidedServer]:
    """The vault has pair tables of its run, and there are records."""
    folder = tmp_path_factory.mktemp("sides")
    entry = write_pair_tables(folder / "rows", run_id(VAULT), write_orders(folder / "orders" / "part-0.parquet"))
    facets = {"cdme.adjointMetadata": {"outputs": [entry]}}
    later_event = event(VAULT, "run", 6, [], [{"namespace": VAULT, "name": f"{VAULT}/b"}], facets=facets)
    with two_sides(folder, sqlite_template, later_event) as sides:
        headers = {"Authorization": f"Bearer {sides.keys['any read write admin']}"}
        record = {**RECORD, "storage_location": "here"}
        assert sides.client.post("/api/v1/records", json=record, headers=headers).status_code == 202
        loaded = ["records", "work", "--until-empty", "--window", "0s", "--store", f"sqlite:///{folder}/store.db"]
        assert run_here(loaded) == 0
        yield sides


def ask(sides: TwoSidedServer, key: str, method: str, path: str, body: Any = None) -> Any:
    headers = {"Authorization": f"Bearer {sides.keys[key]}", "Content-Type": "application/json"}
    content = None if body is None else json.dumps(body).encode()
    sides.client.cookies.clear()
    return sides.client.request(method, f"/api/v1{path}", content=content, headers=headers)


def assert_same_work(statements: Statements, hidden: Callable[[], Any], absent: Callable[[], Any]) -> tuple[Any, Any]:
    """Both responses, after the same work. The first request of any kind looks up more."""
    hidden(), absent()
    (one, work), (other, as_much) = statements.of(hidden), statements.of(absent)
    assert one.status_code == other.status_code
    assert work == as_much
    return one, other


def test_visible_names_take_other_statements(sides: TwoSidedServer, statements: Statements) -> None:
    """So the recorded statements are those of the query."""
    path = "/datasets/{0}/{0}%2Fb"
    _, seen = statements.of(lambda: ask(sides, "open read", "GET", path.format(OPEN)))
    _, hidden = statements.of(lambda: ask(sides, "open read", "GET", path.format(VAULT)))
    assert len(seen) > len(hidden) > 0


@pytest.mark.parametrize("by", ["key", "session"])
@pytest.mark.parametrize("route", [route for route, row in TABLE.items() if row.absent and route not in OF_NUMBERS])
def test_hidden_and_absent_take_the_same_work(
    sides: TwoSidedServer, statements: Statements, route: str, by: str
) -> None:
    row = TABLE[route]
    for role in ROLES:
        if row.own == 0 and not needs(row) - set(role.split()) and ALL not in row.needs:
            continue
        hidden, absent = assert_same_work(
            statements,
            partial(sides.ask, route, VAULT, f"open {role}", by_session=by == "session"),
            partial(sides.ask, route, ABSENT, f"open {role}", by_session=by == "session"),
        )
        assert comparable_text(hidden, sides.about[VAULT]) == comparable_text(absent, sides.about[ABSENT]), role


# -- rows -------------------------------------------------------------------------------------------------------------


def row_queries(side: str) -> list[tuple[str, Any]]:
    dataset, qualified = f"{side}/b", {"dataset": f"{side}/b", "namespace": side}
    source = {"source": f"{side}/a", "source_namespace": side}
    return [
        ("/rows/trace", {"run": run_id(side)}),
        ("/rows/trace", {"run": run_id(side), "output": 1}),
        ("/rows/trace", {"run": run_id(side), "where": {"customer": 4}, "depth": 3}),
        ("/rows/trace", {"dataset": dataset}),
        ("/rows/trace", {**qualified, "condition": "customer = 4"}),
        ("/rows/forward", qualified),
        ("/rows/forward", {"dataset": dataset, "condition": "x = 1"}),
        ("/rows/why-not", {**qualified, **source, "where": {"x": 1}}),
        ("/rows/why-not", {"dataset": dataset, "source": f"{side}/a", "condition": "x = 1"}),
        ("/rows/why-not", {"dataset": f"{OPEN}/b", "namespace": OPEN, **source, "where": {"x": 1}}),
    ]


@pytest.mark.parametrize("number", range(len(row_queries(VAULT))))
def test_rows_are_for_keys_of_all_namespaces(sides: TwoSidedServer, statements: Statements, number: int) -> None:
    """For one's own rows, another's and unknown ones: one response, before any lookup."""
    (path, hidden), (_, absent), (_, own) = (row_queries(side)[number] for side in (VAULT, ABSENT, OPEN))
    for role in ROLES:
        asked = [
            partial(ask, sides, f"open {role}", "POST", path, body) for body in (hidden, absent, own, {"strange": 1})
        ]
        for other in asked[1:]:
            one, two = assert_same_work(statements, asked[0], other)
            assert (one.status_code, one.json()["code"]) == (403, "not_permitted")
            assert comparable_text(one, {}) == comparable_text(two, {})
    if path == "/rows/trace" and "output" not in hidden:
        whole = ask(sides, "any read", "POST", path, hidden)
        assert whole.status_code == 200, "the vault has rows that could have been told"
        assert whole.json()["rows"]


# -- tasks of others --------------------------------------------------------------------------------------------------


@pytest.fixture
def tasks(sides: TwoSidedServer) -> Iterator[Tasks]:
    assert isinstance(sides.client.app, FastAPI)
    tasks: Tasks = sides.client.app.state.service.tasks
    yield tasks
    tasks.close()


def test_tasks_of_others_do_not_exist(sides: TwoSidedServer, statements: Statements, tasks: Tasks) -> None:
    """A running one, and one whose result contains rows: neither can be seen, cancelled, or distinguished from an
    unknown one; and a refused client leaves no audit entry of reading."""
    assert isinstance(sides.client.app, FastAPI)
    store = sides.client.app.state.service.store
    owner = store.access.add("owner", scopes=["read"])
    sides.keys["owner"] = owner.secret
    done = tasks.start("rows.trace", CHILD, {"answer": 1}, owner.key.key_id)
    while tasks.task(done.id).state is TaskState.RUNNING:
        pass
    result = {
        "dataset": f"{VAULT}/b",
        "runs": [],
        "count": 1,
        "rows": [{"x": "row-canary"}],
        "notes": [],
        "sources": [],
    }
    (tasks._folder / done.id / "result.json").write_text(json.dumps(result))
    before = store.audit(event_type=READ)
    running = tasks.start("rows.forward", CHILD, {"seconds": 120}, owner.key.key_id)
    others = [key for key in sides.keys if key.split()[0] in (OPEN, VAULT) or key in ("any read", "any write")]
    assert len(others) == 10
    for key in others:
        for method in ("GET", "DELETE"):
            for task in (done, running):
                nothing = str(uuid4())
                hidden, absent = assert_same_work(
                    statements,
                    partial(ask, sides, key, method, f"/tasks/{task.id}"),
                    partial(ask, sides, key, method, f"/tasks/{nothing}"),
                )
                assert hidden.status_code == (404 if "read" in key else 403), (key, hidden.text)
                assert comparable_text(hidden, {"id": task.id}) == comparable_text(absent, {"id": nothing})
        listed = ask(sides, key, "GET", "/tasks")
        assert "canary" not in listed.text
        assert listed.status_code == 403 or listed.json()["items"] == []
    assert tasks.task(running.id).state is TaskState.RUNNING
    assert store.audit(event_type=READ) == before
    assert "row-canary" in ask(sides, "owner", "GET", f"/tasks/{done.id}").text
    entry, *rest = store.audit(event_type=READ)
    assert rest == before
    assert owner.key.key_id in entry.actor_id


# -- records, which have no namespace, and the items of pipelines, which are records ----------------------------------


def test_records_are_for_keys_of_all_namespaces(sides: TwoSidedServer, statements: Statements) -> None:
    assert "n-canary" in ask(sides, "any read", "GET", "/records/trace?root=r-canary").text
    for path in (
        "/records/trace?root={0}",
        "/records/find?root={0}",
        "/records/find?node={0}",
        "/records/find?limit=5",
    ):
        for role in ROLES:
            hidden, absent = assert_same_work(
                statements,
                partial(ask, sides, f"open {role}", "GET", path.format("r-canary")),
                partial(ask, sides, f"open {role}", "GET", path.format("absent")),
            )
            assert (hidden.status_code, hidden.json()["code"]) == (403, "not_permitted")
            assert comparable_text(hidden, {}) == comparable_text(absent, {})
    record = {**RECORD, "storage_location": "here"}
    for role in ROLES:
        sent = ask(sides, f"open {role}", "POST", "/records", record)
        assert (sent.status_code, sent.json()["code"]) == (403, "not_permitted")


@pytest.mark.parametrize("route", [route for route, row in TABLE.items() if row.own and ALL not in row.needs])
def test_no_other_list_contains_records(sides: TwoSidedServer, route: str) -> None:
    assert "canary" not in sides.ask(route, OPEN, "open read write admin").text
    assert "canary" not in ask(sides, "open read write admin", "GET", "/find?q=r-canary&type=any").text
    assert "canary" not in ask(sides, "open read write admin", "GET", "/audit?resource=r-canary").text
