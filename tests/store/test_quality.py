"""The quality of a dataset: measured by runs, stated, and imported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headwater.client import Lineage
from headwater.errors import StructureInvalid, TimestampInvalid, UnknownDataset
from headwater.model.quality import QualityBasis
from headwater.store.access.visibility import Visibility
from headwater.store.store import Store
from tests.support.events import (
    JOB_NAMESPACE,
    NAMESPACE,
    at,
    dataset_event,
    ds,
    named_job,
    run_event,
    run_id,
    symlinks,
    used,
)

X = ds("x")
CHECKS = {"headwater_quality": {"checks": True}}
DOCUMENT: dict[str, Any] = {
    "metrics": {"completeness": 0.5},
    "validations": [{"rule_name": "r", "rule_type": "not_null", "passed": False, "failed_count": 3}],
    "anomalies": [{"type": "missing", "severity": "high", "count": 3}],
}


def moment(minute: float) -> str:
    return at(minute).isoformat()


def checked(run: str, minute: float, dataset: str = "x", **facet: Any) -> dict[str, Any]:
    document = {**DOCUMENT, "measured_at": moment(minute), **facet}
    use = {**used(dataset), "inputFacets": {"headwater_quality": document}}
    return run_event(run=run, job="check", inputs=[use], minute=minute, job_facets=CHECKS)


def test_measurements_of_runs_newest_first(store: Store) -> None:
    store.ingest(run_event(run="w1", outputs=["x"], minute=1))
    store.ingest(checked("1", 2))
    store.ingest(run_event(run="w2", outputs=["x"], minute=3))
    store.ingest(checked("2", 4, metrics={"accuracy": 1}))
    store.ingest(checked("3", 5, "other"))
    later, earlier = store.quality(X)
    assert (later.run_id, earlier.run_id) == (run_id("2"), run_id("1"))
    assert (later.report.metrics.accuracy, earlier.report.metrics.completeness) == (1.0, 0.5)
    assert earlier.job == named_job("check")
    assert [one.version and one.version.run_id for one in (later, earlier)] == [run_id("w2"), run_id("w1")]
    assert store.quality(X, limit=1) == [later]
    assert later.quality_id != earlier.quality_id
    store.ingest(run_event(run="other", job="check", outputs=["y"], minute=6, job_facets={"sql": {"query": "select"}}))
    assert len(store.quality(X)) == 2, "the job does other things too"
    assert store.quality(X)[0].quality_id == later.quality_id


def test_statements(store: Store) -> None:
    store.ingest(run_event(run="w", inputs=["a"], outputs=["x"], minute=1))
    edges = [node.endpoint for node in store.upstream(X).nodes]
    store.set_quality("x", DOCUMENT)
    store.set_quality(X, {**DOCUMENT, "measured_at": "2020-01-01T00:00:00Z", "metrics": {"timeliness": 0}})
    now, then = store.quality("x")
    assert (now.basis, now.run_id, now.job) == (QualityBasis.STATED, None, None)
    assert now.version is not None
    assert now.version.run_id == run_id("w")
    assert (then.version, then.report.metrics.timeliness) == (None, 0.0)
    assert now.report.document() == DOCUMENT | {"measured_at": now.report.document()["measured_at"]}
    assert [node.endpoint for node in store.upstream(X).nodes] == edges == [ds("a")], "no data moved"
    assert len(store.dataset(X).versions) == 1


@pytest.mark.parametrize(
    ("document", "error"),
    [
        ({"metrics": {"accuracy": 1.5}}, StructureInvalid),
        ({"metrics": []}, StructureInvalid),
        ({"validations": [{"rule_type": "guess"}]}, StructureInvalid),
        ({"quality_id": "no id"}, StructureInvalid),
        ({"measured_at": "yesterday"}, TimestampInvalid),
    ],
)
def test_invalid_quality_documents_are_refused(store: Store, document: dict[str, Any], error: type[Exception]) -> None:
    store.ingest(run_event(outputs=["x"]))
    with pytest.raises(error):
        store.set_quality("x", document)
    with pytest.raises(UnknownDataset):
        store.set_quality("nobody", DOCUMENT)
    assert store.quality("x") == []


def test_any_content_of_the_facet(store: Store) -> None:
    sent: list[Any] = [None, 7, [], {"metrics": {"accuracy": "high"}}, {"_deleted": True}]
    for number, facet in enumerate(sent):
        use = {**used("x"), "inputFacets": {"headwater_quality": facet}}
        store.ingest(run_event(run=f"r{number}", job="check", inputs=[use], minute=number, job_facets=CHECKS))
        store.ingest(dataset_event(used("x", facets={"headwater_quality": facet}), minute=number))
    assert store.quality("x") == []
    failed = checked("failed", 9)
    store.ingest(failed | {"eventType": "FAIL"})
    assert store.quality("x") == [], "a run that failed has measured nothing"
    unmarked = checked("unmarked", 10)
    store.ingest(unmarked | {"job": {"namespace": JOB_NAMESPACE, "name": "another"}})
    assert store.quality("x") == [], "a job has to say that it checks"


def test_all_names_of_a_dataset(store: Store) -> None:
    store.ingest(dataset_event(used("x", facets={"symlinks": symlinks("alias", namespace=NAMESPACE)}), minute=0))
    store.ingest(checked("1", 1, "alias"))
    assert [one.dataset for one in store.quality("x")] == [ds("alias")]
    store.set_quality("alias", DOCUMENT)
    assert [one.dataset for one in store.quality("alias")] == [X, ds("alias")]


def test_with_limited_visibility(store: Store) -> None:
    store.ingest(run_event(run="w", outputs=["x"], minute=1))
    store.ingest(checked("1", 2))
    store.set_quality("x", DOCUMENT)
    with pytest.raises(UnknownDataset):
        store.visible_to(Visibility.of([JOB_NAMESPACE])).quality(X)
    (only,) = store.visible_to(Visibility.of([NAMESPACE])).quality(X)
    assert only.basis is QualityBasis.STATED, "who measured it is not seen, so it was not measured"
    assert only.version is None
    both = store.visible_to(Visibility.of([NAMESPACE, JOB_NAMESPACE])).quality(X)
    assert both == store.quality(X)
    with pytest.raises(UnknownDataset):
        store.visible_to(Visibility.of([JOB_NAMESPACE])).set_quality(X, DOCUMENT)
    secret = {**checked("2", 3), "inputs": [*checked("2", 3)["inputs"], {"namespace": "vault", "name": "v"}]}
    store.ingest(secret)
    assert store.visible_to(Visibility.of([NAMESPACE, JOB_NAMESPACE])).quality(X) == both, (
        "not all that it read is seen"
    )


def test_imported_quality(tmp_path: Path) -> None:
    with Lineage("memory://") as here, Lineage("memory://") as there:
        here.ingest(run_event(run="w", inputs=["a"], outputs=["x"], minute=1))
        here.ingest(checked("1", 2))
        here.set_quality("x", DOCUMENT)
        here.export(tmp_path / "graph.json")
        there.import_(tmp_path / "graph.json")
        told, brought = here.quality(X), there.quality(X)
        assert [one.basis for one in brought] == [QualityBasis.IMPORTED] * 2
        assert [(one.quality_id, one.report) for one in brought] == [(one.quality_id, one.report) for one in told]
        there.export(tmp_path / "again.json")
        here.import_(tmp_path / "graph.json")
        assert [one.quality_id for one in here.quality(X)] == [one.quality_id for one in told], "none of it twice"
