"""Datasets with several names."""

from __future__ import annotations

import itertools

import pytest

from headwater.errors import UnknownDataset
from headwater.model.names import Dataset
from headwater.store.store import Store
from tests.store.short_answers import links, names
from tests.support.events import Json, at, dataset_event, deleted, ds, facet, from_dataset, run_event, symlinks, used

ALIAS = Dataset("catalog", "db.orders")


def physical(name: str = "path", *aliases: str) -> Json:
    return used(name, facets={"symlinks": symlinks(*(aliases or ("db.orders",)))})


def by_alias(name: str = "db.orders") -> Json:
    return used(name, namespace="catalog")


def test_an_alias_resolves_to_the_dataset(store: Store) -> None:
    store.ingest(run_event(inputs=["a"], outputs=[physical()]))
    for asked in (ALIAS, "db.orders", "catalog/db.orders", ds("path"), "path"):
        answer = store.upstream(asked)
        assert (answer.endpoint, names(answer)) == (ds("path"), ["a"])
    assert store.dataset("db.orders").summary.aliases == (ALIAS,)
    assert [summary.dataset for summary in store.datasets()] == [ds("a"), ds("path")]


def test_a_search_finds_a_dataset_by_its_alias(store: Store) -> None:
    store.ingest(run_event(outputs=[physical()]))
    assert [summary.dataset for summary in store.datasets("DB.ORD")] == [ds("path")]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_alias_may_be_seen_before_or_after_the_physical_name(store: Store, order: tuple[int, ...]) -> None:
    events = [
        run_event(run="w", job="w", inputs=["a"], outputs=["path"], minute=1),
        run_event(run="r", job="r", inputs=[by_alias()], outputs=["x"], minute=2),
        dataset_event(physical(), minute=3),
    ]
    for i in order:
        store.ingest(events[i])
    assert names(store.upstream("x")) == ["path", "a"]
    assert links(store) == {("a", "path"), ("path", "x")}


def test_columns_and_partitions_follow_the_alias(store: Store) -> None:
    condition = {"type": "partition", "partitions": [{"identifier": "p1", "dimensions": {"d": "1"}}]}
    column_lineage = facet(fields={"c": {"inputFields": [{"namespace": "catalog", "name": "db.orders", "field": "k"}]}})
    output = used(
        "x",
        facets={"columnLineage": column_lineage},
        output_facets={"subset": facet(outputCondition=condition)},
    )
    store.ingest(run_event(inputs=[by_alias()], outputs=[output], minute=1))
    store.ingest(dataset_event(physical(), minute=2))
    assert names(store.upstream("x", column="c")) == ["path#k"]
    assert names(store.upstream("x", partition="p1")) == ["path"]
    assert names(store.downstream("path", column="k")) == ["x#c"]


def test_an_alias_moves_with_its_table(store: Store) -> None:
    """The catalog name follows the later claim; the old location keeps what was written under its own name."""
    store.ingest(run_event(run="1", job="1", inputs=["a"], outputs=[physical("old")], minute=1))
    store.ingest(run_event(run="2", job="2", inputs=[by_alias()], outputs=["x"], minute=2))
    assert names(store.upstream("x")) == ["old", "a"]
    store.ingest(run_event(run="3", job="3", inputs=["b"], outputs=[physical("new")], minute=3))
    assert store.upstream("db.orders").endpoint == ds("new")
    assert names(store.upstream("x")) == ["new", "b"]
    assert names(store.upstream("old")) == ["a"]


def test_a_claim_that_arrives_late_does_not_win(store: Store) -> None:
    store.ingest(dataset_event(physical("new"), minute=3))
    store.ingest(dataset_event(physical("old"), minute=1))
    assert store.dataset("db.orders").summary.dataset == ds("new")


