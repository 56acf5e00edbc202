"""Neighbourhoods, lists and errors of a graph with hubs. Walks are covered by the oracles (``tests/oracles``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from headwater.errors import UnknownDataset
from headwater.model.names import Job
from headwater.server.marquez.shapes import graph
from headwater.store.query.picture.subgraph import around_dataset, around_job
from headwater.store.store import Store
from tests.support.events import JOB_NAMESPACE, NAMESPACE, run_event

INPUTS, OUTPUTS = ["a", "b", "c"], ["x", "y"]


@pytest.fixture
def store() -> Iterator[Store]:
    with Store("memory://", max_direct_edges=3) as store:
        store.ingest(run_event(job="j", inputs=INPUTS, outputs=OUTPUTS))
        yield store


def test_a_neighbourhood_shows_the_job_and_the_datasets_behind_it(store: Store) -> None:
    shown = store.pages.neighbourhood("x", upstream=1, downstream=0, limit=10, columns=True)
    assert {card.endpoint.name for card in shown.nodes if not isinstance(card.endpoint, Job)} == {"x", *INPUTS}
    (hub,) = [card for card in shown.nodes if isinstance(card.endpoint, Job)]
    assert (hub.kind, hub.upstreams, hub.downstreams) == ("job", 3, 2)
    assert {(link.upstream.name, link.downstream.name) for link in shown.edges} == {
        *((name, hub.endpoint.name) for name in INPUTS),
        (hub.endpoint.name, "x"),
    }


def test_the_map_has_an_edge_from_each_input_to_each_output(store: Store) -> None:
    shown = store.pages.map()
    names = [one.name for one in shown.datasets]
    assert names == [*INPUTS, *OUTPUTS]
    lines = {(names[upstream], names[downstream]) for upstream, downstream in shown.edges}
    assert lines == {(source, target) for source in INPUTS for target in OUTPUTS}


@pytest.mark.parametrize("start", ["x", "j"])
def test_marquez_sees_the_job(store: Store, start: str) -> None:
    with store._view() as view:
        found = around_job(view, f"{JOB_NAMESPACE}:j", 2) if start == "j" else around_dataset(view, f"{NAMESPACE}:x", 2)
    nodes: list[dict[str, Any]] = graph(found, {})["graph"]
    (job,) = [node for node in nodes if node["type"] == "JOB"]
    assert len(job["inEdges"]) == len(INPUTS)
    assert job["outEdges"]
    assert all(edge["origin"] != edge["destination"] for node in nodes for edge in node["outEdges"])


def test_a_hub_is_not_a_dataset(store: Store) -> None:
    assert [one.dataset.name for one in store.datasets()] == [*INPUTS, *OUTPUTS]
    (hub,) = {edge.downstream for edge in store.run(store.runs()[0].run_id).edges if isinstance(edge.downstream, Job)}
    with pytest.raises(UnknownDataset):
        store.dataset(hub)
