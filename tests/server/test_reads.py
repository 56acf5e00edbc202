"""Lineage over HTTP equals the store's answers, in the shapes of `--json`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from headwater.exchange.validating import validate
from headwater.model.plain import plain
from headwater.server.app.app import create_app
from headwater.server.app.settings import ServerSettings
from headwater.store.query import events
from headwater.store.store import Store
from tests.server.api import API, LOCAL, ask, segment
from tests.store.workload import busy_day
from tests.support.events import JOB_NAMESPACE, NAMESPACE, at, run_event, run_id, used


@pytest.fixture
def busy(durable_url: str, tmp_path: Path) -> Iterator[tuple[TestClient, Store]]:
    with Store(durable_url) as store:
        store.ingest_many(busy_day(12))
        with TestClient(create_app(durable_url, ServerSettings(workspace=str(tmp_path))), base_url=LOCAL) as client:
            yield client, store


def test_every_response_equals_the_stores_answer(busy: tuple[TestClient, Store]) -> None:
    client, store = busy
    assert ask(client, "/datasets")["items"] == plain(store.datasets())
    assert ask(client, "/datasets", search="t1", limit=1)["items"] == plain(store.datasets("t1", limit=1))
    assert ask(client, "/runs")["items"] == plain(store.runs())
    assert ask(client, "/runs", state="COMPLETE", dataset="t3")["items"] == plain(
        store.runs(state="COMPLETE", dataset="t3")
    )
    assert ask(client, "/audit", limit=1000)["items"] == plain(store.audit(limit=1000))
    assert ask(client, "/jobs")["items"] == plain(store.pages.jobs().items)
    assert ask(client, "/coverage")["items"] == plain(store.pages.coverage().items)
    assert ask(client, "/find", q="t1")["items"] == plain(store.pages.find("t1").items)
    for kind in ("dataset", "job", "column", "run", "any"):
        for text in ("a", "t1", store.runs(limit=1)[0].run_id[:6]):
            assert ask(client, "/find", q=text, type=kind)["items"] == plain(store.pages.find(text, kind=kind).items)
    assert ask(client, "/graph/map") == plain(store.pages.map())
    assert ask(client, "/graph/map", namespace="catalog") == plain(store.pages.map("catalog"))
    assert ask(client, "/overview") == plain(store.pages.overview())
    assert ask(client, "/events")["items"] == plain(store.pages.events().items)
    for one in store.datasets():
        name = one.dataset
        where = f"/{segment(name.namespace)}/{segment(name.name)}"
        assert ask(client, f"/datasets{where}") == plain(store.dataset(name))
        assert ask(client, f"/datasets{where}/quality") == {"items": plain(store.quality(name))}
        asked = {"dataset": name.name, "namespace": name.namespace}
        assert without_next(ask(client, "/lineage/upstream", **asked)) == plain(store.upstream(name))
        assert without_next(ask(client, "/lineage/downstream", **asked, depth=1)) == plain(
            store.downstream(name, depth=1)
        )
        assert without_next(ask(client, "/lineage/impact", **asked)) == plain(store.impact(name))
        assert ask(client, "/graph/around", **asked) == plain(store.pages.neighbourhood(name))
        assert ask(client, "/graph/columns", **asked) == plain(store.pages.column_links(name))
    columns = ask(client, "/lineage/columns", dataset="t3", column="a", direction="downstream")
    assert without_next(columns) == plain(store.downstream("t3", column="a"))
    moment = at(30)
    assert without_next(ask(client, "/lineage/upstream", dataset="t3", as_of=moment.isoformat())) == plain(
        store.upstream("t3", as_of=moment)
    )
    for path, answer in (
        ("/graph/around", store.pages.neighbourhood("t3", as_of=moment)),
        ("/graph/columns", store.pages.column_links("t3", as_of=moment)),
    ):
        assert ask(client, path, dataset="t3", as_of=moment.isoformat()) == plain(answer)
    assert ask(client, "/graph/map", as_of=moment.isoformat()) == plain(store.pages.map(as_of=moment))
    near = ask(client, "/graph/around", dataset="t3", upstream=2, downstream=0, limit=2)
    assert near == plain(store.pages.neighbourhood("t3", upstream=2, downstream=0, limit=2))
    whole = ask(client, "/graph/around", dataset="t3", columns=True)
    assert whole == plain(store.pages.neighbourhood("t3", columns=True))
    assert whole["column_edges"]
    first, second = store.runs(limit=2)
    assert ask(client, f"/runs/{first.run_id}") == plain(store.run(first.run_id))
    assert ask(client, f"/runs/{first.run_id}/diff/{second.run_id}") == plain(store.diff(first.run_id, second.run_id))
    assert ask(client, "/log/proof", seq=3) == plain(store.inclusion(3))
    assert ask(client, "/log/consistency", old=3, new=9) == plain(store.consistency(3, 9))
    assert ask(client, f"/runs/{first.run_id}/verified") == plain(store.verify_run(first.run_id))
    job = store.pages.jobs().items[0].job
    assert ask(client, f"/jobs/named/{segment(job.namespace)}/{segment(job.name)}") == plain(store.pages.job(job))


def without_next(answer: dict[str, object]) -> dict[str, object]:
    assert answer.pop("next") is None
    return answer


@pytest.mark.parametrize("path", ["/lineage/upstream", "/lineage/downstream", "/lineage/impact"])
def test_closures_page_by_page(busy: tuple[TestClient, Store], path: str) -> None:
    client, _ = busy
    part = "affected" if path.endswith("impact") else "nodes"
    whole = ask(client, path, dataset="t3")
    pieces, cursor = [], None
    while True:
        page = ask(client, path, dataset="t3", limit=2, **({"cursor": cursor} if cursor else {}))
        pieces += page[part]
        assert {name: page[name] for name in page if name not in (part, "next")} == {
            name: whole[name] for name in whole if name not in (part, "next")
        }
        cursor = page["next"]
        if cursor is None:
            break
    assert pieces == whole[part] != []


def test_lists_page_by_page(busy: tuple[TestClient, Store]) -> None:
    client, _ = busy
    for path in ("/datasets", "/jobs", "/runs", "/events", "/audit", "/coverage"):
        whole = ask(client, path, limit=1000)
        assert whole["next"] is None
        pieces, cursor = [], None
        while True:
            page = ask(client, path, limit=3, **({"cursor": cursor} if cursor else {}))
            pieces += page["items"]
            cursor = page["next"]
            if cursor is None:
                break
        assert pieces == whole["items"]


def test_column_edges_page_by_page(busy: tuple[TestClient, Store]) -> None:
    client, store = busy
    pieces, cursor = [], None
    while True:
        page = ask(client, "/graph/columns", dataset="t3", limit=2, **({"cursor": cursor} if cursor else {}))
        pieces += page["items"]
        cursor = page["next"]
        if cursor is None:
            break
    assert pieces == plain(store.pages.column_links("t3").items) != []


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("/graph/around", {"upstream": 4}), ("/graph/around", {"downstream": -1}), ("/graph/around", {"limit": 401}),
        ("/graph/around", {"limit": 0}), ("/graph/columns", {"limit": 5001}), ("/graph/map", {"as_of": "yesterday"}),
        ("/find", {"q": "x", "type": "partition"}),
    ],
)  # fmt: skip
def test_invalid_queries_are_refused(client: TestClient, path: str, asked: dict[str, object]) -> None:
    client.post(f"{API}/lineage", json=run_event(outputs=["x"]))
    assert ask(client, path, 422, **{"dataset": "x", **asked})["code"] == "request_invalid"


ODD = ["a/b", "a%2Fb", "..", "a b", "é💧", "?q#f", "%", "%25", "a+b", "", "/", "//", "\\", "a\nb", "<script>", "'"]


@pytest.mark.parametrize("name", ODD)
def test_names_are_data(client: TestClient, name: str) -> None:
    said = used(name, namespace=name)
    event = run_event(inputs=["a"], outputs=[said], job=name)
    assert client.post(f"{API}/lineage", json=event).status_code == 201
    found = ask(client, f"/datasets/{encoded(name)}/{encoded(name)}")
    assert found["summary"]["dataset"] == {"namespace": name, "name": name}
    assert ask(client, f"/jobs/named/{JOB_NAMESPACE}/{encoded(name)}")["summary"]["job"]["name"] == name
    near = ask(client, "/lineage/upstream", dataset=name, namespace=name)
    assert [node["endpoint"]["name"] for node in near["nodes"]] == ["a"]
    around = ask(client, "/graph/around", dataset=name, namespace=name)
    assert [card["endpoint"]["name"] for card in around["nodes"]] == [name, "a"]
    [column] = ask(client, "/graph/columns", dataset=name, namespace=name)["items"]
    assert column["downstream"] == {"namespace": name, "name": name}
    assert name in {one["name"] for one in ask(client, "/graph/map")["datasets"]}


def encoded(name: str) -> str:
    """A client treats `..` as a parent folder, even encoded, unless its dots are encoded."""
    return segment(name).replace(".", "%2E")


def test_unknown_names_are_problems_with_a_code(client: TestClient) -> None:
    client.post(f"{API}/lineage", json=run_event(outputs=["x"]))
    for path, code, parameters in (
        (f"/datasets/{NAMESPACE}/y", "unknown_dataset", {}),
        ("/runs/none", "unknown_run", {}),
        ("/jobs/named/a/b", "unknown_job", {}),
        ("/events/by-digest/00", "unknown_event", {}),
        ("/lineage/upstream", "unknown_column", {"dataset": "x", "column": "c"}),
        ("/lineage/upstream", "unknown_partition", {"dataset": "x", "partition": "p"}),
        (f"/runs/{run_id('run')}/ledger", "no_ledger", {}),
        (f"/runs/{run_id('run')}/manifest", "no_manifest", {}),
        (f"/runs/{run_id('run')}/certificate", "no_certificate", {}),
        ("/log/checkpoint", "no_checkpoint", {}),
    ):
        problem = ask(client, path, 404, **parameters)
        assert (problem["code"], problem["status"], problem["title"]) == (code, 404, "Not Found")
        assert problem["type"] == f"urn:headwater:problem:{code}"
        assert problem["instance"].startswith(API)
    assert ask(client, "/log/proof", 400, seq=99)["code"] == "query_error"
    assert ask(client, "/datasets", 400, cursor="nonsense")["code"] == "query_error"
    assert ask(client, "/lineage/upstream", 422, dataset="x", as_of="yesterday")["code"] == "request_invalid"
    assert ask(client, "/lineage/upstream", 400, dataset="x", column="c", partition="p")["code"] == "query_error"


def test_an_ambiguous_short_name(client: TestClient) -> None:
    client.post(f"{API}/lineage", json=run_event(outputs=["x", used("x", namespace="other")]))
    problem = ask(client, "/lineage/upstream", 409, dataset="x")
    assert problem["code"] == "ambiguous_dataset"
    assert "other/x" in problem["detail"]


def test_events_and_the_export(client: TestClient) -> None:
    bodies = [b'{"eventTime": "2026-01-0%dT00:00:00Z", "producer": "p", "job": {"namespace":"n","name":"j"}}' % day
              for day in range(1, 4)]  # fmt: skip
    for body in bodies:
        assert client.post(f"{API}/lineage", content=body).status_code == 201
    listed = ask(client, "/events")["items"]
    assert [event["number"] for event in listed] == [3, 2, 1]
    assert client.get(f"{API}/events/by-digest/{listed[0]['digest']}").content == bodies[2]
    assert client.get(f"{API}/export").content == b"".join(body + b"\n" for body in bodies)
    assert client.get(f"{API}/export", params={"format": "csv"}).status_code == 422


@pytest.mark.parametrize("format", ["wia-json", "wia-jsonl", "graphml", "mermaid", "openlineage"])
def test_a_graph_as_a_file(client: TestClient, tmp_path: Path, format: str) -> None:
    for number, (source, target) in enumerate([("a", "b"), ("b", "c")]):
        event = run_event(run=target, job=target, inputs=[source], outputs=[target], minute=number)
        assert client.post(f"{API}/lineage", json=event).status_code == 201
    around: dict[str, str | int] = {"format": format, "dataset": "a", "depth": 1}
    answer = client.get(f"{API}/export", params=around)
    assert answer.status_code == 200, answer.text
    file = tmp_path / "lineage"
    file.write_bytes(answer.content)
    if format == "mermaid":
        assert answer.text.count("-->") == 1
    else:
        found = validate(file)
        assert (found.format, found.sound, found.counts.get("node", 2)) == (format, True, 2)
    assert client.get(f"{API}/export", params=around | {"dataset": "nowhere"}).status_code == 404
    assert client.get(f"{API}/export", params={"format": format, "depth": 2}).status_code == 400


@pytest.mark.parametrize("most", [1, 250, 10**6])
def test_events_are_streamed_in_batches(client: TestClient, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """However many of them are in memory at once: they are one response, and as received."""
    monkeypatch.setattr(events, "_MOST_BYTES", most)
    assert ask(client, "/events/lineage") == {"events": [], "totalCount": 0}
    sent = [run_event(run=str(number), minute=number, outputs=["é💧"]) for number in range(5)]
    bodies = [json.dumps(event, ensure_ascii=False).encode() for event in sent]
    bodies[2] = b"\xef\xbb\xbf" + bodies[2]
    for body in bodies:
        assert client.post(f"{API}/lineage", content=body).status_code == 201
    assert ask(client, "/events/lineage") == {"events": sent[::-1], "totalCount": 5}
    assert ask(client, "/events/lineage", limit=0) == {"events": [], "totalCount": 5}
    assert ask(client, "/events/lineage", limit=2, offset=1, sortDirection="asc")["events"] == sent[1:3]


def test_the_report_of_a_run(client: TestClient) -> None:
    client.post(f"{API}/lineage", json=run_event(inputs=["a"], outputs=["x"]))
    answer = client.get(f"{API}/runs/{run_id('run')}/report")
    assert answer.headers["content-type"].startswith("text/html")
    assert "script-src" not in answer.headers["content-security-policy"]
    assert run_id("run") in answer.text
