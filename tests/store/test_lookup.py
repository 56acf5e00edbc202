"""Queries for unknown names: the error names the culprit and lists what exists."""

from __future__ import annotations

import pytest

from headwater.errors import (
    AmbiguousDataset,
    QueryError,
    UnknownColumn,
    UnknownDataset,
    UnknownPartition,
    UnknownRun,
)
from headwater.model.names import Dataset
from headwater.store.store import Store
from tests.support.events import column_lineage, ds, run_event, run_id, schema, used, written_in_part


def test_an_unknown_dataset_lists_the_closest(store: Store) -> None:
    store.ingest(run_event(inputs=["orders", "customers"]))
    with pytest.raises(UnknownDataset) as refused:
        store.upstream("ordrs")
    assert (refused.value.asked, refused.value.closest[0]) == ("ordrs", "warehouse/orders")
    assert str(refused.value).startswith("Dataset 'ordrs' is not known. Closest: warehouse/orders")


def test_at_most_five_are_listed(store: Store) -> None:
    store.ingest(run_event(inputs=[f"orders_{i}" for i in range(9)]))
    with pytest.raises(UnknownDataset) as refused:
        store.dataset("orders")
    assert len(refused.value.closest) == 5


def test_an_empty_store_says_so(store: Store) -> None:
    with pytest.raises(UnknownDataset, match=r"^Dataset 'x' is not known. The store holds no datasets yet.$"):
        store.impact("x")
    with pytest.raises(UnknownRun, match=r"^Run 'x' is not known. The store holds no runs yet.$"):
        store.run("x")


@pytest.mark.parametrize("ask", ["upstream", "downstream", "impact", "dataset", "runs"])
def test_every_query_of_a_dataset_reports_an_unknown_one(store: Store, ask: str) -> None:
    store.ingest(run_event(inputs=["orders"]))
    with pytest.raises(UnknownDataset, match="Closest: warehouse/orders"):
        getattr(store, ask)(dataset="nope")


def test_a_namespace_and_a_name_are_used_exactly(store: Store) -> None:
    store.ingest(run_event(inputs=["orders"]))
    with pytest.raises(UnknownDataset, match="Dataset 'elsewhere/orders' is not known"):
        store.dataset(Dataset("elsewhere", "orders"))


def test_an_ambiguous_name_lists_its_candidates(store: Store) -> None:
    store.ingest(run_event(inputs=["t", used("t", namespace="lake"), used("t", namespace="s3://b")]))
    with pytest.raises(AmbiguousDataset) as refused:
        store.upstream("t")
    assert refused.value.candidates == ("lake/t", "s3://b/t", "warehouse/t")
    assert str(refused.value) == (
        "'t' matches 3 datasets. Add the namespace. Candidates: lake/t, s3://b/t, warehouse/t."
    )
    assert store.upstream("s3://b/t").endpoint == Dataset("s3://b", "t")


def test_slashes_in_namespace_and_name(store: Store) -> None:
    known = Dataset("s3://bucket/a", "b/c")
    store.ingest(run_event(inputs=[used(known.name, namespace=known.namespace)]))
    for asked in ("s3://bucket/a/b/c", "b/c", known):
        assert store.dataset(asked).summary.dataset == known


def test_two_readings_of_one_path_are_ambiguous(store: Store) -> None:
    store.ingest(run_event(inputs=[used("b/c", namespace="a"), used("c", namespace="a/b")]))
    with pytest.raises(AmbiguousDataset) as refused:
        store.dataset("a/b/c")
    assert refused.value.candidates == ("a/b/c", "a/b/c")
    assert store.dataset(Dataset("a", "b/c")).summary.dataset == Dataset("a", "b/c")


def test_an_unknown_column_lists_the_columns(store: Store) -> None:
    said = column_lineage({"total": [("a", "amount")]})
    facets = {"schema": schema("total", "day"), "columnLineage": said}
    store.ingest(run_event(outputs=[used("x", facets=facets)]))
    with pytest.raises(UnknownColumn) as refused:
        store.upstream("x", column="totl")
    assert refused.value.columns == ("day", "total")
    assert str(refused.value) == "Column 'totl' is not in warehouse/x. Columns: day, total."
    with pytest.raises(UnknownColumn, match="Columns: amount"):
        store.impact("a", column="total")


