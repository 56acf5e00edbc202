"""Real events of other producers, from the tests of OpenLineage and Marquez: ingested, and understood."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from headwater.errors import EventRefused
from headwater.model.names import Dataset, Endpoint
from headwater.model.runs import RunState
from headwater.store.store import Store
from tests.store.short_answers import row_counts
from tests.support.events import Json

Pair = tuple[Endpoint, Endpoint]


def read(files: Iterable[Path]) -> list[bytes]:
    return [file.read_bytes() for file in sorted(files)]


def ingest(store: Store, folder: Path) -> None:
    bodies = read(folder.rglob("*.json"))
    assert bodies, f"there are no events in {folder.name}"
    for body in bodies:
        store.ingest(body)


def pairs(store: Store) -> set[Pair]:
    """Every current dataset-level edge."""
    return {
        (node.endpoint, summary.dataset)
        for summary in store.datasets(limit=10_000)
        for node in store.upstream(summary.dataset, depth=1).nodes
    }


def expected_links(shared_data: Path, scenario: str) -> set[Pair]:
    file = f"dataplex__scenarios__{scenario}__validation__links__links.json"
    found = json.loads((shared_data / "expected-edges" / file).read_bytes())
    return {(_from_dataplex(link["source"]), _from_dataplex(link["target"])) for link in found}


def _from_dataplex(end: Json) -> Dataset:
    """Dataplex's fully qualified name, back to what OpenLineage calls the dataset."""
    name = end["fully_qualified_name"]
    system, _, rest = name.partition(":")
    if system == "bigquery":
        return Dataset("bigquery", rest)
    if system == "dbfs":
        host, _, path = rest.partition(".")
        return Dataset(f"hdfs://{host}", f"/{path}")
    match = re.fullmatch(r"(.+?)\.`(.+)`", rest)
    assert match is not None, name
    place, path = match.groups()
    return Dataset("file", f"/{path}") if system == "filesystem" else Dataset(f"gs://{place}", path)


def test_every_event_is_accepted(store: Store, shared_data: Path) -> None:
    files = sorted((shared_data / "events").rglob("*.json"))
    assert len(files) >= 55
    receipts = {file.name: store.ingest(file.read_bytes()) for file in files}
    assert {name for name, receipt in receipts.items() if receipt.duplicate} == set()
    assert row_counts(store)["event"] == len(files)
    assert store.verify()[0] == len(files)


def test_only_deviations_from_the_specification_are_flagged(store: Store, shared_data: Path) -> None:
    """The core schema applies to all; of the formats only the zone of times is checked, and each facet's own schema."""
    found: dict[str, list[tuple[str, str]]] = {}
    for file in sorted((shared_data / "events").rglob("*.json")):
        problems = store.ingest(file.read_bytes()).problems
        if problems:
            found[file.name] = [(problem.path, problem.reason) for problem in problems]
    assert found == {
        "event_full.json": [("$.inputs[0].inputFacets.dataQualityMetrics.columnMetrics", "missing")],
        "serde_example_run_event.json": [("$.eventTime", "no time zone; read as UTC")],
    }


def test_airflow(store: Store, shared_data: Path) -> None:
    ingest(store, shared_data / "events/compatibility-tests/airflow")
    expected = expected_links(shared_data, "airflow")
    assert len(expected) == 12
    assert pairs(store) == expected


def test_a_spark_run_that_has_not_completed_has_datasets_and_no_edges(store: Store, shared_data: Path) -> None:
    """Its three events are START and RUNNING; lineage is recorded only on success."""
    ingest(store, shared_data / "events/compatibility-tests/spark_dataproc_simple_producer_test")
    assert pairs(store) == set()
    (run,) = store.runs()
    detail = store.run(run.run_id)
    assert (run.state, detail.event_count) == (RunState.RUNNING, 3)
    ((source, target),) = expected_links(shared_data, "spark_dataproc_simple_producer_test")
    assert [use.dataset for use in detail.inputs] == [source]
    assert [use.dataset for use in detail.outputs] == [target]


def test_the_spark_run_gets_its_edge_when_it_completes(store: Store, shared_data: Path) -> None:
    folder = shared_data / "events/compatibility-tests/spark_dataproc_simple_producer_test"
    ingest(store, folder)
    completed: dict[str, Any] = json.loads((folder / "3.json").read_bytes())
    completed |= {"eventType": "COMPLETE", "eventTime": "2024-10-17T09:18:29Z", "inputs": [], "outputs": []}
    store.ingest(completed)
    assert pairs(store) == expected_links(shared_data, "spark_dataproc_simple_producer_test")


def simple_run_event() -> Json:
    """The scenario of this name in OpenLineage's compatibility tests, rewritten: its run id is not a UUID."""
    return {
        "eventTime": "2023-04-04T13:21:16.098Z",
        "eventType": "COMPLETE",
        "producer": "producer",
        "schemaURL": "https://openlineage.io/spec/1-0-5/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": "run_id", "facets": {}},
        "job": {"namespace": "scheduler", "name": "job", "facets": {}},
        "inputs": [{"namespace": "bigquery", "name": "test.table.input", "facets": {}}],
        "outputs": [{"namespace": "bigquery", "name": "test.table.output", "facets": {}}],
    }


