"""Marquez's own Python client works against the server."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from marquez_client import MarquezClient
from marquez_client.errors import APIError

from tests.server.running import ServerProcess
from tests.support.events import JOB_NAMESPACE, NAMESPACE, column_lineage, run_event, run_id, schema, used


@pytest.fixture(scope="module")
def server(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """One for all: they only read."""
    folder = tmp_path_factory.mktemp("marquez")
    shutil.copy(sqlite_template, folder / "store.db")
    with ServerProcess(f"sqlite:///{folder}/store.db", log=folder / "log") as running:
        yield running


@pytest.fixture(scope="module")
def marquez(server: ServerProcess) -> MarquezClient:
    said = {"schema": schema("c:int"), "columnLineage": column_lineage({"c": [("raw/a", "p")]})}
    for event in (
        run_event("START", minute=0),
        run_event(
            inputs=[used("raw/a", facets={"schema": schema("p:int")})], outputs=[used("x", facets=said)], minute=2
        ),
        run_event(run="2", job="report", inputs=["x"], outputs=["s3://b/y:z"], minute=3),
    ):
        assert server.post("/api/v1/lineage", event)[0] == 201
    return MarquezClient(server.url)


def test_reads_of_the_client(marquez: MarquezClient) -> None:
    assert [one["name"] for one in marquez.list_namespaces()["namespaces"]] == [JOB_NAMESPACE, NAMESPACE]
    assert marquez.get_namespace(NAMESPACE)["name"] == NAMESPACE
    listed = marquez.list_datasets(NAMESPACE)
    assert [one["name"] for one in listed["datasets"]] == ["raw/a", "s3://b/y:z", "x"]
    assert listed["totalCount"] == 3
    assert [one["name"] for one in marquez.list_datasets(NAMESPACE, limit=1, offset=1)["datasets"]] == ["s3://b/y:z"]
    dataset = marquez.get_dataset(NAMESPACE, "x")
    assert dataset["id"] == {"namespace": NAMESPACE, "name": "x"}
    assert [(field["name"], field["type"]) for field in dataset["fields"]] == [("c", "int")]
    assert marquez.get_dataset(NAMESPACE, "raw/a")["name"] == "raw/a"
    [version] = marquez.list_dataset_versions(NAMESPACE, "x")["versions"]
    assert version["version"] == dataset["currentVersion"]
    assert marquez.get_dataset_version(NAMESPACE, "x", version["version"]) == version
    assert version["createdByRun"]["id"] == run_id("run")
    assert [one["name"] for one in marquez.list_jobs(JOB_NAMESPACE)["jobs"]] == ["job", "report"]
    job = marquez.get_job(JOB_NAMESPACE, "job")
    assert job["inputs"] == [{"namespace": NAMESPACE, "name": "raw/a"}]
    assert job["latestRun"]["state"] == "COMPLETED"
    [run] = marquez.list_job_runs(JOB_NAMESPACE, "job")["runs"]
    assert run["id"] == run_id("run")
    assert run["durationMs"] == 120_000
    assert marquez.get_job_run(run_id("run"))["jobVersion"]["name"] == "job"
    assert marquez.list_events()["items"] != []
    with pytest.raises(APIError):
        marquez.get_dataset(NAMESPACE, "nothing")


def test_column_lineage_by_the_client(marquez: MarquezClient) -> None:
    up, down = f"datasetField:{NAMESPACE}:raw/a:p", f"datasetField:{NAMESPACE}:x:c"
    for found in (
        marquez.get_column_lineage_by_dataset(NAMESPACE, "x"),
        marquez.get_column_lineage_by_dataset_field(NAMESPACE, "x", "c"),
        marquez.get_column_lineage_by_job(JOB_NAMESPACE, "job"),
        marquez.get_column_lineage_by_dataset_field(NAMESPACE, "raw/a", "p", with_downstream=True),
    ):
        assert [node["id"] for node in found["graph"]] == [up, down]
        assert found["graph"][1]["inEdges"] == [{"origin": up, "destination": down}]
        assert found["graph"][1]["data"]["fieldType"] == "int"
        assert found["graph"][1]["data"]["inputFields"][0]["field"] == "p"
    assert marquez.get_column_lineage_by_dataset_field(NAMESPACE, "raw/a", "p") == {"graph": []}


def test_the_graph_and_the_search_of_its_web_page(marquez: MarquezClient, server: ServerProcess) -> None:
    status, found = server.get(f"/api/v1/lineage?nodeId=dataset:{NAMESPACE}:x&depth=20")
    assert status == 200
    nodes = {node["id"]: node for node in found["graph"]}
    x, job, report = f"dataset:{NAMESPACE}:x", f"job:{JOB_NAMESPACE}:job", f"job:{JOB_NAMESPACE}:report"
    assert set(nodes) == {x, job, report, f"dataset:{NAMESPACE}:raw/a", f"dataset:{NAMESPACE}:s3://b/y:z"}
    assert nodes[x]["inEdges"] == [{"origin": job, "destination": x}]
    assert nodes[x]["outEdges"] == [{"origin": x, "destination": report}]
    assert nodes[job]["type"] == "JOB"
    for node, inputs, outputs in ((job, ["raw/a"], ["x"]), (report, ["x"], ["s3://b/y:z"])):
        assert nodes[node]["data"]["inputs"] == [{"namespace": NAMESPACE, "name": name} for name in inputs]
        assert nodes[node]["data"]["outputs"] == [{"namespace": NAMESPACE, "name": name} for name in outputs]
    assert server.get(f"/api/v1/lineage?nodeId=job:{JOB_NAMESPACE}:job&depth=1")[1] != found
    assert server.get(f"/api/v1/lineage?nodeId=dataset:{NAMESPACE}:s3://b/y:z")[1] == found
    assert server.get("/api/v1/lineage?nodeId=cake")[0] == 400
    assert server.get("/api/v1/lineage?nodeId=dataset:a:b")[0] == 404
    status, results = server.get("/api/v1/search?q=rep&filter=JOB")
    assert [(one["name"], one["type"]) for one in results["results"]] == [("report", "JOB")]
    status, events = server.get("/api/v1/events/lineage?limit=1")
    assert (status, events["totalCount"], events["events"][0]["job"]["name"]) == (200, 3, "report")
    assert server.get(f"/api/v1/jobs/runs/{run_id('run')}/facets?type=run")[1] == {
        "runId": run_id("run"), "facets": {},
    }  # fmt: skip


def test_which_versions_a_run_read_and_wrote(marquez: MarquezClient) -> None:
    def used(run: dict[str, Any], direction: str) -> list[tuple[str, str]]:
        found = [one["datasetVersionId"] for one in run[f"{direction}DatasetVersions"]]
        assert {one["namespace"] for one in found} <= {NAMESPACE}
        return [(one["name"], one["version"]) for one in found]

    current = {name: marquez.get_dataset(NAMESPACE, name)["currentVersion"] for name in ("x", "s3://b/y:z")}
    report = marquez.get_job_run(run_id("2"))
    assert used(report, "input") == [("x", current["x"])]
    assert used(report, "output") == [("s3://b/y:z", current["s3://b/y:z"])]
    first = marquez.get_job_run(run_id("run"))
    assert used(first, "input") == [], "nobody is known to have written it"
    assert used(first, "output") == [("x", current["x"])]
    [listed] = marquez.list_job_runs(JOB_NAMESPACE, "report")["runs"]
    for other in (listed, marquez.get_job(JOB_NAMESPACE, "report")["latestRun"]):
        assert [used(other, way) for way in ("input", "output")] == [used(report, way) for way in ("input", "output")]


def test_a_version_has_the_facets_of_its_time(served_url: str, tmp_path: Path) -> None:
    """Not the current ones; a run that read the older version still names it after a newer one."""
    with ServerProcess(served_url, log=tmp_path / "log") as server:
        for number, minute in ((1, 1), (2, 9)):
            said = {"documentation": {"description": f"text {number}"}, "schema": schema(f"c{number}:int")}
            said |= {"tags": {"tags": [{"key": f"tag {number}", "value": "true", "source": "test"}]}}
            event = run_event(run=f"write {number}", minute=minute, outputs=[used("x", facets=said)])
            assert server.post("/api/v1/lineage", event)[0] == 201
        read = run_event(run="read", job="reader", minute=5, inputs=["x"], outputs=["y"])
        assert server.post("/api/v1/lineage", read)[0] == 201
        marquez = MarquezClient(server.url)
        new, old = marquez.list_dataset_versions(NAMESPACE, "x")["versions"]
        for version, number in ((new, 2), (old, 1)):
            assert version["description"] == f"text {number}"
            assert version["facets"]["documentation"]["description"] == f"text {number}"
            assert (version["tags"], version["fields"][0]["name"]) == ([f"tag {number}"], f"c{number}")
            assert marquez.get_dataset_version(NAMESPACE, "x", version["version"]) == version
        [met] = marquez.get_job_run(run_id("read"))["inputDatasetVersions"]
        assert met["datasetVersionId"]["version"] == old["version"]