def test_a_dataset_without_columns_is_reported(store: Store) -> None:
    store.ingest(run_event(inputs=["a"]))
    with pytest.raises(UnknownColumn, match=r"^Column 'c' is not in warehouse/a. No columns are recorded for it.$"):
        store.downstream("a", column="c")


def test_a_column_of_the_schema_that_no_edge_mentions_is_known(store: Store) -> None:
    said = column_lineage({"total": [("a", "amount")]})
    facets = {"schema": schema("total", "loaded_at"), "columnLineage": said}
    store.ingest(run_event(inputs=["a"], outputs=[used("x", facets=facets)]))
    assert store.upstream("x", column="loaded_at").nodes == ()


def test_a_column_of_another_dataset_is_unknown(store: Store) -> None:
    said = column_lineage({"total": [("a", "amount")]})
    store.ingest(run_event(inputs=["a"], outputs=[used("x", facets={"columnLineage": said})]))
    with pytest.raises(UnknownColumn, match="Columns: total"):
        store.upstream("x", column="amount")


def test_an_unknown_partition_lists_the_latest(store: Store) -> None:
    for minute in range(12):
        day = f"2026-11-{minute + 1:02}"
        store.ingest(run_event(run=day, inputs=["a"], outputs=[written_in_part("x", day)], minute=minute))
    with pytest.raises(UnknownPartition) as refused:
        store.upstream("x", partition="2026-12-01")
    assert refused.value.partitions == tuple(f"2026-11-{day:02}" for day in range(12, 2, -1))
    with pytest.raises(UnknownPartition, match="No partitions are recorded for it"):
        store.upstream("a", partition="2026-11-01")


def test_an_unknown_run_lists_the_closest(store: Store) -> None:
    store.ingest(run_event(run="a"))
    with pytest.raises(UnknownRun) as refused:
        store.run(run_id("a")[:-1])
    assert refused.value.closest == (run_id("a"),)


@pytest.mark.parametrize(
    "asked", ["no\nsuch\tname", "\x1b[31mred", "x" * 10_000, "\x00", "\ud800", "\u202eright to left", ""]
)
def test_any_name_gives_a_one_line_error(store: Store, asked: str) -> None:
    store.ingest(run_event(inputs=["a"], outputs=[written_in_part("x", "p")]))
    for ask in (
        lambda: store.dataset(asked),
        lambda: store.upstream(Dataset(asked, asked)),
        lambda: store.upstream("x", column=asked),
        lambda: store.upstream("x", partition=asked),
        lambda: store.run(asked),
    ):
        with pytest.raises(QueryError) as refused:
            ask()
        assert str(refused.value).isprintable()
        assert len(str(refused.value)) < 1000


@pytest.mark.parametrize("text", ["\x00", "\ud800"])
def test_a_filter_that_no_database_can_store_is_refused_by_all(store: Store, text: str) -> None:
    asked: dict[str, list[str]] = {
        "datasets": ["search", "namespace", "kind", "owner", "tag"],
        "runs": ["job", "namespace"],
        "audit": ["event_type", "actor", "resource", "correlation_id"],
    }
    for method, filters in asked.items():
        for name in filters:
            with pytest.raises(QueryError, match="which a database cannot store"):
                getattr(store, method)(**{name: text})


@pytest.mark.parametrize("limit", [-1, 2**63])
def test_a_limit_out_of_range_is_refused_by_all(store: Store, limit: int) -> None:
    for method in (store.datasets, store.runs, store.audit):
        with pytest.raises(QueryError, match="is out of range: a number of entries"):
            method(limit=limit)


def test_ds_is_found_by_its_bare_name(store: Store) -> None:
    store.ingest(run_event(inputs=["orders"]))
    assert store.dataset("orders").summary.dataset == store.dataset(ds("orders")).summary.dataset == ds("orders")
