"""Cursors of other keys: a page continues at the cursor's position, in what the key sees, and nowhere else.

A cursor is a position, and not secret. One that was issued to a key for all namespaces may point to objects that
another key does not see; so may a forged one.
"""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from fastapi import FastAPI

from headwater.model.access import Scope
from tests.server.api import document
from tests.server.matrix import ALL, TABLE, TwoSidedServer, names_in, two_sides
from tests.server.two_sided_store import OPEN, VAULT, Json, dataset, event, from_columns, run_id

WIDE = "wide-open"
"""Sorts after the vault, so that what is hidden stands between what is seen."""
PAGED = [
    *("GET /api/v1/datasets", "GET /api/v1/jobs", "GET /api/v1/find", "GET /api/v1/coverage", "GET /api/v1/runs"),
    *("GET /api/v1/events", "GET /api/v1/audit", "GET /api/v1/log/checkpoints", "GET /api/v1/graph/columns"),
    *(f"GET /api/v1/lineage/{way}" for way in ("upstream", "downstream", "columns", "impact")),
    "GET /api/v1/datasets/{namespace}/{name}/provenance",
]
SIDES = (OPEN, VAULT, WIDE)
AT_NAMES = [route for route in PAGED if route.rpartition("/")[2] in ("datasets", "jobs", "coverage", "columns")]
AT_NAMES += [f"GET /api/v1/lineage/{way}" for way in ("upstream", "downstream", "impact")]
"""Whose cursors stand at names; those of the others, at times and at numbers of the log."""


def fan() -> list[Json]:
    """Datasets of all sides that flow into one dataset, and datasets of all sides that are made from one."""
    into = [(side, f"{side}/in{number}") for side in SIDES for number in (1, 2)]
    out_of = [(side, f"out{number}") for side in SIDES for number in (1, 2)]
    columns = {"fields": {"x": {"inputFields": [{"namespace": s, "name": n, "field": "x"} for s, n in into]}}}
    made = {"namespace": OPEN, "name": f"{OPEN}/c", "facets": {"columnLineage": columns}}
    wide = [dataset(side, name, columnLineage=from_columns((OPEN, "b"))) for side, name in out_of]
    events = [
        event(OPEN, "into", 10, [{"namespace": s, "name": n} for s, n in into], [made], job="into"),
        event(OPEN, "out", 11, [dataset(OPEN, "b")], wide, job="out"),
    ]
    for number, side in enumerate(SIDES * 2):  # taking turns, in time as well as in the log
        inputs = [dataset(OPEN, "b")]
        events.append(event(side, f"turn{number}", 12 + number, inputs, [dataset(side, "turned")], job=f"turn{number}"))
    return events


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Iterator[TwoSidedServer]:
    with two_sides(tmp_path_factory.mktemp("sides"), sqlite_template, *fan()) as sides:
        assert isinstance(sides.client.app, FastAPI)
        access = sides.client.app.state.service.store.access
        sides.keys["narrow"] = access.add("narrow", scopes=list(Scope), namespaces=[OPEN, WIDE]).secret
        sides.keys["all"] = access.add("all", scopes=list(Scope)).secret
        yield sides


def page(sides: TwoSidedServer, route: str, key: str, cursor: str | None, limit: int) -> Any:
    words = sides.about[OPEN]
    path = route.partition(" ")[2]
    path = path.format(**{name: quote(value, safe="") for name, value in names_in(route, words).items()})
    query = {name: value.format(**words) for name, value in TABLE[route].query.items()}
    query |= {"q": "turn"} if "q" in query else {}
    more = {} if cursor is None else {"cursor": cursor}
    headers = {"Authorization": f"Bearer {sides.keys[key]}"}
    return sides.client.get(path, params={**query, **more, "limit": str(limit)}, headers=headers)


def items(answer: Any) -> list[Any]:
    assert answer.status_code == 200, answer.text
    body = answer.json()
    [part] = {"items", "nodes", "affected"} & body.keys()
    return list(body[part])


def all_items_and_cursors(
    sides: TwoSidedServer, route: str, key: str, cursor: str | None = None
) -> tuple[list[Any], list[str]]:
    """Item by item: the items, and the cursors between them."""
    found: list[Any] = []
    cursors: list[str] = []
    while True:
        answer = page(sides, route, key, cursor, 1)
        found += items(answer)
        cursor = answer.json()["next"]
        if cursor is None:
            return found, cursors
        cursors.append(cursor)


