"""A history in which every kind of answer has content."""

from __future__ import annotations

from typing import Any

from headwater.proof.keys import KeyRing
from headwater.store.store import Store
from tests.support.events import (
    ColumnSource,
    at,
    chain,
    column_lineage,
    dataset_entry,
    dataset_event,
    facet,
    from_dataset,
    from_job,
    job_entry,
    job_event,
    legacy_column_lineage,
    lineage_facet,
    ownership,
    parent,
    read_in_part,
    run_event,
    schema,
    symlinks,
    tags,
    used,
    written_in_part,
)

Json = dict[str, Any]
MANIFEST: Json = {"cdme.runManifest": {}}
QUALITY: Json = {
    "metrics": {"completeness": 0.5, "accuracy": 1},
    "validations": [{"rule_name": "r", "rule_type": "not_null", "passed": False, "failed_count": 3}],
    "anomalies": [{"type": "missing", "severity": "high", "count": 3}],
}


def columned() -> list[Json]:
    both: dict[str, list[ColumnSource]] = {
        "x": [("a", "x", "DIRECT", "IDENTITY")],
        "y": [("a", "x", "DIRECT", "AGGREGATION"), ("b", "y")],
    }
    lineage = column_lineage(both, dataset=[("b", "z", "INDIRECT", "FILTER")])
    described = {"schema": schema("x:int", "y", "z"), "ownership": ownership("team"), "tags": tags(pii="yes")}
    statistics = {"outputStatistics": facet(rowCount=3, size=10**15, share=0.1)}
    return [
        dataset_event(used("a", facets={**described, "symlinks": symlinks("lake/a")}), minute=1),
        run_event("START", run="c", job="columns", minute=2),
        run_event(
            run="c", job="columns", minute=3, run_facets={**MANIFEST, "parent": parent("p")},
            job_facets={"sql": facet(query="select \ud83d\ude00 \"ß\"")}, inputs=[used("a", facets=described), "b"],
            outputs=[used("x", facets={**described, "columnLineage": lineage}, output_facets=statistics)],
        ),
        run_event(
            run="d", job="legacy", minute=4, inputs=["x"],
            outputs=[used("y", facets={"columnLineage": legacy_column_lineage({"k": [("x", "y")]}, "MASKED", "hash")})],
        ),
        run_event(run="p", job="parent", minute=9, event_type="RUNNING"),
        run_event(run="cycle", job="back", minute=10, inputs=["y"], outputs=["a"]),
    ]  # fmt: skip


def parted() -> list[Json]:
    return [
        run_event(
            run=f"part-{day}", job="daily", minute=20 + day, inputs=[read_in_part("x", f"day={day}/at=here")],
            outputs=[written_in_part("parts", f"day={day}", schema=schema("x"))],
        )
        for day in range(3)
    ]  # fmt: skip


def odd() -> list[Json]:
    """Names that look alike in a label, so that a path does not identify a node; and other odd ones."""
    alike = [used("b/c", namespace="a"), used("c", namespace="a/b")]
    behind = [used("left", namespace="odd"), used("right", namespace="odd")]
    names = [("", ""), ("..", "."), ("größe", "100%_\\'\"\n"), ("s3://lake", "a/../b%2Fc"), ("t#u", "v@w#x")]
    return [
        run_event(run="odd-0", job="odd", minute=30, inputs=alike, outputs=[used("end", namespace="odd")]),
        *(
            run_event(run=f"odd-{place}", job=f"odd-{place}", minute=30, inputs=[one], outputs=[other])
            for place, (one, other) in enumerate(zip(behind, alike, strict=True), 1)
        ),
        *(
            run_event(run=f"name-{place}", job=f"../{place}", minute=31, inputs=[used(name, namespace=namespace)],
                      outputs=[used("end", namespace="odd", facets={"schema": schema("", "a.b", "*")})])
            for place, (namespace, name) in enumerate(names)
        ),
    ]  # fmt: skip


def of_jobs() -> list[Json]:
    """A hub if the store has few direct edges, edges that end in a job, and declarations without runs."""
    stated = lineage_facet(
        dataset_entry("stated", [from_dataset("a"), from_job("feeder")]), job_entry("eater", [from_dataset("b")])
    )
    return [
        run_event(run="hub", job="hub", minute=40, inputs=["a", "b", "h"], outputs=["hx", "hy", "hz"]),
        run_event(run="stated", job="stating", minute=41, job_facets={"lineage": stated}, inputs=["a", "b"]),
        job_event(job="declaring", minute=42, inputs=["b"], outputs=["declared"]),
        run_event("FAIL", run="failed", job="columns", minute=43, run_facets={
            **MANIFEST, "errorMessage": facet(message="out of memory", programmingLanguage="Java"),
        }, inputs=["a"], outputs=["x"]),
        run_event("ABORT", run="aborted", job="columns", minute=44, inputs=["a"]),
        run_event(run="checks", job="check", minute=45, job_facets={"headwater_quality": {"checks": True}}, inputs=[
            {**used("x"), "inputFacets": {"headwater_quality": {**QUALITY, "measured_at": at(45).isoformat()}}}
        ]),
    ]  # fmt: skip


def events() -> list[Json]:
    return [*chain(4), *columned(), *parted(), *odd(), *of_jobs()]


def build(store: Store, key: KeyRing) -> None:
    store.ingest_many(events())
    store.set_quality("parts", QUALITY)
    store.state_provenance("x", "accessed", agent={"type": "user", "id": "ada"}, purpose="audit", at=at(50))
    store.state_provenance("step-1", "deleted", operation={"type": "write", "parameters": {"n": [1, None, 0.5]}})
    store.checkpoint(key=key)
    store.ingest(run_event(run="later", job="columns", minute=60, inputs=["a"], outputs=["later"]))
    store.checkpoint(key=key)
