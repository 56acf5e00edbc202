"""Facets are returned as they were received, whatever they contain."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headwater.store.store import Store
from tests.formats.facet_examples import Example, own_examples, shared_examples
from tests.support.events import Json, dataset_event, deleted, facet, job_event, run_event, run_id, used


def event_with_facet(example: Example, run: str) -> Json:
    """An event with the facet in its right place."""
    facets = {example.name: example.body}
    if example.room == "run":
        return run_event(run=run, run_facets=facets)
    if example.room == "job":
        return run_event(run=run, job_facets=facets)
    if example.room == "inputFacets":
        return run_event(run=run, inputs=[used(run, input_facets=facets)])
    if example.room == "outputFacets":
        return run_event(run=run, outputs=[used(run, output_facets=facets)])
    return run_event(run=run, outputs=[used(run, facets=facets)])


def read_back(store: Store, room: str, run: str) -> Mapping[str, Any]:
    detail = store.run(run_id(run))
    if room == "run":
        return detail.run_facets
    if room == "job":
        return detail.job_facets
    use = (*detail.inputs, *detail.outputs)[0]
    return use.facets if room == "dataset" else use.io_facets


def assert_unchanged(store: Store, examples: list[Example]) -> None:
    for i, example in enumerate(examples):
        receipt = store.ingest(event_with_facet(example, f"example {i}"))
        assert receipt.problems == (), example.label
        assert read_back(store, example.room, f"example {i}") == {example.name: example.body}, example.label
        if example.room == "dataset":
            assert store.dataset(f"example {i}").facets == {example.name: example.body}, example.label


def test_every_upstream_example_is_returned_unchanged(store: Store, shared_data: Path) -> None:
    examples = shared_examples(shared_data)
    assert len(examples) == 46
    assert_unchanged(store, examples)


def test_our_own_examples_are_returned_unchanged(store: Store) -> None:
    assert_unchanged(store, own_examples())


STRANGE: Json = facet(
    quotes="'\"`",
    control="\x00\x01\t\r\n\x7f\u2028\u202e\ufeff",
    half="\ud800",
    emoji="🌊👩‍👩‍👧",
    keys={"": 1, "\x00": 2, "a.b": 3, "ключ": 4, "\ud800": 5},
    numbers=[0, -0.0, 1.5, 1e-300, 2**63, -(2**80), 0.1],
    nothing=[None, [], {}, ""],
    deep=json.loads("[" * 100 + "]" * 100),
    long="x" * 100_000,
)


def test_strange_content_is_returned_unchanged_everywhere(store: Store) -> None:
    facets = {"strange": STRANGE}
    store.ingest(
        run_event(
            run_facets=facets,
            job_facets=facets,
            inputs=[used("a", facets=facets, input_facets=facets)],
            outputs=[used("x", facets=facets, output_facets=facets)],
        )
    )
    detail = store.run(run_id("run"))
    assert detail.run_facets == detail.job_facets == facets
    for use in (*detail.inputs, *detail.outputs):
        assert use.facets == use.io_facets == facets
        assert store.dataset(use.dataset).facets == facets


def test_strange_content_of_a_declaration_is_returned_unchanged(store: Store) -> None:
    store.ingest(dataset_event(used("a", facets={"strange": STRANGE})))
    assert store.dataset("a").facets == {"strange": STRANGE}


def test_a_facet_is_replaced_completely_and_never_merged(store: Store) -> None:
    for minute, body in enumerate([facet(a=1, b={"c": 2}), facet(b={"d": 3})]):
        store.ingest(
            run_event("RUNNING", run_facets={"f": body}, inputs=[used("a", facets={"f": body})], minute=minute)
        )
    assert store.run(run_id("run")).run_facets == {"f": facet(b={"d": 3})}
    assert store.dataset("a").facets == {"f": facet(b={"d": 3})}


def test_deleted_job_facets_are_gone(store: Store) -> None:
    store.ingest(run_event("START", job_facets={"sql": facet(query="select 1"), "kept": facet()}))
    store.ingest(run_event("COMPLETE", job_facets={"sql": deleted()}, minute=1))
    assert set(store.run(run_id("run")).job_facets) == {"kept"}


def test_a_job_event_changes_no_runs(store: Store) -> None:
    store.ingest(run_event(job_facets={"sql": facet(query="of the run")}))
    store.ingest(job_event(job_facets={"sql": facet(query="of the job")}, minute=1))
    assert store.run(run_id("run")).job_facets["sql"]["query"] == "of the run"
