"""A refused event leaves nothing in the store."""

from __future__ import annotations

import json

import pytest

from headwater.errors import EventRefused, QueryError
from headwater.formats.openlineage.event import RawEvent
from headwater.model.audit import Actor
from headwater.store.store import Store
from tests.store.short_answers import row_counts
from tests.support.events import facet, run_event, used, written_in_part

REFUSED: dict[str, RawEvent] = {
    "not JSON": b"{",
    "not UTF-8": b"\xff",
    "an array": b"[]",
    "a number": b"7",
    "empty": b"",
    "NaN": json.dumps(run_event(run_facets={"f": facet(v=0)})).replace('"v": 0', '"v": NaN'),
    "nested": b"[" * 100_000,
    "5000 digits": json.dumps(run_event(run_facets={"f": facet(v=0)})).replace('"v": 0', '"v": ' + "9" * 5000),
    "no run id": run_event() | {"run": {}},
    "NUL in the last name": run_event(inputs=["new"], outputs=["also new", "bad \x00"]),
    "half a surrogate pair": run_event(inputs=["new", "bad \ud800"]),
    "NUL in a partition": run_event(inputs=["new"], outputs=[written_in_part("x", "\x00")]),
    "NUL in the name of a facet": run_event(inputs=["new"], outputs=[used("x", facets={"\x00": facet()})]),
    "a bad time": run_event(inputs=["new"]) | {"eventTime": "soon"},
    "a bad type": run_event(inputs=["new"]) | {"eventType": "DONE"},
}


@pytest.mark.parametrize("raw", REFUSED.values(), ids=REFUSED)
def test_a_refused_event_leaves_nothing(store: Store, raw: RawEvent) -> None:
    store.ingest(run_event(run="before", inputs=["a"], outputs=["b"]))
    before, head = row_counts(store), store.verify()
    with pytest.raises(EventRefused):
        store.ingest(raw)
    with pytest.raises(EventRefused):
        store.ingest_many([run_event(run="good", inputs=["good"]), raw, run_event(run="good too")])
    assert row_counts(store) == before
    assert store.verify() == head


@pytest.mark.parametrize("text", ["\x00", "\ud800"])
def test_an_actor_that_no_database_can_store_is_refused(store: Store, text: str) -> None:
    with pytest.raises(QueryError, match="which a database cannot store"):
        store.ingest(run_event(), actor=Actor(text))
    assert set(row_counts(store).values()) == {0}


def test_a_column_name_that_no_database_can_store_is_flagged_and_skipped(store: Store) -> None:
    """The event is valid except for one facet: the problem is reported, the rest of the facet counts, and all of it
    is stored."""
    source = {"namespace": "warehouse", "name": "a", "field": "c"}
    said = facet(fields={"nul \x00": {"inputFields": [source]}, "c": {"inputFields": [source]}})
    receipt = store.ingest(run_event(inputs=["a"], outputs=[used("x", facets={"columnLineage": said})]))
    assert [problem.path for problem in receipt.problems] == ["$.outputs[0].facets.columnLineage.fields"]
    assert [node.part for node in store.upstream("x", column="c").nodes] == ["c"]
    assert store.dataset("x").facets["columnLineage"] == said
