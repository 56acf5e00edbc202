"""The map of all datasets: every dataset, every edge, and the state of the last run of each."""

from __future__ import annotations

import pytest

from headwater.model.names import Dataset
from headwater.model.picture import EstateMap
from headwater.model.runs import RunState
from headwater.store.access.visibility import Visibility
from headwater.store.query.picture import estate_map
from headwater.store.store import Store
from tests.store.short_answers import links
from tests.store.workload import busy_day
from tests.support.events import JOB_NAMESPACE, NAMESPACE, at, dataset_event, run_event, symlinks, used


def map_of(found: EstateMap) -> set[tuple[str, str]]:
    names = [one.name for one in found.datasets]
    return {(names[upstream], names[downstream]) for upstream, downstream in found.edges}


@pytest.mark.parametrize("minute", [None, 15, 40])
def test_the_map_has_every_dataset_and_edge(store: Store, minute: int | None) -> None:
    store.ingest_many(busy_day(20))
    as_of = None if minute is None else at(minute)
    found = store.pages.map(as_of=as_of)
    assert map_of(found) == {
        (upstream, downstream) for upstream, downstream in links(store, as_of) if upstream != downstream
    }
    assert len(found.edges) == len(set(found.edges))
    placed = [Dataset(found.namespaces[one.namespace], one.name) for one in found.datasets]
    known = {one.dataset: one.first_seen for one in store.datasets(limit=1000)}
    if as_of is None:
        assert placed == sorted(known)
    else:
        by_then = {name for name, seen in known.items() if seen is not None and seen <= as_of}
        assert by_then <= set(placed) <= by_then | {name for name in known if name.name in str(map_of(found))}
    assert (found.truncated, found.as_of) == (False, as_of)
    for name, one in zip(placed, found.datasets, strict=True):
        card = store.pages.neighbourhood(name, upstream=0, downstream=0, as_of=as_of).nodes[0]
        assert (one.kind, one.state) == (card.kind, None if card.latest_run is None else card.latest_run.state)


def test_one_namespace(store: Store) -> None:
    store.ingest(run_event(inputs=[used("a", namespace="one"), "b"], outputs=[used("x", namespace="one")]))
    found = store.pages.map("one")
    assert (found.namespaces, [one.name for one in found.datasets], found.edges) == (("one",), ["a", "x"], ((0, 1),))
    nothing = store.pages.map("nowhere")
    assert (nothing.namespaces, nothing.datasets, nothing.edges, nothing.truncated) == ((), (), (), False)


def test_the_state_is_that_of_the_last_writing_run(store: Store) -> None:
    alias = used("x", facets={"symlinks": symlinks("x_table")})
    store.ingest(run_event("FAIL", run="late", outputs=[used("x_table", namespace="catalog")], minute=9))
    store.ingest(run_event(run="early", outputs=[alias], minute=1))
    store.ingest(dataset_event("never"))
    assert {one.name: one.state for one in store.pages.map().datasets} == {"x": RunState.FAIL, "never": None}
    assert {one.name: one.state for one in store.pages.map(as_of=at(5)).datasets}["x"] == RunState.COMPLETE


def test_more_datasets_than_the_limit_of_the_map(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.ingest_many(run_event(run=n, job=n, inputs=["a", "b"], outputs=[n]) for n in ("x", "y", "z"))
    monkeypatch.setattr(estate_map, "MOST_DATASETS", 4)
    cut = store.pages.map()
    assert ([one.name for one in cut.datasets], cut.truncated) == (["a", "b", "x", "y"], True)
    assert map_of(cut) == {("a", "x"), ("b", "x"), ("a", "y"), ("b", "y")}
    monkeypatch.setattr(estate_map, "MOST_EDGES", 3)
    assert len(store.pages.map().edges) == 3
    monkeypatch.setattr(estate_map, "MOST_EDGES", 4)
    monkeypatch.setattr(estate_map, "MOST_DATASETS", 5)
    assert store.pages.map().truncated
    monkeypatch.setattr(estate_map, "MOST_EDGES", 6)
    assert not store.pages.map().truncated


def test_hidden_datasets_are_not_on_the_map(store: Store) -> None:
    store.ingest(run_event(run="1", inputs=["a", used("s", namespace="vault")], outputs=["x"], minute=1))
    hidden = run_event("FAIL", run="2", inputs=["a"], outputs=["x"], minute=5)
    store.ingest({**hidden, "job": {"namespace": "vault", "name": "j"}})
    through = store.visible_to(Visibility.of([NAMESPACE, JOB_NAMESPACE]))
    for found in (through.pages.map(), through.pages.map(as_of=at(9))):
        assert (found.namespaces, [one.name for one in found.datasets]) == ((NAMESPACE,), ["a", "x"])
        assert [one.state for one in found.datasets] == [None, RunState.COMPLETE]
        assert found.edges == ((0, 1),)
    assert through.pages.map("vault").datasets == ()
