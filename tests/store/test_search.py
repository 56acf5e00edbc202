"""Search for columns by name and for runs by a prefix of the id, besides datasets and jobs."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from headwater.model.names import Dataset, Job
from headwater.model.pages import Hit
from headwater.store.access.visibility import Visibility
from headwater.store.query.search import columns as column_search
from headwater.store.query.search import search
from headwater.store.store import Store
from tests.support.events import (
    JOB_NAMESPACE,
    NAMESPACE,
    Json,
    column_lineage,
    dataset_event,
    ds,
    facet,
    run_event,
    run_id,
    schema,
    symlinks,
    used,
)

COLUMNS = {
    "orders": ["id", "amount", "order_amount", "Größe", 'quo"te', "back\\slash", "50%", "a_b"],
    "customers": ["id", "email", "AMOUNT", "tantamount", "axb", "grösse"],
    "nothing": [],
}


def described(name: str, *columns: str, namespace: str = NAMESPACE) -> Json:
    return dataset_event(used(name, namespace=namespace, facets={"schema": schema(*columns)}))


@pytest.fixture
def columns(store: Store) -> Store:
    store.ingest_many(described(name, *columns) for name, columns in COLUMNS.items())
    return store


def labels_of(hits: Iterable[Hit]) -> list[tuple[str, str | None, str]]:
    return [(hit.endpoint.name, hit.column, hit.match.value) for hit in hits]


def test_the_best_match_comes_first(columns: Store) -> None:
    found = columns.pages.find("amount", kind="column").items
    assert labels_of(found) == [
        ("customers", "AMOUNT", "exact"), ("orders", "amount", "exact"), ("orders", "order_amount", "word"),
        ("customers", "tantamount", "piece"),
    ]  # fmt: skip
    assert {hit.type for hit in found} == {"column"}
    assert labels_of(columns.pages.find("AMO", kind="column").items)[0] == ("customers", "AMOUNT", "prefix")


@pytest.mark.parametrize(
    "wanted", ["id", "m", "größe", "GRÖSSE", "ö", 'o"t', "k\\s", "0%", "%", "a_b", "_", "zzz", '"', ":"]
)
def test_every_column_that_contains_the_text_is_found(columns: Store, wanted: str) -> None:
    """Compared with brute force over all columns."""
    expected = {
        (name, column)
        for name, all_of in COLUMNS.items()
        for column in all_of
        if wanted.lower() in column.lower()
    }  # fmt: skip
    found = columns.pages.find(wanted, kind="column", limit=1000).items
    assert {(hit.endpoint.name, hit.column) for hit in found} == expected


def test_nested_columns_and_other_names(store: Store) -> None:
    street = {"name": "address", "fields": [{"name": "street"}, {"name": "city", "fields": [{"name": "code"}]}]}
    told_as = {"schema": facet(fields=[street]), "symlinks": symlinks("people_table")}
    store.ingest(dataset_event(used("people", facets=told_as)))
    assert labels_of(store.pages.find("city", kind="column").items) == [
        ("people", "address.city", "word"), ("people", "address.city.code", "word"),
    ]  # fmt: skip
    assert labels_of(store.pages.find("address.city", kind="column").items)[0] == ("people", "address.city", "exact")
    store.ingest(dataset_event(used("people_table", namespace="catalog", facets={"schema": schema("town")}), minute=5))
    assert labels_of(store.pages.find("town", kind="column").items) == [("people", "town", "exact")]
    assert store.pages.find("street", kind="column").items == ()  # the last word on the schema counts


def test_text_of_facets_is_no_column(store: Store) -> None:
    """The facets contain the word, the schema does not."""
    store.ingest(dataset_event(used("x", facets={"schema": schema("a:amount"), "mine": facet(name="amount")})))
    assert store.pages.find("amount", kind="column").items == ()


def test_a_typo_is_found_among_columns_with_lineage(store: Store) -> None:
    said = {"schema": schema("customer_name"), "columnLineage": column_lineage({"customer_name": [("a", "name")]})}
    store.ingest(run_event(inputs=["a"], outputs=[used("x", facets=said)]))
    assert labels_of(store.pages.find("custmer_name", kind="column").items) == [("x", "customer_name", "fuzzy")]


def test_the_closest_match_comes_first_among_very_many(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.ingest_many(described(f"a{number}", "the_key") for number in range(5))
    store.ingest_many([described("y", "key_of"), described("z", "key")])
    monkeypatch.setattr(column_search, "_MOST_DATASETS", 2)
    assert labels_of(store.pages.find("key", kind="column").items) == [("z", "key", "exact"), ("y", "key_of", "prefix")]


def test_runs_by_a_prefix_of_their_ids(store: Store) -> None:
    store.ingest_many(run_event(run=str(number), job=f"job {number}") for number in range(30))
    wanted = run_id("7")
    for text, match in (
        (wanted, "exact"),
        (wanted.upper(), "exact"),
        (wanted[:9], "prefix"),
        (wanted[:9].upper(), "prefix"),
    ):
        [hit] = store.pages.find(text, kind="run").items
        assert (hit.endpoint, hit.type, hit.run_id, hit.match) == (Job(JOB_NAMESPACE, "job 7"), "run", wanted, match)
    assert store.pages.find(wanted[:3], kind="run").items == ()
    assert store.pages.find(wanted[9:], kind="run").items == ()
    assert store.pages.find("____", kind="run").items == ()


def test_any_of_these_in_one_order(store: Store) -> None:
    store.ingest(
        run_event(
            run="1", job="amount_job", outputs=[used("amount", facets={"schema": schema("amount", "total_amount")})]
        )
    )
    found = store.pages.find("amount", kind="any").items
    assert [(hit.type, hit.match.value) for hit in found] == [
        ("column", "exact"), ("dataset", "exact"), ("job", "prefix"), ("column", "word"),
    ]  # fmt: skip
    assert [search.rank(hit) for hit in found] == sorted(search.rank(hit) for hit in found)
    pieces: list[Hit] = []
    cursor = None
    while True:
        page = store.pages.find("amount", kind="any", limit=1, cursor=cursor)
        pieces += page.items
        cursor = page.next
        if cursor is None:
            break
    assert pieces == list(found)
    assert {hit.type for hit in store.pages.find("amount").items} == {"dataset", "job"}


def test_hidden_names_are_not_found(store: Store) -> None:
    store.ingest_many([described("x", "amount"), described("s", "amount", namespace="vault")])
    linked = used("hidden", namespace="vault", facets={"schema": schema("amount_due"), "symlinks": symlinks("seen")})
    store.ingest(dataset_event(linked))
    store.ingest({**run_event(run="theirs"), "job": {"namespace": "vault", "name": "j"}})
    store.ingest(run_event(run="mine"))
    through = store.visible_to(Visibility.of([NAMESPACE, JOB_NAMESPACE, "catalog"]))
    assert [hit.endpoint for hit in through.pages.find("amount", kind="any").items] == [ds("x")]
    assert through.pages.find("amont", kind="column").items == ()
    for text in (run_id("theirs"), run_id("theirs")[:8]):
        assert through.pages.find(text, kind="any").items == ()
    assert [hit.run_id for hit in through.pages.find(run_id("mine")[:8], kind="run").items] == [run_id("mine")]
    assert {hit.endpoint for hit in store.pages.find("amount", kind="column").items} == {
        ds("x"), Dataset("vault", "s"), Dataset("vault", "hidden"),
    }  # fmt: skip
