"""Row queries over HTTP: by pair tables immediately, on Spark as a task."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import sqlite3
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from jsonschema import Draft202012Validator

from headwater.formats.openlineage.signed_rows import sign_event
from headwater.model.audit import AuditEntry
from headwater.proof.keys import KeyRing, SigningKey, key_text
from headwater.server.app.app import create_app
from headwater.server.app.settings import ServerSettings
from headwater.server.rows.audit import READ
from headwater.store.store import Store
from tests.server.api import API, LOCAL, ask, document
from tests.support import why_missing
from tests.support.events import run_event, run_id
from tests.support.spark import short_job_environment

pytestmark = pytest.mark.spark

SCRIPT = """
import sys
import headwater as hw
from pyspark.sql import SparkSession

folder = sys.argv[1]
spark = SparkSession.builder.getOrCreate()
rows = spark.range(100).selectExpr("id", "id % 9 AS customer", "id * 2 AS amount")
rows.coalesce(1).write.parquet(f"{folder}/orders")
orders = spark.read.parquet(f"{folder}/orders")
with hw.run("full", rows="full", rows_location=f"{folder}/rows"):
    orders.groupBy("customer").count().write.parquet(f"{folder}/counts")
with hw.run("key"):
    orders.where("amount > 100").write.parquet(f"{folder}/large")
with hw.run("off", rows="off"):
    orders.write.parquet(f"{folder}/copy")
with hw.run("memory"):
    spark.createDataFrame([(1,)], "id int").write.parquet(f"{folder}/made")
with hw.run("two", rows="full", rows_location=f"{folder}/rows"):
    orders.where("id < 5").write.parquet(f"{folder}/first")
    orders.groupBy("amount").count().write.parquet(f"{folder}/second")
