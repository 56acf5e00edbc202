"""Versions of datasets: as they were reported, and as runs read and wrote them."""

from __future__ import annotations

from headwater.model.names import Dataset, Job
from headwater.store.access.visibility import Visibility
from headwater.store.store import Store
from tests.support.events import JOB_NAMESPACE, NAMESPACE, at, column_lineage, dataset_event, run_event, run_id, used

X = Dataset(NAMESPACE, "x")


def reported(text: str) -> dict[str, object]:
    return {"documentation": {"description": text}}


def test_the_metadata_of_each_version(store: Store) -> None:
    store.ingest(run_event("START", run="1", outputs=[used("x", facets=reported("begun"))], minute=0))
    store.ingest(run_event(run="1", outputs=[used("x", facets=reported("first"))], minute=1))
    store.ingest(run_event(run="2", inputs=[used("x", facets=reported("as read"))], outputs=[used("x")], minute=2))
    declared = {**reported("declared"), "columnLineage": column_lineage({"c": [("raw", "p")]})}
    store.ingest(dataset_event(used("x", facets=declared), minute=3))
    listed = store.dataset(X).versions
    told = store.pages.version_facets(X, listed)
    assert [(one.run_id, facets) for one, facets in zip(listed, told, strict=True)] == [
        (None, declared),
        (run_id("2"), {}),  # it said something of what it read, and nothing of what it wrote
        (run_id("1"), reported("first")),
    ]


def test_which_versions_runs_read_and_wrote(store: Store) -> None:
    store.ingest(run_event(run="1", outputs=["x"], minute=1))
    store.ingest(run_event("START", run="reads", job="reader", inputs=["x", "unwritten"], minute=3))
    store.ingest(run_event(run="2", outputs=["x"], minute=4))
    store.ingest(run_event(run="reads", job="reader", outputs=["y"], minute=5))
    found = store.pages.run_versions([run_id("reads"), run_id("1"), "nobody's"])
    [read], [wrote] = found[run_id("reads")].inputs, found[run_id("reads")].outputs
    assert (read.dataset, read.run_id, read.written_at) == (X, run_id("1"), at(1)), "the one that was there by then"
    assert (wrote.dataset.name, wrote.run_id) == ("y", run_id("reads"))
    assert found[run_id("1")].inputs == []
    behind = store.visible_to(Visibility.of([JOB_NAMESPACE]))  # sees the jobs, and none of the datasets
    assert behind.pages.run_versions([run_id("reads")]) == {}


def test_the_versions_of_the_latest_run_of_each_job(store: Store) -> None:
    store.ingest(run_event(run="1", inputs=["old"], outputs=["x"], minute=1))
    store.ingest(run_event(run="2", inputs=["a"], outputs=["x"], minute=2))
    job, nobody = Job(JOB_NAMESPACE, "job"), Job(JOB_NAMESPACE, "nobody")
    assert store.pages.job_uses([job, nobody]) == {job: ((Dataset(NAMESPACE, "a"),), (X,))}
