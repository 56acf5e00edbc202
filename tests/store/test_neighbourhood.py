"""The neighbourhood of a dataset, against brute force: its nodes, the number of neighbours of each, and every edge
between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from itertools import product
from typing import Any

import pytest
from sqlalchemy import event as sql_event

from headwater.errors import UnknownDataset
from headwater.model.lineage import EdgeType, Origin
from headwater.model.names import Dataset, Endpoint, Job
from headwater.model.picture import Card, Neighbourhood
from headwater.model.runs import RunState
from headwater.store.access.visibility import Visibility
from headwater.store.query.picture import neighbourhood
from headwater.store.schema.tables import OPEN, to_micros
from headwater.store.store import Store
from tests.store.workload import busy_day
from tests.support.events import (
    JOB_NAMESPACE,
    NAMESPACE,
    Json,
    at,
    column_lineage,
    dataset_event,
    ds,
    facet,
    from_job,
    job_event,
    lineage_facet,
    named_job,
    ownership,
    run_event,
    run_id,
    schema,
    symlinks,
    tags,
    used,
)

Pair = tuple[Endpoint, Endpoint]


@pytest.fixture
def busy(store: Store) -> Store:
    store.ingest_many(busy_day(20))
    return store


def pairs(store: Store, as_of: datetime | None = None) -> dict[Pair, set[Job | None]]:
    """Every current edge, with its jobs, directly from the table."""
    moment = OPEN - 1 if as_of is None else to_micros(as_of)
    found: dict[Pair, set[Job | None]] = defaultdict(set)
    with store._database.read() as conn:
        rows = conn.exec_driver_sql(
            "SELECT u.namespace, u.name, u.is_job, d.namespace, d.name, d.is_job, j.namespace, j.name FROM edge e "
            "JOIN dataset u ON u.id = e.upstream_id JOIN dataset d ON d.id = e.downstream_id "
            f"LEFT JOIN job j ON j.id = e.job_id WHERE e.valid_from <= {moment} AND e.valid_to > {moment}"
        ).all()
    for row in rows:
        pair = endpoint(row[0], row[1], row[2]), endpoint(row[3], row[4], row[5])
        found[pair].add(None if row[7] is None else Job(row[6], row[7]))
    return found


def endpoint(namespace: str, name: str, is_job: int) -> Endpoint:
    return Job(namespace, name) if is_job else Dataset(namespace, name)


def by_name(endpoints: Iterable[Endpoint]) -> list[Endpoint]:
    return sorted(endpoints, key=lambda one: (one.namespace, one.name, isinstance(one, Job)))


def expected_nodes(edges: Iterable[Pair], start: Endpoint, up: int, down: int, limit: int) -> list[Endpoint]:
    distance: dict[Endpoint, int] = {start: 0}
    for hops, near, far in ((up, 1, 0), (down, 0, 1)):
        found, frontier = {start}, {start}
        for depth in range(1, hops + 1):
            new: set[Endpoint] = set()
            for node in frontier:
                others = by_name({pair[far] for pair in edges if pair[near] == node} - {node})
                new |= set(others[:limit])
            frontier = new - found
            found |= frontier
            for node in frontier:
                distance[node] = min(depth, distance.get(node, depth))
    return sorted(distance, key=lambda one: (distance[one], one.namespace, one.name, isinstance(one, Job)))


def check(found: Neighbourhood, edges: dict[Pair, set[Job | None]], nodes: list[Endpoint]) -> None:
    assert [card.endpoint for card in found.nodes] == nodes
    for card in found.nodes:
        others = [pair for pair in edges if pair[0] != pair[1]]
        assert card.upstreams == len({pair[0] for pair in others if pair[1] == card.endpoint})
        assert card.downstreams == len({pair[1] for pair in others if pair[0] == card.endpoint})
    told = {(link.upstream, link.downstream): set(link.jobs) for link in found.edges}
    assert len(told) == len(found.edges)
    assert told == {
        pair: {job for job in jobs if job is not None} for pair, jobs in edges.items() if set(pair) <= set(nodes)
    }


SHORT = {("sqlite", 1, None), ("sqlite", 2, 15), ("sqlite", 200, 40), ("postgresql", 2, 15)}
"""Each limit and each moment; PostgreSQL, whose queries are the same, with one of them."""


@pytest.mark.parametrize(
    ("store_url", "limit", "minute"),
    [
        pytest.param(*case, marks=[] if case in SHORT else [pytest.mark.long])
        for case in product(("sqlite", "postgresql"), (1, 2, 200), (None, 15, 40))
    ],
    indirect=["store_url"],
)
def test_against_brute_force(busy: Store, limit: int, minute: int | None) -> None:
    as_of = None if minute is None else at(minute)
    edges = pairs(busy, as_of)
    for summary in busy.datasets():
        for up, down in ((1, 1), (2, 1), (0, 3), (0, 0)):
            centre = summary.dataset
            found = busy.pages.neighbourhood(centre, upstream=up, downstream=down, limit=limit, as_of=as_of)
            assert found.as_of == as_of
            check(found, edges, expected_nodes(edges, centre, up, down, limit))


def test_the_content_of_a_card(store: Store) -> None:
    said = {"schema": schema("a:int", "b:text"), "ownership": ownership("ada"), "tags": tags(pii="true")}
    said["headwater_coverage"] = facet(complete=False, gaps=[])
    said["symlinks"] = symlinks("x_table")

    def wrote(run: str, rows: int, minute: int, kind: str = "COMPLETE", name: Json | None = None) -> Json:
        told = {"outputStatistics": facet(rowCount=rows)}
        output = used("x", facets=said, output_facets=told) if name is None else {**name, "outputFacets": told}
        return run_event(kind, run=run, inputs=["a", "x"], outputs=[output], minute=minute)

    store.ingest(wrote("first", 10, 1))
    store.ingest(wrote("second", 20, 5))
    store.ingest(wrote("third", 30, 9, "FAIL", used("x_table", namespace="catalog")))
    card, source = store.pages.neighbourhood("x").nodes
    assert card.endpoint == ds("x")
    assert (card.kind, card.owner, card.tags, card.columns, card.complete) == ("table", "ada", ("pii",), 2, False)
    assert (card.upstreams, card.downstreams) == (1, 0)  # itself is told as an edge, and is no neighbour
    assert card.latest_run is not None
    assert (card.latest_run.run_id, card.latest_run.state) == (run_id("third"), RunState.FAIL)
    assert card.rows == 20  # what failed has written nothing that counts
    assert card.last_seen == at(9)
    assert source.endpoint == ds("a")
    assert (source.latest_run, source.rows, source.columns, source.complete) == (None, None, 0, None)
    assert {(link.upstream.name, link.downstream.name) for link in store.pages.neighbourhood("x").edges} == {
        ("a", "x"), ("x", "x"),
    }  # fmt: skip
    before = store.pages.neighbourhood("x", as_of=at(3)).nodes[0]
    assert before.latest_run is not None
    assert (before.latest_run.run_id, before.rows) == (run_id("first"), 10)
    never = store.pages.neighbourhood("x", as_of=at(0)).nodes
    assert [(one.endpoint, one.upstreams, one.latest_run, one.rows) for one in never] == [(ds("x"), 0, None, None)]


@pytest.mark.parametrize("told", [None, {}, {"rowCount": "many"}, {"rowCount": True}, {"rowCount": 1.5}, [], "x"])
def test_an_invalid_row_count(store: Store, told: Any) -> None:
    store.ingest(run_event(outputs=[used("x", output_facets={"outputStatistics": told})]))
    assert store.pages.neighbourhood("x").nodes[0].rows is None


def test_one_edge_per_pair_has_the_strongest_dependency(store: Store) -> None:
    grouped = column_lineage({"c": [("a", "p", "DIRECT", "AGGREGATION")]})
    store.ingest(job_event(job="declared", inputs=["a"], outputs=["x"], minute=50))
    store.ingest(run_event(run="1", job="one", inputs=["a"], outputs=["x"], minute=1))
    store.ingest(
        run_event(run="2", job="two", inputs=["a"], outputs=[used("x", facets={"columnLineage": grouped})], minute=2)
    )
    [link] = store.pages.neighbourhood("x").edges
    assert link.jobs == (named_job("declared"), named_job("one"), named_job("two"))
    assert (link.type, link.origin) == (EdgeType.AGGREGATED_FROM, Origin.RUN)


def test_a_job_may_be_a_node(store: Store) -> None:
    entry = {"type": "DATASET", "namespace": NAMESPACE, "name": "x", "inputs": [from_job("maker")]}
    store.ingest(run_event(outputs=["x"], job_facets={"lineage": lineage_facet(entry)}))
    found = store.pages.neighbourhood("x")
    assert [card.kind for card in found.nodes] == ["table", "job"]
    assert found.nodes[1].endpoint == Job(JOB_NAMESPACE, "maker")


def test_a_hub_is_counted_and_limited_by_the_database(store: Store) -> None:
    many = 1000
    store.ingest(run_event(run="in", job="in", inputs=[f"s{number:05}" for number in range(many)], outputs=["hub"]))
    store.ingest_many(
        run_event(run=f"out {number}", job=f"out {number}", inputs=["hub"], outputs=[f"t{number:05}"])
        for number in range(50)
    )
    fetched = 0

    def count(_conn: Any, cursor: Any, *_: Any) -> None:
        nonlocal fetched
        fetched += max(cursor.rowcount, 0)

    sql_event.listen(store._database.engine, "after_cursor_execute", count)
    found = store.pages.neighbourhood("hub", limit=5)
    sql_event.remove(store._database.engine, "after_cursor_execute", count)
    assert [card.endpoint.name for card in found.nodes] == [
        "hub", *(f"s{number:05}" for number in range(5)), *(f"t{number:05}" for number in range(5)),
    ]  # fmt: skip
    assert (found.nodes[0].upstreams, found.nodes[0].downstreams) == (many, 50)
    assert len(found.edges) == 10
    assert fetched < 500  # where the driver says how many rows came


def test_hidden_datasets_are_neither_shown_nor_counted(store: Store) -> None:
    def spoken(name: str, **more: Any) -> Json:
        return used(name, namespace="vault", **more)

    told = {"outputStatistics": facet(rowCount=7)}
    store.ingest(run_event(run="1", inputs=["a", spoken("s")], outputs=[used("x", output_facets=told)], minute=1))
    store.ingest(run_event(run="2", job="next", inputs=["x"], outputs=["y", spoken("t")], minute=2))
    hidden = run_event(
        run="3", inputs=["b"], outputs=[used("x", output_facets={"outputStatistics": facet(rowCount=9)})]
    )
    store.ingest({**hidden, "job": {"namespace": "vault", "name": "j"}, "eventTime": at(9).isoformat()})
    store.ingest(dataset_event(spoken("lonely")))
    through = store.visible_to(Visibility.of([NAMESPACE, JOB_NAMESPACE]))
    found = through.pages.neighbourhood("x", upstream=3, downstream=3)
    assert [card.endpoint for card in found.nodes] == [ds("x"), ds("a"), ds("y")]
    assert (found.nodes[0].upstreams, found.nodes[0].downstreams) == (1, 1)
    assert {(link.upstream, link.downstream) for link in found.edges} == {(ds("a"), ds("x")), (ds("x"), ds("y"))}
    assert found.nodes[0].rows == 7
    assert found.nodes[0].latest_run is not None
    assert found.nodes[0].latest_run.run_id == run_id("1")
    with pytest.raises(UnknownDataset):
        through.pages.neighbourhood(Dataset("vault", "s"))
    whole: list[Card] = list(store.pages.neighbourhood("x").nodes)
    assert (whole[0].upstreams, whole[0].downstreams, whole[0].rows) == (3, 2, 9)


def test_the_number_of_nodes_is_limited(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The nearest first, and by name; the cards count the missing ones."""
    store.ingest_many(run_event(run=n, job=n, inputs=["x"], outputs=[n]) for n in "abcd")
    store.ingest_many(run_event(run=f"{n}1", job=f"{n}1", inputs=[n], outputs=[f"{n}1"]) for n in "abcd")
    monkeypatch.setattr(neighbourhood, "MOST_NODES", 6)
    found = store.pages.neighbourhood("x", downstream=2).nodes
    assert [card.endpoint.name for card in found] == ["x", "a", "b", "c", "d", "a1"]
    assert [card.downstreams for card in found] == [4, 1, 1, 1, 1, 0]