hw.flush(120)  # the tables are written behind the job's back
spark.stop()
"""


@pytest.fixture(scope="module")
def captured_server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    reason = why_missing("java")
    if reason is not None:
        pytest.skip(f"not run: no Java 17 or 21: {reason}")
    folder = tmp_path_factory.mktemp("captured_server")
    (folder / "job.py").write_text(SCRIPT)
    env = {
        **os.environ,
        **short_job_environment("local[1]"),
        "HEADWATER_STORE": f"sqlite:///{folder}/lineage.db",
        "HEADWATER_SPOOL": str(folder / "spool"),
    }
    finished = subprocess.run(
        [sys.executable, "-m", "headwater", "exec", "job.py", str(folder)],
        cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert finished.returncode == 0, finished.stderr
    return folder


@pytest.fixture
def client_of_server(captured_server: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    for name, value in short_job_environment("local[1]").items():
        monkeypatch.setenv(name, value)
    settings = ServerSettings(
        rows_location=str(captured_server / "rows"), spark_master="local[1]", workspace=str(captured_server / "work")
    )
    with TestClient(create_app(f"sqlite:///{captured_server}/lineage.db", settings), base_url=LOCAL) as client:
        yield client


def traced(client: TestClient, expected: int = 200, **asked: Any) -> Any:
    answer = client.post(f"{API}/rows/trace", json=asked)
    assert answer.status_code == expected, answer.text
    return answer.json()


def test_by_pair_tables(client_of_server: TestClient, captured_server: Path) -> None:
    counts = f"{captured_server}/counts"
    told = traced(client_of_server, dataset=counts, where={"customer": 4})
    assert [row["customer"] for row in told["rows"]] == [4]
    [source] = told["sources"]
    assert sorted(row["id"] for row in source["rows"]) == list(range(4, 100, 9))
    assert traced(client_of_server, dataset=counts)["count"] == 9
    assert traced(client_of_server, dataset=counts, where={"customer": 99})["count"] == 0
    strange = traced(client_of_server, 409, dataset=counts, where={"id": 4})
    assert (strange["code"], "customer" in strange["detail"]) == ("rows_error", True)
    assert traced(client_of_server, 409, dataset=counts, where={"customer": "no number"})["code"] == "tables_unreadable"
    assert traced(client_of_server, 404, dataset=counts, output=5)["code"] == "no_output"
    assert traced(client_of_server, 422, dataset=counts, run="x")["code"] == "request_invalid"
    assert traced(client_of_server, 422)["code"] == "request_invalid"
    assert traced(client_of_server, 404, run="none")["code"] == "unknown_run"


def reads(captured_server: Path, resource: str | None = None) -> list[AuditEntry]:
    with Store(f"sqlite:///{captured_server}/lineage.db") as store:
        return store.audit(event_type=READ, resource=resource)


def test_values_from_pair_tables_leave_an_audit_entry(client_of_server: TestClient, captured_server: Path) -> None:
    counts, before = f"{captured_server}/counts", len(reads(captured_server))
    headers = {"User-Agent": "curl", "X-Request-ID": "asked-once"}
    told = client_of_server.post(
        f"{API}/rows/trace", json={"dataset": counts, "where": {"customer": 4}}, headers=headers
    )
    [entry] = reads(captured_server)[: len(reads(captured_server)) - before]
    assert (entry.actor_id, entry.client_ip, entry.user_agent) == ("local", "testclient", "curl")
    assert (entry.correlation_id, entry.action) == ("asked-once", "read")
    assert (entry.resource_type, entry.resource_id) == ("dataset", f"file/{counts}")
    assert entry.details == {
        "kind": "rows.lookup",
        "runs": [told.json()["runs"][0]["run"]],
        "columns": ["customer"],
        "datasets": [f"file/{counts}", f"file/{captured_server}/orders"],
        "rows": 1 + 11,
    }
    traced(client_of_server, 409, dataset=counts, where={"customer": "no number"})
    assert len(reads(captured_server)) == before + 1, "nothing was read"


def test_without_the_audit_entry_no_values_are_returned(client_of_server: TestClient, captured_server: Path) -> None:
    """The database itself refuses the entry."""
    with closing(sqlite3.connect(captured_server / "lineage.db")) as other:
        other.execute("CREATE TRIGGER refused BEFORE INSERT ON audit BEGIN SELECT RAISE(FAIL, 'no entry'); END")
        try:
            answer = client_of_server.post(
                f"{API}/rows/trace", json={"dataset": f"{captured_server}/counts", "where": {"customer": 4}}
            )
        finally:
            other.execute("DROP TRIGGER refused")
    assert answer.status_code >= 500
    assert "customer" not in answer.text
    assert traced(client_of_server, dataset=f"{captured_server}/counts", where={"customer": 4})["count"] == 1


def test_a_condition_by_pair_tables(client_of_server: TestClient, captured_server: Path) -> None:
    counts = f"{captured_server}/counts"
    told = traced(client_of_server, dataset=counts, condition="customer between 3 and 4 or Customer = 7")
    assert sorted(row["customer"] for row in told["rows"]) == [3, 4, 7]
    assert told["dataset"] == f"file/{counts}"
    assert [run["job"].rpartition("/")[2] for run in told["runs"]] == ["full"]
    refused = traced(client_of_server, 422, dataset=counts, condition="customer in (select 1)")
    assert (refused["code"], refused["culprit"]) == ("condition_refused", "(SELECT 1)")
    unknown = traced(client_of_server, 422, dataset=counts, condition="customr = 1")
    assert (unknown["culprit"], "Columns: customer, count." in unknown["detail"]) == ("customr", True)
    both = traced(client_of_server, 422, dataset=counts, condition="customer = 1", where={"customer": 1})
    assert both["code"] == "request_invalid"


def test_one_of_several_outputs(client_of_server: TestClient, captured_server: Path) -> None:
    assert [
        row["id"] for row in traced(client_of_server, dataset=f"{captured_server}/first", where={"id": 3})["rows"]
    ] == [3]
    assert [
        row["amount"]
        for row in traced(client_of_server, dataset=f"{captured_server}/second", where={"amount": 8})["rows"]
    ] == [8]


def test_supported_queries_are_listed(client_of_server: TestClient, captured_server: Path) -> None:
    full = ask(client_of_server, "/rows/askable", dataset=f"{captured_server}/counts")
    assert (full["mode"], full["identity"]) == ("full", ["customer"])
    assert [column["name"] for column in full["columns"]] == ["customer", "count"]
    possible = {"possible": True, "reason": None}
    assert (full["instant"], full["spark"]) == (possible, possible)
    assert full["sources"] == [{"namespace": "file", "name": f"{captured_server}/orders"}]
    assert full["forward"]["possible"] is False
    key = ask(client_of_server, "/rows/askable", dataset=f"{captured_server}/large", namespace="file")
    assert (key["mode"], key["identity"], key["spark"]) == ("key", [], possible)
    assert "rows=" in key["instant"]["reason"]
    off = ask(client_of_server, "/rows/askable", dataset=f"{captured_server}/copy")
    assert (off["mode"], off["spark"]["possible"]) == (None, False)
    assert 'rows="off"' in off["spark"]["reason"]
    made = ask(client_of_server, "/rows/askable", dataset=f"{captured_server}/made")
    assert "was made in the program" in made["spark"]["reason"]
    source = ask(client_of_server, "/rows/askable", dataset=f"{captured_server}/orders")
    assert source["forward"] == possible
    ask(client_of_server, "/rows/askable", 404, dataset="nowhere")


def test_unanswerable_queries_start_no_spark(client_of_server: TestClient, captured_server: Path) -> None:
    off = traced(client_of_server, 409, dataset=f"{captured_server}/copy")
    assert (off["code"], 'rows="off"' in off["detail"]) == ("rows_not_kept", True)
    assert traced(client_of_server, 422, dataset=f"{captured_server}/large", where={"idd": 1})["culprit"] == "idd"
    asked = {"dataset": f"{captured_server}/large", "source": f"{captured_server}/orders", "source_namespace": "file"}
    for wrong, code in [({}, "request_invalid"), ({"condition": "rand() < 1"}, "condition_refused")]:
        answer = client_of_server.post(f"{API}/rows/why-not", json={**asked, **wrong})
        assert (answer.status_code, answer.json()["code"]) == (422, code)
    unknown = client_of_server.post(f"{API}/rows/why-not", json={**asked, "condition": "price > 3"})
    assert (unknown.status_code, unknown.json()["culprit"]) == (422, "price")
    assert client_of_server.post(f"{API}/rows/forward", json={"dataset": "nowhere"}).status_code == 404
    assert ask(client_of_server, "/tasks")["items"] == []


def test_tables_elsewhere_are_not_read(client_of_server: TestClient, captured_server: Path) -> None:
    """An event can name any location of its tables."""
    entry = {"location": "/etc", "identity": []}
    with Store(f"sqlite:///{captured_server}/lineage.db") as store:
        store.ingest(run_event(run="liar", run_facets={"cdme.adjointMetadata": {"outputs": [entry]}}))
    assert traced(client_of_server, 409, run=run_id("liar"))["code"] == "tables_elsewhere"


def finished(client: TestClient, started: Any) -> Any:
    """The finished task, and its progress messages."""
    texts = set()
    for _ in range(1_500):  # five minutes: a busy machine is slow to start Spark
        task = ask(client, f"/tasks/{started['id']}")
        texts.add((task["progress"] or {}).get("text"))
        if task["state"] != "running":
            break
        time.sleep(0.2)
    assert task["state"] == "succeeded", task
    assert "Starting Spark" in texts
    return task


def is_described(result: Any, name: str) -> None:
    components = document()["components"]
    Draft202012Validator({**components["schemas"][name], "components": components}).validate(result)


def test_forward_and_why_not_on_spark(client_of_server: TestClient, captured_server: Path) -> None:
    orders = {"dataset": f"{captured_server}/orders", "namespace": "file"}
    started = client_of_server.post(f"{API}/rows/forward", json={**orders, "condition": "id = 77 and amount > 1"})
    assert started.status_code == 202, started.text
    task = finished(client_of_server, started.json())
    assert task["kind"] == "rows.forward"
    is_described(task["result"], "ForwardRows")
    entry = reads(captured_server)[0]
    assert (entry.resource_id, entry.details["task"]) == (f"file/{captured_server}/orders", task["id"])
    assert (entry.details["kind"], entry.details["columns"]) == ("rows.forward", ["amount", "id"])
    assert {f"file/{captured_server}/large", f"file/{captured_server}/counts"} <= set(entry.details["datasets"])
    known = len(reads(captured_server))
    assert [one["result"] for one in ask(client_of_server, "/tasks")["items"]] == [None] * len(
        ask(client_of_server, "/tasks")["items"]
    )
    assert len(reads(captured_server)) == known, "the list holds no values"
    assert client_of_server.delete(f"{API}/tasks/{task['id']}").json()["result"] is not None
    assert len(reads(captured_server)) == known + 1
    assert [row["amount"] for row in task["result"]["rows"]] == [154]
    reached = {step["dataset"].rpartition("/")[2]: step["rows"] for step in task["result"]["reached"]}
    assert [row["id"] for row in reached["large"]] == [77]
    assert [row["customer"] for row in reached["counts"]] == [5]

    asked = {"dataset": f"{captured_server}/large", "source": f"{captured_server}/orders", "source_namespace": "file"}
    started = client_of_server.post(f"{API}/rows/why-not", json={**asked, "where": {"id": 7}})
    assert started.status_code == 202, started.text
    task = finished(client_of_server, started.json())
    assert task["kind"] == "rows.why_not"
    result = task["result"]
    is_described(result, "WhyNotRows")
    entry = reads(captured_server)[0]
    assert entry.details["datasets"] == [result["source"]]
    assert (entry.details["rows"], entry.details["columns"]) == (1, ["id"])
    assert (entry.resource_id, entry.details["runs"]) == (result["dataset"], [result["run"]])
    [culprit] = result["culprits"]
    assert (culprit["operator"], culprit["text"]) == ("Filter", "WHERE amount > 100")
    assert culprit["values"] == {"amount": 14}
    assert (result["count"], result["rows"][0]["id"], result["reached"]) == (1, 7, False)


def forged(captured_server: Path, name: str, key: SigningKey | None) -> str:
    """An event of a run that was really captured, under another run id and output, with another plan in it and that
    plan's digest: an expression that calls the method that it names. Returns the output's name."""
    with Store(f"sqlite:///{captured_server}/lineage.db") as store:
        (captured,) = store.output_facets("headwater_rows", dataset=f"{captured_server}/large")
        facet = json.loads(json.dumps(captured.facet))
        stream = zlib.decompress(base64.b64decode(facet["plan"]["bytes"]))
        before, after = (
            len(name).to_bytes(2, "big") + name
            for name in (
                b"org.apache.spark.sql.catalyst.expressions.GreaterThan",
                b"org.apache.spark.sql.catalyst.expressions.CallMethodViaReflection",
            )
        )
        assert stream.count(before) == 1
        packed = zlib.compress(stream.replace(before, after))
        facet["plan"]["bytes"] = base64.b64encode(packed).decode()
        facet["plan"]["digest"] = f"sha256:{hashlib.sha256(packed).hexdigest()}"
        del facet["signature"]
        output = {"namespace": "file", "name": f"{captured_server}/{name}", "outputFacets": {"headwater_rows": facet}}
        event = run_event(run=name, outputs=[output])
        if key is not None:
            sign_event(event, key)
        store.ingest(event)
    return f"{captured_server}/{name}"


def test_an_untrusted_plan_starts_no_spark(client_of_server: TestClient, captured_server: Path) -> None:
    stranger, before = SigningKey.new(), ask(client_of_server, "/tasks")["items"]
    for name, key, reason in (
        ("unsigned", None, "is not signed"),
        ("strange", stranger, f"headwater keys trust {key_text(stranger.public)}"),
    ):
        dataset = forged(captured_server, name, key)
        way = ask(client_of_server, "/rows/askable", dataset=dataset)["spark"]
        assert (way["possible"], reason in way["reason"]) == (False, True)
        refused = traced(client_of_server, 409, dataset=dataset)
        assert (refused["code"], reason in refused["detail"]) == ("rows_not_kept", True)
        asked = {
            "dataset": dataset,
            "source": f"{captured_server}/orders",
            "source_namespace": "file",
            "where": {"id": 1},
        }
        assert client_of_server.post(f"{API}/rows/why-not", json=asked).status_code == 409
    assert ask(client_of_server, "/tasks")["items"] == before


def test_a_trusted_plan_with_a_forbidden_class_is_refused(client_of_server: TestClient, captured_server: Path) -> None:
    """The second barrier, in the task; and the task has nothing of the server's environment."""
    own = KeyRing.load(captured_server / "lineage.db.capture.pem").newest
    started = traced(client_of_server, 202, dataset=forged(captured_server, "signed", own))
    for _ in range(1_500):
        task = ask(client_of_server, f"/tasks/{started['id']}")
        if task["state"] != "running":
            break
        time.sleep(0.2)
    assert task["state"] == "failed", task
    assert task["problem"]["code"] == "kept_plan_refused"
    assert "CallMethodViaReflection, which is not on the list" in task["problem"]["detail"]


def test_on_spark_as_a_task(client_of_server: TestClient, captured_server: Path) -> None:
    task = finished(
        client_of_server, traced(client_of_server, 202, dataset=f"{captured_server}/large", where={"id": 77})
    )
    is_described(task["result"], "TracedRows")
    assert [row["amount"] for row in task["result"]["rows"]] == [154]
    [source] = task["result"]["sources"]
    assert [row["id"] for row in source["rows"]] == [77]
    assert reads(captured_server)[0].details["datasets"][:2] == [f"file/{captured_server}/large", source["dataset"]]
    cancelled = traced(client_of_server, 202, dataset=f"{captured_server}/large")
    assert client_of_server.delete(f"{API}/tasks/{cancelled['id']}").json()["state"] == "cancelled"
