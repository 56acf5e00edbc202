"""The column edges of one dataset: complete, unique, in a stable order for pages. And those between the datasets of
a neighbourhood."""

from __future__ import annotations

import pytest

from headwater.errors import QueryError
from headwater.model.lineage import Dependency, EdgeType
from headwater.model.names import Dataset, Endpoint, Job
from headwater.model.picture import ColumnLink
from headwater.store.access.visibility import Visibility
from headwater.store.query.picture import cards, column_links
from headwater.store.schema.tables import OPEN, to_micros
from headwater.store.store import Store
from tests.store.workload import busy_day
from tests.support.events import (
    JOB_NAMESPACE,
    NAMESPACE,
    at,
    column_lineage,
    ds,
    job_event,
    named_job,
    run_event,
    schema,
    used,
)

MOMENTS = [
    *(("sqlite", minute) for minute in (None, 15, 40)),
    ("postgresql", 15),
    *(pytest.param("postgresql", minute, marks=pytest.mark.long) for minute in (None, 40)),
]
"""PostgreSQL, whose queries are the same, with one of them."""

Ends = tuple[Endpoint, str | None, Endpoint, str | None, Job | None, str, str | None, bool, str | None]


def all_edges(store: Store, minute: float | None) -> set[Ends]:
    """Directly from the table."""
    moment = OPEN - 1 if minute is None else to_micros(at(minute))
    with store._database.read() as conn:
        rows = conn.exec_driver_sql(
            "SELECT u.namespace, u.name, ul.text, d.namespace, d.name, dl.text, j.namespace, j.name, c.dependency, "
            "c.subtype, c.masking, c.logic FROM column_edge c "
            "JOIN dataset u ON u.id = c.upstream_id JOIN dataset d ON d.id = c.downstream_id "
            "LEFT JOIN label ul ON ul.id = c.upstream_column_id LEFT JOIN label dl ON dl.id = c.downstream_column_id "
            f"LEFT JOIN job j ON j.id = c.job_id WHERE c.valid_from <= {moment} AND c.valid_to > {moment}"
        ).all()
    return {
        (
            Dataset(row[0], row[1]), row[2], Dataset(row[3], row[4]), row[5],
            Job(row[6], row[7]) if row[7] is not None else None, row[8], row[9], bool(row[10]), row[11],
        )
        for row in rows
    }  # fmt: skip


def ends(link: ColumnLink) -> Ends:
    return (
        link.upstream, link.upstream_column, link.downstream, link.downstream_column, link.job, str(link.dependency),
        link.type, link.masking, link.logic,
    )  # fmt: skip


def paged(store: Store, dataset: Dataset, limit: int, minute: float | None = None) -> list[ColumnLink]:
    found: list[ColumnLink] = []
    cursor = None
    while True:
        page = store.pages.column_links(
            dataset, cursor=cursor, limit=limit, as_of=None if minute is None else at(minute)
        )
        found += page.items
        if page.next is None:
            return found
        assert len(page.items) == limit
        cursor = page.next


@pytest.mark.parametrize(("store_url", "minute"), MOMENTS, indirect=["store_url"])
def test_against_brute_force_at_once_and_in_pages(store: Store, minute: float | None) -> None:
    store.ingest_many(busy_day(20))
    edges = all_edges(store, minute)
    seen = 0
    for summary in store.datasets():
        whole = paged(store, summary.dataset, 5000, minute)
        told = [ends(link) for link in whole]
        assert len(told) == len(set(told))
        assert set(told) == {edge for edge in edges if summary.dataset in (edge[0], edge[2])}
        assert paged(store, summary.dataset, 1, minute) == paged(store, summary.dataset, 3, minute) == whole
        seen += len(told)
    assert seen > 20


