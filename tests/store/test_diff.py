"""The differences between two runs."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.errors import UnknownRun
from headwater.model.answers import Change
from headwater.store.store import Store
from tests.support.events import (
    Json,
    Use,
    column_lineage,
    facet,
    read_in_part,
    run_event,
    run_id,
    schema,
    used,
    written_in_part,
)

WHOLE: Json = {"partitions": [], "version": None}


def diff(store: Store, inputs: tuple[list[Use], list[Use]], outputs: tuple[list[Use], list[Use]]) -> Any:
    for i, name in enumerate(("a", "b")):
        store.ingest(run_event(run=name, inputs=inputs[i], outputs=outputs[i], minute=i))
    return store.diff(run_id("a"), run_id("b"))


def test_equal_runs_have_no_differences(store: Store) -> None:
    answer = diff(store, (["in"], ["in"]), (["out"], ["out"]))
    assert answer.same
    assert (answer.run_a.run_id, answer.run_b.run_id) == (run_id("a"), run_id("b"))


def test_inputs_and_outputs(store: Store) -> None:
    answer = diff(store, (["kept", "dropped"], ["kept", "new"]), (["x"], ["y"]))
    assert answer.inputs == (
        Change("input", "warehouse/dropped", WHOLE, None),
        Change("input", "warehouse/new", None, WHOLE),
    )
    assert answer.outputs == (
        Change("output", "warehouse/x", WHOLE, None),
        Change("output", "warehouse/y", None, WHOLE),
    )
    assert not answer.same


def test_partitions_and_versions(store: Store) -> None:
    def version(label: str) -> Json:
        return used("lake", facets={"version": facet(datasetVersion=label)})

    answer = diff(
        store,
        ([read_in_part("in", "p1"), version("7")], [read_in_part("in", "p1", "p2"), version("8")]),
        ([written_in_part("out", "p1")], [written_in_part("out", "p1")]),
    )
    assert answer.inputs == (
        Change("input", "warehouse/in", WHOLE | {"partitions": ["p1"]}, WHOLE | {"partitions": ["p1", "p2"]}),
        Change("input", "warehouse/lake", WHOLE | {"version": "7"}, WHOLE | {"version": "8"}),
    )
    assert answer.outputs == ()


def test_schema(store: Store) -> None:
    before, after = schema("id:int", "gone:int", "v:int"), schema("id:int", "v:bigint", "new")
    answer = diff(store, ([], []), ([used("x", facets={"schema": before})], [used("x", facets={"schema": after})]))
    assert answer.schema == (
        Change("schema", "warehouse/x#gone", "int", None),
        Change("schema", "warehouse/x#new", None, "unspecified"),
        Change("schema", "warehouse/x#v", "int", "bigint"),
    )


def test_column_edges(store: Store) -> None:
    before = column_lineage({"c": [("a", "c", "DIRECT", "IDENTITY"), ("a", "gone")]})
    after = column_lineage({"c": [("a", "c", "DIRECT", "AGGREGATION")]}, dataset=[("a", "day", "INDIRECT", "FILTER")])
    answer = diff(
        store,
        ([], []),
        ([used("x", facets={"columnLineage": before})], [used("x", facets={"columnLineage": after})]),
    )

    def how(dependency: str, subtype: str | None) -> list[Json]:
        return [{"dependency": dependency, "subtype": subtype, "masking": False, "logic": None}]

    assert answer.column_edges == (
        Change("column edge", "warehouse/a#c → warehouse/x#c", how("DIRECT", "IDENTITY"), how("DIRECT", "AGGREGATION")),
        Change("column edge", "warehouse/a#day → warehouse/x", None, how("INDIRECT", "FILTER")),
        Change("column edge", "warehouse/a#gone → warehouse/x#c", how("DIRECT", None), None),
    )


def test_a_run_that_did_not_complete_can_be_compared(store: Store) -> None:
    store.ingest(run_event("COMPLETE", run="good", inputs=["a", "b"], outputs=["x"]))
    store.ingest(run_event("FAIL", run="bad", inputs=["a"], minute=1))
    answer = store.diff(run_id("good"), run_id("bad"))
    assert [change.name for change in (*answer.inputs, *answer.outputs)] == ["warehouse/b", "warehouse/x"]


def test_an_unknown_run_is_named(store: Store) -> None:
    store.ingest(run_event(run="a"))
    with pytest.raises(UnknownRun) as refused:
        store.diff(run_id("a"), "nope")
    assert refused.value.asked == "nope"
    assert refused.value.closest == (run_id("a"),)