def test_a_simple_run_event(store: Store) -> None:
    receipt = store.ingest(simple_run_event())
    assert [(problem.path, problem.reason) for problem in receipt.problems] == [("$.run.runId", "not a UUID")]
    assert pairs(store) == {(Dataset("bigquery", "test.table.input"), Dataset("bigquery", "test.table.output"))}
    assert store.run("run_id").run.run_id == "run_id"


def test_a_simple_run_event_gives_the_expected_edge(store: Store, shared_data: Path) -> None:
    store.ingest(simple_run_event())
    assert pairs(store) == expected_links(shared_data, "simple_run_event")


def test_running_events_with_outputs_and_no_inputs_accumulate(store: Store, shared_data: Path) -> None:
    folder = shared_data / "events/compatibility-tests/spark_dataproc_bigquery_shakespare"
    ingest(store, folder)
    run_id = "0192963f-f6f8-71c0-8380-500bc70883ee"
    detail = store.run(run_id)
    source = Dataset("bigquery", "bigquery-public-data.samples.shakespeare")
    target = Dataset("file", "/tmp/outputs/1729097570970")
    assert [use.dataset for use in detail.inputs] == [source]
    assert [use.dataset for use in detail.outputs] == [target]
    assert (source, target) not in pairs(store)
    completed: dict[str, Any] = json.loads((folder / "1729097628444.json").read_bytes())
    completed |= {"eventType": "COMPLETE", "eventTime": "2024-10-16T16:53:50Z", "outputs": []}
    store.ingest(completed)
    assert (source, target) in pairs(store)


def test_events_without_a_schema_url_are_accepted_and_flagged(store: Store, shared_data: Path) -> None:
    files = sorted((shared_data / "events-lenient").rglob("*.json"))
    assert files
    for file in files:
        receipt = store.ingest(file.read_bytes())
        assert ("$.schemaURL", "missing") in [(p.path, p.reason) for p in receipt.problems], file.name
    assert row_counts(store)["event"] == len(files)


def test_an_event_without_a_run_id_is_refused_and_leaves_nothing(store: Store, shared_data: Path) -> None:
    before = row_counts(store)
    with pytest.raises(EventRefused) as refused:
        store.ingest((shared_data / "events-negative/openlineage-fluentd-proxy/event_no_run_id.json").read_bytes())
    assert (refused.value.path, refused.value.reason) == ("$.run.runId", "missing")
    assert row_counts(store) == before == dict.fromkeys(before, 0)


@pytest.mark.parametrize(
    ("file", "path", "kept_at"),
    [
        ("event_invalid_job_facet", "$.job.facets.ownership.owners[0].name", ("job", "facets", "ownership")),
        ("event_invalid_run_facet", "$.run.facets.parent.run.runId", ("run", "facets", "parent")),
    ],
)
def test_an_invalid_facet_is_flagged_and_stored(
    store: Store, shared_data: Path, file: str, path: str, kept_at: tuple[str, ...]
) -> None:
    body = (shared_data / f"events-negative/openlineage-fluentd-proxy/{file}.json").read_bytes()
    receipt = store.ingest(body)
    assert [(problem.path, problem.reason) for problem in receipt.problems] == [(path, "missing")]
    sent: Any = json.loads(body)
    for key in kept_at:
        sent = sent[key]
    detail = store.run("41fb5137-f0fd-4ee5-ba5c-56f8571d1bd7")
    kept = detail.job_facets if kept_at[0] == "job" else detail.run_facets
    assert kept[kept_at[-1]] == sent
    assert detail.problems == receipt.problems
    assert (detail.run.state, detail.run.parent_run_id) == (RunState.COMPLETE, None)


def test_an_invalid_input_facet_is_flagged_and_stored(store: Store, shared_data: Path) -> None:
    """`dataQualityMetrics` of an input requires its column metrics."""
    file = shared_data / "events-negative/openlineage-fluentd-proxy/event_invalid_input_dataset_facet.json"
    receipt = store.ingest(file.read_bytes())
    (problem,) = receipt.problems
    assert problem.path == "$.inputs[0].inputFacets.dataQualityMetrics.columnMetrics"
    assert problem.reason == "missing"
    (use,) = store.run("41fb5137-f0fd-4ee5-ba5c-56f8571d1bd7").inputs
    sent = json.loads(file.read_bytes())["inputs"][0]["inputFacets"]
    assert use.io_facets == sent


def test_the_body_is_stored_byte_for_byte(store: Store, shared_data: Path) -> None:
    from sqlalchemy import select

    from headwater.store.schema.tables import event

    bodies = read((shared_data / "events").rglob("*.json"))
    for body in bodies:
        store.ingest(body)
    with store._database.read() as conn:
        kept = conn.scalars(select(event.c.body).order_by(event.c.id)).all()
    assert [bytes(body) for body in kept] == bodies
