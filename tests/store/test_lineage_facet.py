"""The explicit `lineage` facet: jobs as endpoints, generators, and a dataset's own declaration."""

from __future__ import annotations

import pytest

from headwater.model.lineage import Basis, Dependency, Origin
from headwater.model.names import Dataset, Endpoint, Job
from headwater.store.store import Store
from tests.store.short_answers import names, short
from tests.support.events import (
    Json,
    dataset_entry,
    dataset_event,
    ds,
    facet,
    from_dataset,
    from_job,
    job_entry,
    job_event,
    lineage_facet,
    named_job,
    run_event,
    run_id,
    used,
)

DIRECT = [{"type": "DIRECT", "subtype": "IDENTITY"}]
FILTERED = [{"type": "INDIRECT", "subtype": "FILTER"}]


def sources(store: Store, target: Endpoint) -> set[Endpoint]:
    return {node.endpoint for node in store.upstream(target, depth=1).nodes}


def state(store: Store, kind: str, *entries: Json) -> None:
    """One `lineage` facet, stated by a run or declared by its job."""
    facets = {"lineage": lineage_facet(*entries)}
    event = run_event(job="me", job_facets=facets) if kind == "run" else job_event(job="me", job_facets=facets)
    assert store.ingest(event).problems == ()


@pytest.fixture(params=["run", "job"])
def kind(request: pytest.FixtureRequest) -> str:
    assert isinstance(request.param, str)
    return request.param


def test_dataset_to_dataset(store: Store, kind: str) -> None:
    fields = {"id": {"inputs": [from_dataset("a", field="key", transformations=DIRECT)]}}
    state(store, kind, dataset_entry("x", [from_dataset("a")], fields=fields))
    assert sources(store, ds("x")) == {ds("a")}
    assert names(store.upstream("x", column="id")) == ["a#key"]


def test_job_to_dataset(store: Store, kind: str) -> None:
    state(store, kind, dataset_entry("x", [from_job("extract", runId=run_id("its run"))]))
    assert sources(store, ds("x")) == {named_job("extract")}
    assert names(store.downstream(named_job("extract"))) == ["x"]


def test_dataset_to_job(store: Store, kind: str) -> None:
    state(store, kind, job_entry("report", [from_dataset("a", field="day", transformations=FILTERED)]))
    assert sources(store, named_job("report")) == {ds("a")}
    (node,) = store.downstream("a", column="day").nodes
    assert (node.endpoint, node.part, node.dependency) == (named_job("report"), None, Dependency.INDIRECT)


def test_job_to_job(store: Store, kind: str) -> None:
    state(store, kind, job_entry("load", [from_job("transform")]))
    assert sources(store, named_job("load")) == {named_job("transform")}


def test_an_entry_for_an_unnamed_job_means_the_job_itself(store: Store, kind: str) -> None:
    state(store, kind, {"type": "JOB", "inputs": [from_dataset("a", transformations=FILTERED)]})
    assert sources(store, named_job("me")) == {ds("a")}


def test_a_generator_has_no_sources(store: Store, kind: str) -> None:
    """Its empty inputs are a statement: nothing is inferred from the run's other inputs."""
    fields = {"total": {"inputs": [{"type": "JOB", "transformations": DIRECT}]}}
    facets = {"lineage": lineage_facet(dataset_entry("x", [], fields=fields))}
    make = run_event if kind == "run" else job_event
    store.ingest(make(job="me", inputs=["a"], outputs=["x"], job_facets=facets))
    assert sources(store, ds("x")) == set()
    (version,) = store.dataset("x").versions
    assert version.job == named_job("me")


def test_mixed_sources(store: Store, kind: str) -> None:
    fields = {"segment": {"inputs": [from_dataset("orders", field="customer"), from_job("enrich")]}}
    state(store, kind, dataset_entry("x", [from_dataset("orders"), from_job("enrich")], fields=fields))
    assert sources(store, ds("x")) == {ds("orders"), named_job("enrich")}
    found = {(node.endpoint, node.part) for node in store.upstream("x", column="segment").nodes}
    assert found == {(ds("orders"), "customer"), (named_job("enrich"), None)}


def test_a_job_and_a_dataset_with_one_name_are_distinct(store: Store) -> None:
    state(store, "run", {"type": "JOB", "namespace": "n", "name": "same", "inputs": [from_dataset("a")]})
    state(
        store,
        "job",
        {"type": "DATASET", "namespace": "n", "name": "same", "inputs": [from_dataset("b")]},
    )
    assert sources(store, Job("n", "same")) == {ds("a")}
    assert sources(store, Dataset("n", "same")) == {ds("b")}


def test_jobs_are_not_listed_as_datasets(store: Store) -> None:
    state(store, "run", job_entry("load", [from_job("transform")]))
    assert store.datasets() == []


def test_the_default_dependencies_of_fields(store: Store) -> None:
    fields = {"c": {"inputs": [from_dataset("a", field="c")]}}
    state(store, "run", dataset_entry("x", [from_dataset("a", field="day")], fields=fields))
    assert short(store.run(run_id("run")).column_edges) == {
        ("a#c", "x#c", "DIRECT", None),
        ("a#day", "x", "INDIRECT", None),
    }


def test_a_dataset_declares_its_own_lineage(store: Store) -> None:
    fields = {"id": {"inputs": [from_dataset("a", field="key", transformations=DIRECT)]}}
    declared = facet(inputs=[from_dataset("a"), from_job("loader")], fields=fields)
    receipt = store.ingest(dataset_event(used("x", facets={"lineage": declared})))
    assert receipt.problems == ()
    assert sources(store, ds("x")) == {ds("a"), named_job("loader")}
    assert names(store.upstream("x", column="id")) == ["loader", "a#key"]
    via = store.upstream("x").nodes[0].via
    assert (via.origin, via.job, via.run_id, via.basis) == (Origin.DATASET, None, None, Basis.LINEAGE)


def test_column_lineage_of_a_dataset_counts_without_a_lineage_facet(store: Store) -> None:
    column_lineage = facet(
        fields={"id": {"inputFields": [{"namespace": "warehouse", "name": "a", "field": "key"}]}},
    )
    store.ingest(dataset_event(used("x", facets={"columnLineage": column_lineage})))
    assert sources(store, ds("x")) == {ds("a")}
    assert store.upstream("x").nodes[0].via.basis is Basis.COLUMN_LINEAGE
