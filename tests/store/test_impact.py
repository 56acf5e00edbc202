"""What breaks if a dataset changes, and whom to inform."""

from __future__ import annotations

import pytest

from headwater.model.answers import Affected, TouchedColumn
from headwater.model.lineage import Dependency
from headwater.model.runs import RunState
from headwater.store.store import Store
from tests.support.events import (
    at,
    column_lineage,
    dataset_event,
    ds,
    named_job,
    ownership,
    run_event,
    run_id,
    symlinks,
    used,
)

DIRECT, INDIRECT, UNKNOWN = Dependency.DIRECT, Dependency.INDIRECT, Dependency.UNKNOWN


@pytest.fixture
def shop(store: Store) -> Store:
    """raw → orders (columns known) → sums (columns known) → report (columns not recorded); a check only reads."""
    orders = column_lineage(
        {"id": [("raw", "id", "DIRECT", "IDENTITY")], "amount": [("raw", "amount", "DIRECT", "TRANSFORMATION")]},
        dataset=[("raw", "country", "INDIRECT", "FILTER")],
    )
    sums = column_lineage(
        {"total": [("orders", "amount", "DIRECT", "AGGREGATION"), ("orders", "id", "INDIRECT", "JOIN")]}
    )
    store.ingest_many(
        [
            run_event(
                run="1",
                job="load",
                inputs=["raw"],
                outputs=[used("orders", facets={"columnLineage": orders, "ownership": ownership("team:orders")})],
                minute=1,
            ),
            run_event(
                run="2", job="sum", inputs=["orders"], outputs=[used("sums", facets={"columnLineage": sums})], minute=2
            ),
            run_event(run="3", job="publish", inputs=["sums"], outputs=["report"], minute=3),
            run_event(run="4", job="check", inputs=["orders"], minute=4),
        ]
    )
    return store


def affected(store: Store, dataset: str, column: str | None = None) -> dict[str, Affected]:
    return {item.endpoint.name: item for item in store.impact(dataset, column).affected}


def columns(item: Affected) -> dict[str | None, Dependency]:
    return {column.name: column.dependency for column in item.columns}


def test_every_dataset_downstream_is_affected_nearest_first(shop: Store) -> None:
    answer = shop.impact("raw")
    assert [(item.endpoint, item.depth) for item in answer.affected] == [
        (ds("orders"), 1),
        (ds("sums"), 2),
        (ds("report"), 3),
    ]
    assert (answer.endpoint, answer.column, answer.truncated) == (ds("raw"), None, False)


def test_the_columns_touched_and_how(shop: Store) -> None:
    found = affected(shop, "raw")
    assert columns(found["orders"]) == {None: INDIRECT, "amount": DIRECT, "id": DIRECT}
    assert columns(found["sums"]) == {"total": DIRECT}
    assert columns(found["report"]) == {None: UNKNOWN}


def test_a_column_affects_only_its_dependents(shop: Store) -> None:
    found = affected(shop, "raw", "amount")
    assert {name: columns(item) for name, item in found.items()} == {
        "orders": {"amount": DIRECT},
        "sums": {"total": DIRECT},
        "report": {None: UNKNOWN},
    }
    found = affected(shop, "raw", "id")
    assert columns(found["orders"]) == {"id": DIRECT}
    assert columns(found["sums"]) == {"total": INDIRECT}


def test_a_column_that_only_filters(shop: Store) -> None:
    found = affected(shop, "raw", "country")
    assert columns(found["orders"]) == {None: INDIRECT}
    assert columns(found["sums"]) == {"total": INDIRECT}


def test_jobs_owner_and_latest_run(shop: Store) -> None:
    shop.ingest(run_event("FAIL", run="5", job="sum", minute=9))
    found = affected(shop, "raw")
    assert found["orders"].jobs == (named_job("load"),)
    assert found["orders"].owner == "team:orders"
    assert found["sums"].owner is None
    assert found["sums"].jobs == (named_job("sum"),)
    latest = found["sums"].latest_run
    assert latest is not None
    assert (latest.run_id, latest.state, latest.last_event_at) == (run_id("5"), RunState.FAIL, at(9))


