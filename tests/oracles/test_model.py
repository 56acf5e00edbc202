"""The model itself, on cases small enough to be solved by hand: a wrong oracle proves nothing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.oracles.event_facts import Name, moment_of
from tests.oracles.graph_walk import Part, reach, strengths
from tests.oracles.model import FOREVER, Model

Json = dict[str, Any]


def name(text: str) -> Name:
    return "dataset", "db", text


def event(second: int, **parts: Any) -> Json:
    return {"eventTime": f"2026-11-15T10:00:{second:02}Z", "producer": "urn:test", "schemaURL": "urn:test", **parts}


def at(second: int) -> int:
    return moment_of(f"2026-11-15T10:00:{second:02}Z")


def use(text: str, partitions: tuple[str, ...] = (), side: str = "output", **facets: Any) -> Json:
    condition = {"type": "partition", "partitions": [{"identifier": p} for p in partitions]}
    io_facets = {f"{side}Facets": {"subset": {f"{side}Condition": condition}}} if partitions else {}
    return {"namespace": "db", "name": text, "facets": facets, **io_facets}


def read(text: str, *partitions: str) -> Json:
    return use(text, partitions, "input")


def run(second: int, run_id: str, state: str | None = "COMPLETE", job: str = "j", **parts: Any) -> Json:
    job_facets = parts.pop("job_facets", {})
    named = {"namespace": "etl", "name": job, "facets": job_facets}
    kind = {"eventType": state} if state else {}
    return event(second, run={"runId": run_id}, job=named, **kind, **parts)


def column_lineage(**fields: str) -> Json:
    """``x="a.y"``: column x comes from column y of a."""
    stated = {}
    for column, source in fields.items():
        dataset, field = source.split(".")
        stated[column] = {"inputFields": [{"namespace": "db", "name": dataset, "field": field}]}
    return {"columnLineage": {"fields": stated}}


def symlinks(*names: str) -> Json:
    return {"symlinks": {"identifiers": [{"namespace": "db", "name": n, "type": "TABLE"} for n in names]}}


def edges(model: Model) -> set[tuple[str, str, str, int, int]]:
    return {
        (element[0][2], target[2], element[1], *interval)
        for (_, _, target, element), intervals in model.edges.items()
        for interval in intervals
    }


def reached(model: Model, grain: str, start: tuple[str, Part], direction: str, depth: int = 100) -> set[Any]:
    found = reach(model.arcs(grain, None), (name(start[0]), start[1]), direction, depth)
    return {(ref[0][2], ref[1], level) for ref, level in found.depths.items()}


# -- flows ------------------------------------------------------------------------------------------------------------


def test_an_output_without_column_lineage_comes_from_every_input() -> None:
    outputs = [use("t", **column_lineage(x="a.x")), use("u")]
    model = Model([run(1, "r", inputs=[read("a"), read("b")], outputs=outputs)])
    assert edges(model) == {
        ("a", "t", "columnLineage", at(1), FOREVER),
        ("b", "t", "inputs", at(1), FOREVER),
        ("a", "u", "inputs", at(1), FOREVER),
        ("b", "u", "inputs", at(1), FOREVER),
    }


def test_lineage_entries_overrule_column_lineage_and_inputs() -> None:
    entry = {"type": "DATASET", "namespace": "db", "name": "t"}
    inputs = [{"type": "DATASET", "namespace": "db", "name": "b"}, {"type": "JOB"}]
    facets = {"lineage": {"entries": [{**entry, "inputs": inputs}]}}
    outputs = [use("t", **column_lineage(x="a.x"))]
    model = Model([run(1, "r", inputs=[read("a")], outputs=outputs, job_facets=facets)])
    assert edges(model) == {("b", "t", "lineage", at(1), FOREVER)}


def test_an_input_without_column_edges_is_connected_as_a_whole() -> None:
    model = Model([run(1, "r", inputs=[read("b")], outputs=[use("t", **column_lineage(x="a.y"))])])
    facts = {(f.upstream[2], f.upstream_column, f.downstream_column, f.dependency) for *_, f in model.column_edges}
    assert facts == {("a", "y", "x", "DIRECT"), ("b", None, None, "UNKNOWN")}


# -- runs -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("types", "state"),
    [
        ((None, "OTHER"), "UNKNOWN"),
        (("RUNNING", "START"), "RUNNING"),
        (("START", "COMPLETE", "RUNNING"), "COMPLETE"),
        (("COMPLETE", "FAIL"), "FAIL"),
        (("FAIL", "COMPLETE", None), "COMPLETE"),
    ],
)
def test_the_last_terminal_event_decides_the_state(types: tuple[str | None, ...], state: str) -> None:
    events = [run(second, "r", kind, inputs=[read("a")], outputs=[use("b")]) for second, kind in enumerate(types)]
    for order in (events, events[::-1]):
        model = Model(order)
        assert model.runs["r"].state == state
        assert bool(model.edges) == (state == "COMPLETE")


# -- validity ---------------------------------------------------------------------------------------------------------


def test_only_the_same_job_replaces_what_it_wrote() -> None:
    events = [
        run(1, "r1", inputs=[read("a")], outputs=[use("t")]),
        run(2, "r2", inputs=[read("b")], outputs=[use("t")]),
        run(3, "r3", inputs=[read("c")], outputs=[use("t")], job="other"),
    ]
    assert edges(Model(events)) == {
        ("a", "t", "inputs", at(1), at(2)),
        ("b", "t", "inputs", at(2), FOREVER),
        ("c", "t", "inputs", at(3), FOREVER),
    }


def test_partitions_are_replaced_one_by_one() -> None:
    events = [
        run(1, "r1", inputs=[read("a")], outputs=[use("t", ("p", "q"))]),
        run(2, "r2", inputs=[read("b")], outputs=[use("t", ("p",))]),
        run(3, "r3", inputs=[read("b")], outputs=[use("t", ("q",))]),
    ]
    assert edges(Model(events)) == {("a", "t", "inputs", at(1), at(3)), ("b", "t", "inputs", at(2), FOREVER)}


def test_a_declaration_replaces_the_previous_one_completely() -> None:
    job = {"namespace": "etl", "name": "j"}
    events = [
        event(1, job=job, inputs=[read("a")], outputs=[use("t", ("p",)), use("u")]),
        event(2, job=job, inputs=[read("a")], outputs=[use("u")]),
        event(3, job={**job, "facets": {"lineage": {"_deleted": True}}}),
    ]
    assert edges(Model(events)) == {("a", "t", "inputs", at(1), at(2)), ("a", "u", "inputs", at(1), at(3))}


# -- aliases ----------------------------------------------------------------------------------------------------------


def test_a_name_follows_its_last_claimant_and_chains() -> None:
    events = [
        event(1, dataset=use("a", **symlinks("x"))),
        event(2, dataset=use("b", **symlinks("x"))),
        event(3, dataset=use("c", **symlinks("b"))),
    ]
    assert Model(events[:1]).resolve(name("x")) == name("a")
    assert Model(events[:2]).resolve(name("x")) == name("b")
    assert Model(events).resolve(name("x")) == name("c")
    assert Model(events).resolve(name("a")) == name("a")


def test_in_a_cycle_the_smallest_name_represents_all() -> None:
    events = [event(1, dataset=use("c", **symlinks("b"))), event(2, dataset=use("b", **symlinks("c", "z")))]
    assert {Model(events).resolve(name(text)) for text in "bcz"} == {name("b")}


# -- walking ----------------------------------------------------------------------------------------------------------


def test_a_whole_dataset_is_connected_to_its_partitions() -> None:
    events = [
        run(1, "r1", inputs=[read("a", "p")], outputs=[use("b", ("p",))]),
        run(2, "r2", inputs=[read("b")], outputs=[use("c")]),
        run(3, "r3", inputs=[read("b", "q")], outputs=[use("d")]),
    ]
    model = Model(events)
    assert reached(model, "partition", ("a", "p"), "downstream") == {("b", "p", 1), ("c", None, 2)}
    assert reached(model, "partition", ("c", None), "upstream") == {("b", None, 1), ("a", "p", 2)}
    assert reached(model, "partition", ("d", None), "upstream") == {("b", "q", 1)}


def test_a_walk_ends_on_a_cycle_and_says_so() -> None:
    events = [
        run(1, "r1", inputs=[read("a")], outputs=[use("b")], job="j1"),
        run(2, "r2", inputs=[read("b")], outputs=[use("a"), use("c")], job="j2"),
    ]
    arcs = Model(events).arcs("dataset", None)
    whole = reach(arcs, (name("a"), None), "downstream", 100)
    assert (len(whole.depths), whole.truncated, whole.in_cycle) == (2, False, True)
    short = reach(arcs, (name("a"), None), "downstream", 1)
    assert (len(short.depths), short.truncated, short.in_cycle) == (1, True, True)
    assert not reach(arcs, (name("c"), None), "downstream", 100).in_cycle


def test_a_column_has_the_dependency_of_its_strongest_path() -> None:
    events = [
        run(1, "r1", outputs=[use("b", **column_lineage(x="a.x"))]),
        run(2, "r2", inputs=[read("a")], outputs=[use("c", **column_lineage(x="b.x"))]),
        run(3, "r3", inputs=[read("c")], outputs=[use("d")]),
    ]
    start = name("a"), "x"
    arcs = Model(events).arcs("column", None)
    assert strengths(arcs, start, "downstream", 100) == {
        (name("b"), "x"): "DIRECT",
        (name("c"), "x"): "DIRECT",
        (name("c"), None): "UNKNOWN",
        (name("d"), None): "UNKNOWN",
    }
    assert strengths(arcs, start, "downstream", 1) == {(name("b"), "x"): "DIRECT", (name("c"), None): "UNKNOWN"}


def test_impact_names_affected_assets() -> None:
    events = [
        run(1, "r1", inputs=[read("a")], outputs=[use("b", ownership={"owners": [{"name": "ann"}]})], job="j1"),
        run(2, "r2", "RUNNING", inputs=[read("a")], outputs=[use("b")], job="j1"),
        run(3, "r3", inputs=[read("b")], job="report"),
        run(4, "r4", inputs=[read("b")], outputs=[use("b")], job="tidy"),
    ]
    affected, truncated, readers = Model(events).impact(name("a"), None, 100, None)
    assert (set(affected), truncated, set(readers)) == ({name("b")}, False, {("job", "etl", "report")})
    told = affected[name("b")]
    assert (told.depth, told.owner, set(told.jobs)) == (1, "ann", {("job", "etl", "j1")})
    assert told.latest_runs == {("r2", "RUNNING", at(2))}
    assert told.columns == {(None, "UNKNOWN")}