def test_a_withdrawn_alias_is_a_dataset_again(store: Store) -> None:
    store.ingest(run_event(inputs=[by_alias()], outputs=["x"], minute=1))
    store.ingest(dataset_event(physical(), minute=2))
    assert names(store.upstream("x")) == ["path"]
    store.ingest(dataset_event(used("path", facets={"symlinks": deleted()}), minute=3))
    assert names(store.upstream("x")) == ["db.orders"]
    assert store.dataset(ALIAS).summary.dataset == ALIAS


def test_an_alias_replaced_by_another(store: Store) -> None:
    store.ingest(dataset_event(physical("path", "db.old"), minute=1))
    store.ingest(dataset_event(physical("path", "db.new"), minute=2))
    assert store.dataset("path").summary.aliases == (Dataset("catalog", "db.new"),)
    with pytest.raises(UnknownDataset):  # nothing speaks for the old name any more
        store.dataset("db.old")


def test_aliases_chain(store: Store) -> None:
    """A view name for a catalog name for a path."""
    store.ingest(dataset_event(used("db.orders", namespace="catalog", facets={"symlinks": symlinks("v")}), minute=1))
    store.ingest(dataset_event(physical(), minute=2))
    assert store.dataset("v").summary.dataset == ds("path")
    assert store.dataset("path").summary.aliases == (ALIAS, Dataset("catalog", "v"))


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_two_that_claim_each_other_are_one_dataset(store: Store, order: tuple[int, int]) -> None:
    events = [
        dataset_event(used("a", namespace="n", facets={"symlinks": symlinks("b", namespace="n")}), minute=1),
        dataset_event(used("b", namespace="n", facets={"symlinks": symlinks("a", namespace="n")}), minute=2),
    ]
    for i in order:
        store.ingest(events[i])
    assert [summary.dataset for summary in store.datasets()] == [Dataset("n", "a")]
    for name in ("a", "b"):
        assert store.dataset(Dataset("n", name)).summary.dataset == Dataset("n", "a")


def test_a_cycle_of_three_aliases_is_one_dataset(store: Store) -> None:
    for minute, (name, alias) in enumerate([("a", "b"), ("b", "c"), ("c", "a")]):
        claim = used(name, namespace="n", facets={"symlinks": symlinks(alias, namespace="n")})
        store.ingest(dataset_event(claim, minute=minute))
    assert {store.dataset(Dataset("n", name)).summary.dataset.name for name in "abc"} == {"a"}


def test_a_dataset_that_claims_itself_is_itself(store: Store) -> None:
    claim = used("a", namespace="n", facets={"symlinks": symlinks("a", namespace="n")})
    store.ingest(run_event(inputs=[claim], outputs=["x"]))
    assert names(store.upstream("x")) == ["a"]
    assert store.dataset("a").summary.aliases == ()


def test_both_names_among_the_outputs_of_a_run_are_one_version(store: Store) -> None:
    store.ingest(run_event(inputs=["a"], outputs=[physical(), by_alias()]))
    assert len(store.dataset("path").versions) == 1
    assert links(store) == {("a", "path")}


def test_reading_one_name_and_writing_the_other_is_a_self_loop(store: Store) -> None:
    store.ingest(run_event(inputs=[by_alias()], outputs=[physical()]))
    answer = store.upstream("path")
    assert (answer.nodes, answer.in_cycle) == ((), True)


def test_facets_of_all_names_are_merged(store: Store) -> None:
    store.ingest(dataset_event(physical(), minute=1))
    ownership = facet(owners=[{"name": "team"}])
    store.ingest(dataset_event(used("db.orders", namespace="catalog", facets={"ownership": ownership}), minute=2))
    detail = store.dataset("path")
    assert detail.summary.owner == "team"
    assert set(detail.facets) == {"symlinks", "ownership"}


def test_a_declaration_under_an_alias_belongs_to_the_dataset(store: Store) -> None:
    lineage = facet(inputs=[from_dataset("a")])
    store.ingest(dataset_event(used("db.orders", namespace="catalog", facets={"lineage": lineage}), minute=1))
    store.ingest(dataset_event(physical(), minute=2))
    assert names(store.upstream("path")) == ["a"]
    assert names(store.upstream("path", as_of=at(0))) == []