def position(cursor: str) -> list[Any]:
    return list(json.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))))


def cursor_at(place: list[Any]) -> str:
    return urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")


HIDDEN = {run_id(VAULT, name) for name in ("run", "again", "reach", "turn1", "turn4")}


def hidden_words(text: str) -> list[str]:
    return [word for word in (VAULT, *HIDDEN, *(run.replace("-", "") for run in HIDDEN)) if word in text]


def test_these_are_all_lists_with_cursors() -> None:
    described = {
        f"GET {path}"
        for path, ways in document()["paths"].items()
        if any(parameter["name"] == "cursor" for parameter in ways.get("get", {}).get("parameters", ()))
    }
    assert described == set(PAGED)


@pytest.mark.parametrize("route", [route for route in PAGED if ALL not in TABLE[route].needs])
def test_a_cursor_of_a_key_that_sees_more(sides: TwoSidedServer, route: str) -> None:
    seen, own = all_items_and_cursors(sides, route, "narrow")
    assert seen == items(page(sides, route, "narrow", None, 1000))
    assert not [cursor for cursor in own if hidden_words(json.dumps(position(cursor)))], (
        "a cursor stands at what is hidden"
    )
    everything, cursors = all_items_and_cursors(sides, route, "all")
    assert len(everything) > len(seen) > 2
    assert hidden_words(json.dumps(everything))
    left = len(seen)
    for cursor in cursors:
        answer = page(sides, route, "narrow", cursor, 1000)
        rest = items(answer)
        assert not hidden_words(answer.text)
        assert rest == seen[len(seen) - len(rest) :], "it goes on in what the key sees, in its order"
        assert len(rest) <= left, "the place moves on"
        left = len(rest)
        stepped, further = all_items_and_cursors(sides, route, "narrow", cursor)
        assert stepped == rest
        assert not [one for one in further if hidden_words(json.dumps(position(one)))]
    assert left < len(seen)


@pytest.mark.parametrize("route", [route for route in PAGED if ALL not in TABLE[route].needs])
def test_a_hidden_position_and_an_unused_one(sides: TwoSidedServer, route: str) -> None:
    """The page after a cursor does not reveal whether there is something at the cursor's position."""
    _, cursors = all_items_and_cursors(sides, route, "all")
    compared = 0
    for place in map(position, cursors):
        absent = json.loads(_absent(json.dumps(place)))
        if absent != place:
            compared += 1
            hidden, nowhere = (page(sides, route, "narrow", cursor_at(one), 2) for one in (place, absent))
            assert (hidden.status_code, hidden.json()) == (nowhere.status_code, nowhere.json())
    assert compared or route not in AT_NAMES


def _absent(text: str) -> str:
    """The next unused name or run id: there is nothing between it and the hidden one."""
    text = text.replace(VAULT, f"{VAULT}-")
    for run in HIDDEN:
        for form in (run, run.replace("-", "")):
            text = text.replace(form, form[:-1] + ("0" if form[-1] == "f" else "f"))
    return text


@pytest.mark.parametrize("route", [route for route in PAGED if ALL in TABLE[route].needs])
def test_a_cursor_opens_no_list(sides: TwoSidedServer, route: str) -> None:
    for cursor in (None, cursor_at([0]), cursor_at([10**6]), "garbage"):
        answer = page(sides, route, "narrow", cursor, 1)
        assert (answer.status_code, answer.json()["code"]) == (403, "not_permitted")


@pytest.mark.parametrize("route", PAGED)
def test_a_cursor_of_another_list(sides: TwoSidedServer, route: str) -> None:
    """It is refused, or is a position in this list; nothing is looked up for it."""
    for other in PAGED:
        if ALL in TABLE[other].needs or ALL in TABLE[route].needs:
            continue
        for cursor in all_items_and_cursors(sides, other, "all")[1][:2]:
            answer = page(sides, route, "narrow", cursor, 1000)
            assert answer.status_code in (200, 400), answer.text
            assert not hidden_words(re.sub(r"\"cursor\":\"[^\"]*\"", "", answer.text))
