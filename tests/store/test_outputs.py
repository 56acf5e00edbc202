"""One facet of the datasets that runs wrote, write by write."""

from __future__ import annotations

import pytest

from headwater.errors import UnknownRun
from headwater.store.store import Store
from tests.support.events import Json, at, ds, facet, named_job, run_event, run_id, symlinks, used


def wrote(name: str, number: int, **about: Json) -> Json:
    return used(name, facets=about, output_facets={"shop_rows": facet(number=number)})


def numbers(store: Store, **asked: object) -> list[object]:
    return [each.facet["number"] for each in store.output_facets("shop_rows", **asked)]  # type: ignore[arg-type]


def test_the_newest_write_comes_first(store: Store) -> None:
    for day in range(3):
        store.ingest(run_event(run=f"run {day}", outputs=[wrote("orders", day)], minute=day))
    store.ingest(run_event(run="other", outputs=[wrote("customers", 9)], minute=9))
    assert numbers(store, dataset="orders") == [2, 1, 0]
    assert numbers(store, dataset="orders", limit=1) == [2]
    newest = store.output_facets("shop_rows", dataset="orders")[0]
    assert (newest.dataset, newest.run_id, newest.job) == (ds("orders"), run_id("run 2"), named_job("job"))
    assert newest.completed_at == at(2)


def test_a_run_that_did_not_complete_wrote_nothing(store: Store) -> None:
    store.ingest(run_event("RUNNING", run="open", outputs=[wrote("orders", 1)]))
    store.ingest(run_event("FAIL", run="failed", outputs=[wrote("orders", 2)]))
    assert numbers(store, dataset="orders") == []


def test_facets_of_several_events_of_a_run_count_once(store: Store) -> None:
    store.ingest(run_event("RUNNING", outputs=[wrote("orders", 1)]))
    store.ingest(run_event("RUNNING", outputs=[wrote("orders", 2)], minute=1))
    store.ingest(run_event("COMPLETE", outputs=[wrote("orders", 2)], minute=2))
    assert numbers(store, run_id=run_id("run")) == [2, 1]


def test_a_dataset_is_found_under_all_its_names(store: Store) -> None:
    store.ingest(run_event(outputs=[wrote("folder", 1, symlinks=symlinks("table"))]))
    assert numbers(store, dataset="folder") == numbers(store, dataset="table") == [1]


def test_an_unknown_run_is_an_error(store: Store) -> None:
    with pytest.raises(UnknownRun):
        store.output_facets("shop_rows", run_id=run_id("nobody"))