def test_transformations_of_a_column(store: Store) -> None:
    said = column_lineage(
        {"b": [("a", "q", "DIRECT", "IDENTITY")], "a": [("a", "p", "DIRECT", "AGGREGATION"), ("a", "p")]},
        dataset=[("a", "r", "INDIRECT", "FILTER")],
    )
    store.ingest(run_event(run="1", inputs=["a", "other"], outputs=[used("x", facets={"columnLineage": said})]))
    store.ingest(run_event(run="2", job="next", inputs=["x"], outputs=["y"]))
    links = store.pages.column_links("x").items
    assert [
        (link.upstream.name, link.upstream_column, link.downstream.name, link.downstream_column, link.type)
        for link in links
    ] == [
        ("a", "r", "x", None, "FILTER"),
        ("other", None, "x", None, None),
        ("a", "p", "x", "a", None),
        ("a", "p", "x", "a", "AGGREGATION"),
        ("a", "q", "x", "b", "IDENTITY"),
        ("x", None, "y", None, None),
    ]
    assert [(link.dependency, link.transformation) for link in links] == [
        (Dependency.INDIRECT, EdgeType.FILTERED_FROM),
        (Dependency.UNKNOWN, None),
        (Dependency.DIRECT, EdgeType.DERIVED_FROM),
        (Dependency.DIRECT, EdgeType.AGGREGATED_FROM),
        (Dependency.DIRECT, EdgeType.PROJECTED_FROM),
        (Dependency.UNKNOWN, None),
    ]
    assert [link.job for link in links] == [*[named_job("job")] * 5, named_job("next")]


def test_equal_statements_of_a_run_and_a_declaration_are_one_edge(store: Store) -> None:
    said = {"columnLineage": column_lineage({"c": [("a", "p")]})}
    store.ingest(run_event(inputs=["a"], outputs=[used("x", facets=said)]))
    store.ingest(job_event(inputs=["a"], outputs=[used("x", facets=said)]))
    assert len(store.pages.column_links("x").items) == 1


def test_a_self_loop_of_a_column_is_listed_once(store: Store) -> None:
    said = {"columnLineage": column_lineage({"c": [("x", "p")]})}
    store.ingest(run_event(inputs=["x"], outputs=[used("x", facets=said)]))
    [link] = store.pages.column_links("x").items
    assert (link.upstream, link.downstream, link.upstream_column, link.downstream_column) == (
        ds("x"),
        ds("x"),
        "p",
        "c",
    )


def test_hidden_edges_are_not_listed(store: Store) -> None:
    said = column_lineage({"c": [("a", "p")]})
    said["fields"]["c"]["inputFields"].append({"namespace": "vault", "name": "s", "field": "secret"})
    inputs = [used("a"), used("s", namespace="vault")]
    store.ingest(run_event(run="1", inputs=inputs, outputs=[used("x", facets={"columnLineage": said})]))
    store.ingest(run_event(run="2", job="next", inputs=["x"], outputs=[used("t", namespace="vault")]))
    other = run_event(run="3", inputs=["b"], outputs=["x"])
    store.ingest({**other, "job": {"namespace": "vault", "name": "j"}})
    assert len(store.pages.column_links("x").items) == 4
    [link] = store.visible_to(Visibility.of([NAMESPACE, JOB_NAMESPACE])).pages.column_links("x").items
    assert (link.upstream, link.upstream_column) == (ds("a"), "p")


def test_a_cursor_of_another_list_is_refused(store: Store) -> None:
    store.ingest_many(busy_day(5))
    cursor = store.pages.datasets(limit=1).next
    with pytest.raises(QueryError):
        store.pages.column_links("t0", cursor=cursor)


# -- between the datasets of a neighbourhood ---------------------------------------------------------------------------