def test_only_jobs_on_the_path_of_the_change_are_named(shop: Store) -> None:
    shop.ingest(run_event(run="other", job="other", inputs=["unrelated"], outputs=["sums"], minute=5))
    assert affected(shop, "raw")["sums"].jobs == (named_job("sum"),)
    shop.ingest(run_event(run="again", job="again", inputs=["orders"], outputs=["sums"], minute=6))
    assert affected(shop, "raw")["sums"].jobs == (named_job("again"), named_job("sum"))


def test_a_shortest_path_is_given(shop: Store) -> None:
    assert affected(shop, "raw")["report"].path == ("warehouse/orders", "warehouse/sums", "warehouse/report")
    assert affected(shop, "raw", "amount")["sums"].path == ("warehouse/orders#amount", "warehouse/sums#total")


def test_readers_are_jobs_without_outputs(shop: Store) -> None:
    assert shop.impact("raw").readers == (named_job("check"),)
    assert shop.impact("orders").readers == (named_job("check"),)
    assert shop.impact("sums").readers == ()


def test_a_reader_of_the_dataset_itself_counts_without_affected_assets(store: Store) -> None:
    store.ingest(run_event(job="check", inputs=["leaf"]))
    answer = store.impact("leaf")
    assert (answer.affected, answer.readers) == ((), (named_job("check"),))


def test_a_reader_by_alias_is_a_reader(store: Store) -> None:
    store.ingest(run_event(outputs=[used("path", facets={"symlinks": symlinks("db.t")})]))
    store.ingest(run_event(run="2", job="check", inputs=[used("db.t", namespace="catalog")], minute=1))
    assert store.impact("path").readers == (named_job("check"),)


def test_an_owner_stated_under_an_alias_is_returned(store: Store) -> None:
    store.ingest(run_event(inputs=["a"], outputs=[used("path", facets={"symlinks": symlinks("db.t")})]))
    store.ingest(dataset_event(used("db.t", namespace="catalog", facets={"ownership": ownership("team")}), minute=1))
    assert affected(store, "a")["path"].owner == store.dataset("path").summary.owner == "team"


def test_as_of(shop: Store) -> None:
    shop.ingest(run_event(run="new", job="load", inputs=["elsewhere"], outputs=["orders"], minute=50))
    assert shop.impact("raw").affected == ()
    assert [item.endpoint.name for item in shop.impact("raw", as_of=at(10)).affected] == ["orders", "sums", "report"]
    assert shop.impact("raw", as_of=at(10)).as_of == at(10)


def test_a_depth_limit_is_reported(shop: Store) -> None:
    answer = shop.impact("raw", depth=2)
    assert ([item.endpoint.name for item in answer.affected], answer.truncated) == (["orders", "sums"], True)
    assert not shop.impact("raw", depth=3).truncated


def test_a_cycle_ends_and_does_not_affect_itself(store: Store) -> None:
    store.ingest(run_event(run="1", job="1", inputs=["a"], outputs=["b"], minute=1))
    store.ingest(run_event(run="2", job="2", inputs=["b"], outputs=["a"], minute=2))
    assert [item.endpoint.name for item in store.impact("a").affected] == ["b"]


def test_a_column_of_the_same_table_is_not_another_asset(store: Store) -> None:
    said = column_lineage({"total": [("t", "part")]})
    store.ingest(run_event(inputs=["t"], outputs=[used("t", facets={"columnLineage": said})]))
    assert store.impact("t", "part").affected == ()


def test_columns_are_sorted_after_the_whole_dataset(shop: Store) -> None:
    assert affected(shop, "raw")["orders"].columns == (
        TouchedColumn(None, INDIRECT),
        TouchedColumn("amount", DIRECT),
        TouchedColumn("id", DIRECT),
    )
