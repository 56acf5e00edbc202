"""Lists in pages: together they are the complete list, also during concurrent writes; and search by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.errors import QueryError, UnknownDataset, UnknownEvent, UnknownJob
from headwater.model.names import Dataset, Job
from headwater.model.pages import Hit, Match, Page
from headwater.store.query import cursors, events
from headwater.store.query.search import search
from headwater.store.store import Store
from tests.store.workload import busy_day
from tests.support.events import JOB_NAMESPACE, NAMESPACE, at, column_lineage, dataset_event, run_event, run_id, used

Listing = Callable[..., Page[Any]]


def all_pages(listing: Listing, limit: int, **asked: Any) -> list[Any]:
    """All pages one after another; only the page of an empty list may be empty."""
    found: list[Any] = []
    cursor = None
    while True:
        page = listing(cursor=cursor, limit=limit, **asked)
        assert len(page.items) <= limit
        found += page.items
        if page.next is None:
            return found
        assert len(page.items) == limit
        cursor = page.next


@pytest.fixture
def busy(store: Store) -> Store:
    store.ingest_many(busy_day(20))
    return store


@pytest.mark.parametrize("limit", [1, 3, 1000])
def test_pages_together_are_the_list(busy: Store, limit: int) -> None:
    pages = busy.pages
    assert all_pages(pages.datasets, limit) == busy.datasets(limit=1000)
    assert all_pages(pages.runs, limit) == busy.runs(limit=1000)
    assert all_pages(pages.runs, limit, dataset="t3") == busy.runs(dataset="t3", limit=1000)
    assert len(all_pages(pages.jobs, limit)) == len({job.job for job in all_pages(pages.jobs, limit)}) > 3
    numbers = [event.number for event in all_pages(pages.events, limit)]
    assert numbers == sorted(numbers, reverse=True) == list(range(len(numbers), 0, -1))
    assert all_pages(pages.coverage, limit) == all_pages(pages.coverage, 1000) != []


def test_concurrent_writes_move_nothing(store: Store) -> None:
    for number in range(10):
        store.ingest(run_event(run=f"r{number}", job=f"j{number}", outputs=[f"d{number}"], minute=number))
    first = {listing: getattr(store.pages, listing)(limit=4) for listing in ("datasets", "jobs", "runs", "events")}
    for number in range(10):
        store.ingest(run_event(run=f"new {number}", job=f"j{number} a", outputs=[f"d{number} a"], minute=100 + number))
    expected = {
        "datasets": [f"d{number}" for number in range(10)],
        "jobs": [f"j{number}" for number in range(10)],
        "runs": [run_id(f"r{number}") for number in range(9, -1, -1)],
        "events": [run_id(f"r{number}") for number in range(9, -1, -1)],
    }
    name_of: dict[str, Callable[[Any], str]] = {
        "datasets": lambda one: one.dataset.name,
        "jobs": lambda one: one.job.name,
        "runs": lambda one: one.run_id,
        "events": lambda one: one.run_id,
    }
    for listing, page in first.items():
        names = [name_of[listing](one) for one in page.items]
        names += [name_of[listing](one) for one in pages_from(getattr(store.pages, listing), page.next)]
        assert [name for name in names if name in expected[listing]] == expected[listing]
        assert len(names) == len(set(names))


def pages_from(listing: Listing, cursor: str | None) -> list[Any]:
    found: list[Any] = []
    while cursor is not None:
        page = listing(cursor=cursor, limit=3)
        found, cursor = [*found, *page.items], page.next
    return found


NO_CURSORS = ["", "!", "x", "e30", "W10", "WzFd", "WyJhIixudWxsXQ", "WyIAIiwiIl0", "💥", "A" * 9999]


def test_an_invalid_cursor_is_refused(busy: Store) -> None:
    for cursor in NO_CURSORS:
        for listing in (busy.pages.datasets, busy.pages.jobs, busy.pages.runs, busy.pages.coverage):
            with pytest.raises(QueryError, match="cursor"):
                listing(cursor=cursor)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 3), st.text("ab", max_size=2)), unique=True), st.data())
def test_the_condition_of_a_cursor_matches_the_order(rows: list[tuple[int, str]], data: st.DataObject) -> None:
    """Compared with SQLite in memory."""
    from sqlalchemy import Column, Integer, MetaData, Table, Text, create_engine, insert, select

    table = Table("t", MetaData(), Column("a", Integer), Column("b", Text))
    position = data.draw(st.tuples(st.integers(0, 3), st.text("ab", max_size=2)))
    ordered = sorted(rows, key=lambda row: (-row[0], row[1]))
    after = [row for row in ordered if (-row[0], row[1]) > (-position[0], position[1])]
    with create_engine("sqlite://").begin() as conn:
        table.create(conn)
        if rows:
            conn.execute(insert(table), [{"a": a, "b": b} for a, b in rows])
        query = select(table).where(cursors.beyond(position, table.c.a.desc(), table.c.b))
        assert [tuple(row) for row in conn.execute(query.order_by(table.c.a.desc(), table.c.b))] == after
    engine_position = cursors.decode(cursors.encode(position), int, str)
    assert engine_position == position


# -- one of each ----------------------------------------------------------------------------------


def test_a_job_with_the_datasets_of_its_latest_run(store: Store) -> None:
    store.ingest(run_event(run="1", inputs=["old"], outputs=["out"], minute=1))
    store.ingest(run_event(run="2", inputs=["new", "a"], outputs=["out"], minute=2))
    detail = store.pages.job(Job(JOB_NAMESPACE, "job"))
    assert [use.name for use in detail.inputs] == ["a", "new"]
    assert detail.outputs == (Dataset(NAMESPACE, "out"),)
    assert [run.run_id for run in detail.runs] == [run_id("2"), run_id("1")]
    assert detail.summary.latest_run is not None
    assert detail.summary.latest_run.run_id == run_id("2")
    with pytest.raises(UnknownJob, match=f"Closest: {JOB_NAMESPACE}/job"):
        store.pages.job(Job(JOB_NAMESPACE, "jbo"))


def test_an_event_byte_for_byte(store: Store) -> None:
    body = b'{ "eventTime" :"2026-01-01T00:00:00Z",\n "producer":"p", "job" : {"namespace":"n","name":"j"}}'
    receipt = store.ingest(body)
    assert store.pages.event_body(receipt.digest) == body
    assert store.pages.lines_after(0, 10) == (None, [body.replace(b"\n", b" ") + b"\n"])
    for unknown in ("", "zz", "00" * 32):
        with pytest.raises(UnknownEvent):
            store.pages.event_body(unknown)


def test_exported_lines_restore_the_same_store(busy: Store) -> None:
    lines: list[bytes] = []
    after: int | None = 0
    while after is not None:
        after, more = busy.pages.lines_after(after, 7)
        lines += more
    with Store("memory://") as again:
        again.ingest_many(lines)
        assert again.datasets() == busy.datasets()
        assert again.runs() == busy.runs()


def test_events_between_two_times(store: Store) -> None:
    for minute in range(6):
        store.ingest(run_event("RUNNING", run=str(minute), minute=minute))

    def times(portions: list[list[int]]) -> list[str]:
        return [json.loads(body)["eventTime"] for portion in portions for body in store.pages.event_bodies(portion)]

    total, found = store.pages.events_between(at(1), at(5), limit=2, offset=1)
    assert (total, times(found)) == (4, [at(3).isoformat(), at(2).isoformat()])
    oldest = store.pages.events_between(None, None, newest_first=False, limit=1)[1]
    assert times(oldest) == [at(0).isoformat()]


def test_events_are_read_in_batches_of_limited_size(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    made = [json.dumps(run_event("RUNNING", run=str(number), minute=number)).encode() for number in range(5)]
    made[3] = made[3][:-1] + b" " * 5000 + b"}"
    store.ingest_many(made)
    monkeypatch.setattr(events, "_MOST_BYTES", 2 * len(made[0]) + 10)
    portions = store.pages.events_between(None, None, newest_first=False)[1]
    assert [len(portion) for portion in portions] == [2, 1, 1, 1], "the longest alone"
    assert [body for portion in portions for body in store.pages.event_bodies(portion)] == made
    after, lines = store.pages.lines_after(0, 100)
    assert (len(lines), after) == (2, portions[0][-1])
    while after is not None:
        after, more = store.pages.lines_after(after, 100)
        assert len(more) <= 2
        lines += more
    assert lines == [body + b"\n" for body in made]


def test_counts(store: Store) -> None:
    store.ingest(run_event(inputs=["a", "b"], outputs=["x"]))
    store.ingest(dataset_event(used("lonely", namespace="elsewhere")))
    counts = store.pages.counts()
    assert (counts.datasets, counts.jobs, counts.runs, counts.events, counts.edges) == (4, 1, 1, 2, 2)
    assert [(one.name, one.datasets, one.jobs) for one in store.pages.namespaces()] == [
        ("elsewhere", 1, 0), (JOB_NAMESPACE, 0, 1), (NAMESPACE, 3, 0),
    ]  # fmt: skip


def test_unknown_lineage_is_reported(store: Store) -> None:
    gap = {"operator": "MapInPandas", "columns": []}
    facet = {"_producer": "p", "_schemaURL": "u", "complete": False, "gaps": [gap]}
    store.ingest(run_event(inputs=["a", "b"], outputs=[used("x", facets={"headwater_coverage": facet})]))
    [covered] = store.pages.coverage().items
    assert (covered.dataset.name, covered.upstreams, covered.unknown, covered.complete) == ("x", 2, 2, False)
    assert list(covered.gaps) == [gap]


# -- finding --------------------------------------------------------------------------------------

NAMES = ["orders", "orders_daily", "raw/orders", "reorders", "customers", "Order", "invoice.lines", "ordres"]


@pytest.fixture
def named(store: Store) -> Store:
    store.ingest_many(dataset_event(name) for name in NAMES)
    store.ingest(run_event(job="orders_job"))
    return store


def hits(page: Page[Hit]) -> list[tuple[str, str]]:
    return [(hit.endpoint.name, hit.match.value) for hit in page.items]


def test_the_best_match_comes_first(named: Store) -> None:
    assert hits(named.pages.find("orders")) == [
        ("orders", "exact"), ("orders_job", "prefix"), ("orders_daily", "prefix"), ("raw/orders", "word"),
        ("reorders", "piece"), ("Order", "fuzzy"), ("ordres", "fuzzy"),
    ]  # fmt: skip
    assert hits(named.pages.find("ORDERS", kind="job")) == [("orders_job", "prefix")]
    assert hits(named.pages.find("custmers")) == [("customers", "fuzzy")]
    assert hits(named.pages.find("  ")) == hits(named.pages.find("%")) == []
    assert [hit.match for hit in all_pages(named.pages.find, 2, text="orders")] == [
        hit.match for hit in named.pages.find("orders").items
    ]


@pytest.mark.parametrize("wanted", ["order", "s", "e", "raw/", "_", ".", f"{NAMESPACE}/orders", "lines"])
def test_every_name_that_contains_the_text_is_found(named: Store, wanted: str) -> None:
    """Compared with brute force over all names."""
    every = [(Dataset(NAMESPACE, name), search.match_of(NAMESPACE, name, wanted)) for name in NAMES]
    every.append((Job(JOB_NAMESPACE, "orders_job"), search.match_of(JOB_NAMESPACE, "orders_job", wanted)))  # type: ignore[arg-type]
    expected = {(endpoint, match) for endpoint, match in every if match is not None}
    found = all_pages(named.pages.find, 3, text=wanted)
    assert {(hit.endpoint, hit.match) for hit in found if hit.match is not Match.FUZZY} == expected
    ranks = [search.rank(hit) for hit in found]
    assert ranks == sorted(ranks)
    for endpoint, match in expected:
        label = f"{endpoint.namespace}/{endpoint.name}".lower()
        assert wanted.lower() in label
        assert (match is Match.EXACT) == (wanted.lower() in (label, endpoint.name.lower()))


# -- all around -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("store_url", "depth"),
    [
        *(("sqlite", depth) for depth in (1, 2, 100)),
        ("postgresql", 100),
        *(pytest.param("postgresql", depth, marks=pytest.mark.long) for depth in (1, 2)),
    ],
    indirect=["store_url"],
)
def test_all_edges_in_a_neighbourhood(busy: Store, depth: int) -> None:
    """Compared with brute force: the answers of upstream and downstream, and every edge between two of these."""
    with busy._database.read() as conn:
        every = {
            tuple(row)
            for row in conn.exec_driver_sql(
                "SELECT u.namespace, u.name, d.namespace, d.name FROM edge e "
                "JOIN dataset u ON u.id = e.upstream_id JOIN dataset d ON d.id = e.downstream_id "
                f"WHERE e.valid_to = {2**63 - 1}"
            )
        }
    for summary in busy.datasets():
        centre = summary.dataset
        near = {centre} | {
            node.endpoint for ask in (busy.upstream, busy.downstream) for node in ask(centre, depth=depth).nodes
        }
        found = busy.pages.around("dataset", f"{centre.namespace}:{centre.name}", depth)
        flows = {
            (flow.upstream.namespace, flow.upstream.name, flow.downstream.namespace, flow.downstream.name)
            for flow in found.flows
        }
        names = {(endpoint.namespace, endpoint.name) for endpoint in near}
        assert flows == {edge for edge in every if edge[:2] in names and edge[2:] in names}
        assert {sketch.dataset for sketch in found.datasets} == near
        assert {flow.job for flow in found.flows} - {None} == {summary.job for summary in found.jobs}


def test_a_name_with_colons_is_found(store: Store) -> None:
    store.ingest(run_event(inputs=[used("a:b", namespace="s3://c:1")], outputs=[used("x:y:z", namespace="db:2")]))
    assert [flow.upstream.name for flow in store.pages.around("dataset", "db:2:x:y:z", 1).flows] == ["a:b"]
    assert [flow.upstream.name for flow in store.pages.around("job", f"{JOB_NAMESPACE}:job", 1).flows] == ["a:b"]
    with pytest.raises(UnknownDataset):
        store.pages.around("dataset", "db:2:x:y", 1)
    with pytest.raises(UnknownJob):
        store.pages.around("job", "db:2:x:y:z", 1)


def test_columns_around(store: Store) -> None:
    said = column_lineage({"c": [("a", "p"), ("a", "q")], "d": [("b", "r")]})
    store.ingest(run_event(run="1", inputs=["a", "b"], outputs=[used("x", facets={"columnLineage": said})]))
    more = column_lineage({"e": [("x", "c")]})
    store.ingest(run_event(run="2", job="next", inputs=["x"], outputs=[used("y", facets={"columnLineage": more})]))

    def columns(kind: str, named: str, *, downstream: bool = False) -> list[tuple[str, str]]:
        found = store.pages.around_columns(kind, named, 20, downstream=downstream).flows
        return sorted((str(flow.upstream_column), str(flow.downstream_column)) for flow in found)

    assert columns("datasetField", f"{NAMESPACE}:x:c") == [("p", "c"), ("q", "c")]
    assert columns("datasetField", f"{NAMESPACE}:x:c", downstream=True) == [("c", "e"), ("p", "c"), ("q", "c")]
    assert columns("dataset", f"{NAMESPACE}:x") == [("p", "c"), ("q", "c"), ("r", "d")]
    assert columns("job", f"{JOB_NAMESPACE}:next") == [("c", "e"), ("p", "c"), ("q", "c")]
