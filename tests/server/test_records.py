"""Records over HTTP: accepted, loaded, traced and found."""

from __future__ import annotations

from fastapi.testclient import TestClient

from tests.cli.running import run_here
from tests.server.api import API, ask

FIRST = {"root_id": "r", "node_id": "a", "parent_id": "r", "action_taken": "read", "storage_location": "s3://b/a"}
SECOND = {"root_id": "r", "node_id": "b", "parent_id": "a", "action_taken": "clean", "storage_location": "s3://b/b"}


def load(url: str) -> None:
    assert run_here(["records", "work", "--until-empty", "--window", "0s", "--store", url, "--json"]) == 0


def test_from_the_request_to_the_trace(client: TestClient, served_url: str) -> None:
    sent = client.post(f"{API}/records", json=FIRST)
    assert sent.status_code == 202
    assert sent.json() == {"taken": [{"index": 0, "record": None, "node_id": "a"}], "refused": []}
    mixed = client.post(f"{API}/records", json=[SECOND, {"root_id": 5}])
    assert mixed.status_code == 202
    assert [one["index"] for one in mixed.json()["refused"]] == [1]
    load(served_url)
    found = ask(client, "/records/find", root="r")["items"]
    assert {one["node_id"] for one in found} == {"a", "b"}
    assert [one["node_id"] for one in ask(client, "/records/find", action="clean")["items"]] == ["b"]
    traced = ask(client, "/records/trace", root="r")
    [trace] = traced["traces"]
    assert [step["node_id"] for step in trace["lineage"]] == ["a", "b", "FINISHED"]
    assert ask(client, "/records/trace", root="r", action="none")["traces"] == []
    assert ask(client, "/records/trace", 404, root="x")["code"] == "unknown_root"


def test_invalid_records(client: TestClient) -> None:
    for body, code in (
        (b"", "body_not_json"), (b"NaN", "body_not_json"), (b"[" * 9999, "body_not_json"), (b"\xff", "body_not_json"),
        (b"7", "records_refused"), (b"{}", "records_refused"), (b"[1, {}]", "records_refused"),
    ):  # fmt: skip
        answer = client.post(f"{API}/records", content=body)
        assert (answer.status_code, answer.json()["code"]) == (400, code)
