"""The overview: problems that need attention first."""

from __future__ import annotations

from typing import Any

from headwater.model.overview import Overview
from headwater.model.pages import Coverage
from headwater.model.runs import Run
from headwater.store.access.visibility import Visibility
from headwater.store.store import Store
from tests.support.events import JOB_NAMESPACE, NAMESPACE, Json, at, column_lineage, facet, run_event, run_id, used

_DAY = 24 * 60


def ids(runs: tuple[Run, ...]) -> list[str]:
    return [run.run_id for run in runs]


def failed(run: str, minute: float, message: Any = "it broke", **more: Any) -> Json:
    error = facet(message=message, programmingLanguage="PYTHON")
    return run_event("FAIL", run=run, minute=minute, run_facets={"errorMessage": error}, **more)


def ledger(run: str, balanced: Any, minute: float, **more: Any) -> Json:
    return run_event(run=run, minute=minute, run_facets={"cdme.accountingLedger": facet(balanced=balanced)}, **more)


def named(uncovered: tuple[Coverage, ...]) -> list[str]:
    return [one.dataset.name for one in uncovered]


def test_a_store_with_nothing_in_it(store: Store) -> None:
    empty = store.pages.overview()
    assert tuple(vars_of(empty.counts).values()) == (0, 0, 0, 0)
    assert (empty.failures, empty.unbalanced, empty.uncovered, empty.recent) == ((), (), (), ())


def vars_of(answer: Any) -> dict[str, Any]:
    return {name: getattr(answer, name) for name in answer.__slots__}


def test_counts(store: Store) -> None:
    store.ingest(run_event(run="1", inputs=["a"], outputs=["x"], minute=0))
    store.ingest_many(failed(f"f{day}", -day * _DAY, job="other") for day in range(10))
    counts = store.pages.overview(now=at(1)).counts
    assert (counts.datasets, counts.jobs, counts.runs, counts.failed) == (2, 2, 11, 7)


def test_the_latest_failures_have_their_messages(store: Store) -> None:
    store.ingest_many(failed(f"f{number}", number, f"{number} " + "é" * 400) for number in range(12))
    store.ingest(run_event("FAIL", run="silent", minute=20))
    store.ingest(failed("odd", 21, message=["no", "text"]))
    store.ingest(failed("mended", 22))
    store.ingest(run_event(run="mended", minute=23))
    found = store.pages.overview().failures
    assert [one.run.run_id for one in found] == [
        run_id(name) for name in ("odd", "silent", *(f"f{n}" for n in range(11, 3, -1)))
    ]
    assert [one.message for one in found[:3]] == [None, None, "11 " + "é" * 297]


def test_ledgers_that_do_not_balance(store: Store) -> None:
    for number, balanced in enumerate([False, True, None, "false", 0, False]):
        store.ingest(ledger(f"r{number}", balanced, number))
    store.ingest(run_event(run="text", minute=30, run_facets={"cdme.accountingLedger": facet(said="cdme")}))
    assert ids(store.pages.overview().unbalanced) == [run_id("r5"), run_id("r0")]
    store.ingest(ledger("r5", True, 40))  # told again: the last word counts
    assert ids(store.pages.overview().unbalanced) == [run_id("r0")]


def test_datasets_with_incomplete_lineage(store: Store) -> None:
    whole = used("whole", facets={"columnLineage": column_lineage({"c": [("a", "p")]})})
    gap = {"operator": "MapInPandas", "columns": []}
    gaps = {
        "headwater_coverage": facet(complete=False, gaps=[gap]),
        "columnLineage": column_lineage({"c": [("a", "p")]}),
    }
    store.ingest(run_event(run="1", job="1", inputs=["a"], outputs=[whole], minute=1))
    store.ingest(run_event(run="2", job="2", inputs=["a"], outputs=["unknown"], minute=2))
    store.ingest(run_event(run="3", job="3", inputs=["a"], outputs=[used("gaps", facets=gaps)], minute=3))
    found = store.pages.overview().uncovered
    assert named(found) == ["gaps", "unknown"]
    assert [(one.upstreams, one.unknown, one.complete) for one in found] == [(1, 0, False), (1, 1, None)]
    assert list(found[0].gaps) == [gap]
    by_name = {one.dataset: one for one in store.pages.coverage().items}
    assert [by_name[one.dataset] for one in found] == list(found)


def test_the_latest_runs(store: Store) -> None:
    store.ingest_many(run_event("START", run=f"r{number}", minute=number) for number in range(12))
    assert store.pages.overview().recent == tuple(store.runs(limit=10))


def test_hidden_objects_are_not_included(store: Store) -> None:
    def theirs(event: Json) -> Json:
        return {**event, "job": {"namespace": "vault", "name": "j"}}

    secret = used("s", namespace="vault")
    store.ingest(failed("mine", 1, outputs=["x"]))
    store.ingest(failed("mixed", 2, "cannot read vault/s", inputs=[secret]))
    store.ingest(theirs(failed("theirs", 3)))
    store.ingest(ledger("mine balanced", False, 4, inputs=["a"], outputs=["x"]))
    store.ingest(ledger("mixed balanced", False, 5, inputs=["a", secret], outputs=["y"]))
    store.ingest(theirs(ledger("their ledger", False, 6, outputs=[secret, "z"])))

    def told(overview: Overview) -> dict[str, Any]:
        return {
            "counts": tuple(vars_of(overview.counts).values()),
            "failures": [(one.run.run_id, one.message) for one in overview.failures],
            "unbalanced": ids(overview.unbalanced),
            "uncovered": named(overview.uncovered),
            "recent": ids(overview.recent),
        }

    assert told(store.visible_to(Visibility.of([NAMESPACE, JOB_NAMESPACE])).pages.overview(now=at(10))) == {
        # z is known: it was spoken of; who wrote it is not.
        "counts": (4, 1, 4, 2),
        "failures": [(run_id("mixed"), None), (run_id("mine"), "it broke")],
        "unbalanced": [run_id("mine balanced")],
        "uncovered": ["y", "x"],
        "recent": [run_id(name) for name in ("mixed balanced", "mine balanced", "mixed", "mine")],
    }
    assert told(store.pages.overview(now=at(10)))["failures"][1] == (run_id("mixed"), "cannot read vault/s")
