"""Quality over HTTP: stated, read, and refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from headwater.model.plain import plain
from headwater.server.app.app import create_app
from headwater.server.app.settings import ServerSettings
from headwater.store.store import Store
from tests.server.api import API, LOCAL, ask, segment
from tests.support.events import NAMESPACE, ds, run_event

AT = f"/datasets/{segment(NAMESPACE)}/{segment('raw/x')}/quality"


@pytest.fixture
def served(sqlite_url: str, tmp_path: Path) -> Iterator[tuple[TestClient, Store]]:
    with Store(sqlite_url) as store:
        store.ingest(run_event(outputs=["raw/x"]))
        with TestClient(create_app(sqlite_url, ServerSettings(workspace=str(tmp_path))), base_url=LOCAL) as client:
            yield client, store


def test_statements_are_returned(served: tuple[TestClient, Store]) -> None:
    client, store = served
    assert ask(client, AT) == {"items": []}
    for accuracy in (0.25, 0.5, 1):
        stated = client.post(f"{API}{AT}", json={"metrics": {"accuracy": accuracy}})
        assert stated.status_code == 201, stated.text
    told = ask(client, AT)["items"]
    assert [one["report"]["metrics"]["accuracy"] for one in told] == [1.0, 0.5, 0.25]
    assert told == plain(store.quality(ds("raw/x")))
    assert ask(client, AT, limit=1)["items"] == told[:1]
    assert {one["basis"] for one in told} == {"stated"}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", "body_not_json"),
        (b'{"metrics": {"accuracy": NaN}}', "body_not_json"),
        (b"[]", "body_not_object"),
        (b'{"metrics": {"accuracy": 2}}', "structure_invalid"),
        (b'{"measured_at": "now"}', "timestamp_invalid"),
    ],
)
def test_invalid_documents_are_refused(served: tuple[TestClient, Store], body: bytes, code: str) -> None:
    client, store = served
    refused = client.post(f"{API}{AT}", content=body, headers={"Content-Type": "application/json"})
    assert (refused.status_code, refused.json()["code"]) == (400, code)
    assert store.quality(ds("raw/x")) == []