@pytest.mark.parametrize(("store_url", "minute"), MOMENTS, indirect=["store_url"])
def test_every_edge_between_shown_datasets(store: Store, minute: float | None) -> None:
    store.ingest_many(busy_day(20))
    edges = all_edges(store, minute)
    seen = 0
    for summary in store.datasets():
        for limit in (1, 200):
            found = store.pages.neighbourhood(
                summary.dataset, upstream=2, limit=limit, columns=True, as_of=None if minute is None else at(minute)
            )
            nodes = {card.endpoint for card in found.nodes}
            assert found.column_edges is not None
            told = [ends(link) for link in found.column_edges]
            assert len(told) == len(set(told))
            assert set(told) == {edge for edge in edges if edge[0] in nodes and edge[2] in nodes}
            seen += len(told)
    assert seen > 20


def test_they_equal_the_edges_of_each_dataset(store: Store) -> None:
    store.ingest_many(busy_day(20))
    found = store.pages.neighbourhood("t3", upstream=3, downstream=3, limit=200, columns=True)
    nodes = {card.endpoint for card in found.nodes}
    by_each = {link for card in found.nodes for link in store.pages.column_links(card.endpoint, limit=5000).items}
    assert found.column_edges is not None
    assert set(found.column_edges) == {link for link in by_each if {link.upstream, link.downstream} <= nodes}
    for card in found.nodes:
        if isinstance(card.endpoint, Dataset):
            assert card.schema == store.dataset(card.endpoint).schema


def test_repeated_statements_are_one_edge(store: Store) -> None:
    said = {"columnLineage": column_lineage({"c": [("a", "p")]})}
    store.ingest(run_event(inputs=["a"], outputs=[used("x", facets=said)]))
    store.ingest(job_event(inputs=["a"], outputs=[used("x", facets=said)]))
    found = store.pages.neighbourhood("x", columns=True)
    assert found.column_edges == store.pages.column_links("x").items
    assert len(found.column_edges) == 1


def test_they_are_returned_only_on_request(store: Store) -> None:
    said = {"columnLineage": column_lineage({"c": [("a", "p")]}), "schema": schema("c:int")}
    store.ingest(run_event(inputs=["a"], outputs=[used("x", facets=said)]))
    found = store.pages.neighbourhood("x")
    assert found.column_edges is None
    assert [card.schema for card in found.nodes] == [None, None]


def test_too_many_edges_are_left_out_and_not_truncated(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"columnLineage": column_lineage({"c": [("a", "p")], "d": [("a", "q")]}), "schema": schema("c", "d")}
    store.ingest(run_event(inputs=["a"], outputs=[used("x", facets=said)]))
    for most, left_out in ((2, False), (1, True)):
        monkeypatch.setattr(column_links, "MOST_BETWEEN", most)
        monkeypatch.setattr(cards, "MOST_FIELDS", most * 2)  # for two cards
        monkeypatch.setattr(cards, "LEAST_FIELDS", 1)
        found = store.pages.neighbourhood("x", columns=True)
        assert (found.column_edges is None) is left_out
        assert [card.schema is None for card in found.nodes] == [left_out, False]


def test_no_hidden_edges_between_shown_datasets(store: Store) -> None:
    said = column_lineage({"c": [("a", "p")]})
    said["fields"]["c"]["inputFields"].append({"namespace": "vault", "name": "s", "field": "secret"})
    inputs = [used("a"), used("s", namespace="vault")]
    store.ingest(run_event(run="1", inputs=inputs, outputs=[used("x", facets={"columnLineage": said})]))
    # A job that is hidden speaks of two datasets that are not.
    other = run_event(
        run="2", inputs=["a"], outputs=[used("x", facets={"columnLineage": column_lineage({"d": [("a", "q")]})})]
    )
    store.ingest({**other, "job": {"namespace": "vault", "name": "j"}})
    whole = store.pages.neighbourhood("x", columns=True).column_edges
    assert whole is not None
    assert {link.upstream_column for link in whole} == {"p", "q", "secret"}
    visibility = Visibility.of([NAMESPACE, JOB_NAMESPACE])
    seen = store.visible_to(visibility).pages.neighbourhood("x", columns=True).column_edges
    assert seen is not None
    assert [(link.upstream, link.upstream_column) for link in seen] == [(ds("a"), "p")]
