"""The metadata of a dataset: kind, owner, tags, schema, versions."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.model.lineage import Origin
from headwater.model.names import Dataset
from headwater.store.store import Store
from tests.support.events import (
    Json,
    at,
    dataset_event,
    deleted,
    ds,
    facet,
    from_dataset,
    named_job,
    ownership,
    run_event,
    run_id,
    schema,
    symlinks,
    tags,
    used,
    written_in_part,
)


def describe(store: Store, minute: float = 0, **facets: Any) -> None:
    store.ingest(dataset_event(used("x", facets=facets), minute=minute))


@pytest.mark.parametrize(
    ("namespace", "facets", "kind"),
    [
        ("warehouse", {}, "table"),
        ("postgres://db:5432", {}, "table"),
        ("bigquery", {}, "table"),
        ("file", {}, "file"),
        ("s3://bucket", {}, "file"),
        ("hdfs://namenode:8020", {}, "file"),
        ("kafka://broker:9092", {}, "stream"),
        ("s3://bucket", {"symlinks": symlinks("db.t")}, "table"),
        ("s3://bucket", {"datasetType": facet(datasetType="VIEW")}, "view"),
        ("warehouse", {"datasetType": facet(datasetType="TOPIC")}, "stream"),
        ("warehouse", {"datasetType": facet(datasetType="MODEL")}, "model"),
        ("kafka://broker:9092", {"datasetType": facet(datasetType="something else")}, "stream"),
    ],
)
def test_kind(store: Store, namespace: str, facets: Json, kind: str) -> None:
    store.ingest(run_event(inputs=[used("x", namespace=namespace, facets=facets)]))
    assert store.dataset("x").summary.kind == kind
    assert [found.kind for found in store.datasets(kind=kind)] == [kind]


def test_owner(store: Store) -> None:
    describe(store, ownership=ownership("team:first", "team:second"))
    assert store.dataset("x").summary.owner == "team:first"
    assert [found.dataset for found in store.datasets(owner="team:first")] == [ds("x")]
    assert store.datasets(owner="team:second") == []


def test_tags(store: Store) -> None:
    describe(store, tags=tags(pii="true", tier="gold"))
    assert store.dataset("x").summary.tags == ("pii", "tier=gold")
    assert [found.dataset for found in store.datasets(tag="tier=gold")] == [ds("x")]
    assert store.datasets(tag="tier") == []


def test_a_tag_on_a_column_is_not_a_tag_of_the_dataset(store: Store) -> None:
    describe(store, tags=facet(tags=[{"key": "pii", "value": "true", "field": "email"}]))
    assert store.dataset("x").summary.tags == ()


def test_schema(store: Store) -> None:
    fields = [{"name": "id", "type": "bigint", "description": "the key"}, {"name": "v"}]
    describe(store, schema=facet(fields=fields))
    assert [(f.name, f.type, f.description) for f in store.dataset("x").schema] == [
        ("id", "bigint", "the key"),
        ("v", None, None),
    ]


def test_a_later_facet_replaces_the_earlier_one_completely(store: Store) -> None:
    describe(store, 1, schema=schema("a", "b"), ownership=ownership("team"))
    describe(store, 2, schema=schema("c"))
    detail = store.dataset("x")
    assert [field.name for field in detail.schema] == ["c"]
    assert detail.summary.owner == "team"


def test_an_earlier_facet_that_arrives_late_changes_nothing(store: Store) -> None:
    describe(store, 2, schema=schema("new"))
    describe(store, 1, schema=schema("old"), ownership=ownership("team"))
    detail = store.dataset("x")
    assert [field.name for field in detail.schema] == ["new"]
    assert detail.summary.owner == "team"


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_deleted_facet_is_gone_and_stays_gone(store: Store, order: tuple[int, int]) -> None:
    facets: list[Json] = [{"ownership": ownership("team"), "tags": tags(pii="true")}, {"ownership": deleted()}]
    for i in order:
        describe(store, i, **facets[i])
    detail = store.dataset("x")
    assert (detail.summary.owner, detail.summary.tags) == (None, ("pii",))
    assert set(detail.facets) == {"tags"}
    describe(store, 3, ownership=ownership("other"))
    assert store.dataset("x").summary.owner == "other"


def test_first_and_last_seen(store: Store) -> None:
    for minute in (5, 1, 9):
        store.ingest(run_event(run=str(minute), inputs=["x"], minute=minute))
    summary = store.dataset("x").summary
    assert (summary.first_seen, summary.last_seen) == (at(1), at(9))


def test_a_dataset_named_only_in_facets_has_no_last_seen(store: Store) -> None:
    describe(store, lineage=facet(inputs=[from_dataset("hearsay")]))
    summary = store.dataset("hearsay").summary
    assert (summary.first_seen, summary.last_seen) == (None, None)


def test_versions_newest_first(store: Store) -> None:
    for minute, label in ((1, "v1"), (2, "v2")):
        facets = {"schema": schema(f"c{minute}:int"), "version": facet(datasetVersion=label)}
        store.ingest(run_event(run=label, outputs=[used("x", facets=facets)], minute=minute))
    newest, oldest = store.dataset("x").versions
    assert (newest.label, newest.written_at, newest.valid_to) == ("v2", at(2), None)
    assert (oldest.label, oldest.written_at, oldest.valid_to) == ("v1", at(1), at(2))
    assert (newest.job, newest.run_id, newest.origin) == (named_job("job"), run_id("v2"), Origin.RUN)
    assert [[(f.name, f.type) for f in v.schema or ()] for v in (newest, oldest)] == [[("c2", "int")], [("c1", "int")]]


def test_versions_by_partition(store: Store) -> None:
    store.ingest(run_event(outputs=[written_in_part("x", "p1", "p2")]))
    versions = store.dataset("x").versions
    assert {version.partition for version in versions} == {"p1", "p2"}
    assert {version.schema for version in versions} == {None}


def test_a_hundred_versions_are_shown(store: Store) -> None:
    store.ingest_many(run_event(run=str(minute), outputs=["x"], minute=minute) for minute in range(103))
    versions = store.dataset("x").versions
    assert [version.written_at for version in versions] == [at(minute) for minute in range(102, 2, -1)]


def test_lists_are_by_name_and_limited(store: Store) -> None:
    store.ingest(run_event(inputs=["c", "a", used("z", namespace="earlier"), "b"]))
    found = [summary.dataset for summary in store.datasets()]
    assert found == [Dataset("earlier", "z"), ds("a"), ds("b"), ds("c")]
    assert [summary.dataset for summary in store.datasets(limit=2)] == found[:2]
    assert store.datasets(limit=0) == []


def test_filters_combine(store: Store) -> None:
    store.ingest(
        run_event(
            inputs=[
                used("orders", facets={"ownership": ownership("team"), "tags": tags(pii="true")}),
                used("orders", namespace="file", facets={"ownership": ownership("team")}),
                used("returns", facets={"tags": tags(pii="true")}),
            ]
        )
    )
    assert [d.dataset for d in store.datasets("ORDERS", owner="team", tag="pii")] == [ds("orders")]
    assert [d.dataset for d in store.datasets(owner="team", kind="file")] == [Dataset("file", "orders")]
    assert [d.dataset for d in store.datasets(namespace="warehouse", tag="pii", limit=1)] == [ds("orders")]


@pytest.mark.parametrize("search", ["100%", "_b", "a_b", "back\\slash", "ÜBER", "house/a"])
def test_search_treats_every_character_literally(store: Store, search: str) -> None:
    wanted = {"100%": "100%", "_b": "a_b", "a_b": "a_b", "back\\slash": "back\\slash", "ÜBER": "ÜBER", "house/a": "a_b"}
    store.ingest(run_event(inputs=["100%", "1000", "a_b", "axb", "back\\slash", "backslash", "ÜBER"]))
    found = [summary.dataset.name for summary in store.datasets(search)]
    assert wanted[search] in found
    assert not {"1000", "backslash"} & set(found)
    if search != "house/a":
        assert found == [wanted[search]]


def test_filters_use_the_merged_metadata_of_aliases(store: Store) -> None:
    """Owner and tags that were stated under the catalog name belong to the dataset, in the list as in its
    description."""
    store.ingest(dataset_event(used("path", namespace="s3://b", facets={"symlinks": symlinks("db.t")}), minute=1))
    said = {"ownership": ownership("team"), "tags": tags(pii="true")}
    store.ingest(dataset_event(used("db.t", namespace="catalog", facets=said), minute=2))
    path = Dataset("s3://b", "path")
    assert store.dataset("path").summary.owner == "team"
    assert [d.dataset for d in store.datasets(owner="team")] == [path]
    assert [d.dataset for d in store.datasets(tag="pii")] == [path]
