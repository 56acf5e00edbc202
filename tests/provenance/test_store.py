"""Provenance in the store: derived from runs, and stated; and a statement is no lineage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import headwater as hw
from headwater.errors import ProvenanceInvalid, QueryError, UnknownDataset
from headwater.formats.wia.elements import Document
from headwater.model.provenance import Context, Provenance, ProvenanceEvent
from headwater.store.access.visibility import Visibility
from headwater.store.store import Store
from tests.exchange.graphs import complete_graph, written
from tests.support.events import NAMESPACE, at, ds, named_job, run_event, run_id, used

CREATED, MODIFIED, ACCESSED, DELETED = ProvenanceEvent


def changed(name: str, state: str) -> Any:
    facet = {"_producer": "urn:x", "_schemaURL": "urn:x", "lifecycleStateChange": state}
    return used(name, facets={"lifecycleStateChange": facet})


def events(store: Store, name: str) -> list[tuple[str | None, str | None]]:
    return [(one.event, one.run_id) for one in store.provenance(name)]


def test_provenance_of_runs(store: Store) -> None:
    store.ingest(run_event(run="one", inputs=["raw"], outputs=["made"], minute=1))
    store.ingest(run_event(run="two", outputs=["made"], minute=2))
    store.ingest(run_event("FAIL", run="three", inputs=["made"], outputs=["made"], minute=3))
    accessed, modified, created = store.provenance("made")
    assert (accessed.event, modified.event, created.event) == (ACCESSED, MODIFIED, CREATED)
    assert (accessed.run_id, accessed.at) == (run_id("three"), at(3))
    assert (created.job, created.stated, created.dataset) == (named_job("job"), False, ds("made"))
    assert (created.agent.type, created.agent.id, created.agent.name) == ("job", "scheduler/job", "job")
    assert (created.operation.type, modified.operation.type, accessed.operation.type) == ("transform", "write", "read")
    assert created.context == Context()
    assert [one.event for one in store.provenance("raw")] == [ACCESSED]


def test_the_kind_of_a_write(store: Store) -> None:
    for minute, state in enumerate(("ALTER", "OVERWRITE", "CREATE", "TRUNCATE", "DROP", "RENAME")):
        store.ingest(run_event(run=state, outputs=[changed("made", state)], minute=minute))
    assert events(store, "made") == [
        (MODIFIED, run_id("RENAME")),
        (DELETED, run_id("DROP")),
        (MODIFIED, run_id("TRUNCATE")),
        (CREATED, run_id("CREATE")),
        (MODIFIED, run_id("OVERWRITE")),
        (MODIFIED, run_id("ALTER")),  # what is altered was there before the first write that is known
    ]
    assert [one.operation.method for one in store.provenance("made", event="deleted")] == ["DROP"]


def test_a_run_states_purpose_and_agent(store: Store) -> None:
    facet = {"agent": {"type": "user", "id": "ann"}, "context": {"purpose": "billing", "legal_basis": "contract"}}
    store.ingest(run_event(inputs=["raw"], outputs=["made"], run_facets={"headwater_provenance": facet}))
    (made,), (raw,) = store.provenance("made"), store.provenance("raw")
    for one in (made, raw):
        assert (one.agent.type, one.agent.id, one.job) == ("user", "ann", named_job("job"))
        assert one.context == Context("billing", "contract")


def test_an_invalid_facet_is_ignored(store: Store) -> None:
    facet = {"agent": {"type": "robot"}, "context": {"purpose": "billing"}}
    store.ingest(run_event(inputs=["raw"], run_facets={"headwater_provenance": facet}))
    (one,) = store.provenance("raw")
    assert (one.agent.type, one.context) == ("job", Context())


def test_a_statement(store: Store) -> None:
    store.ingest(run_event(inputs=["raw"], outputs=["made"], minute=1))
    receipt = store.state_provenance(
        "made",
        "accessed",
        agent={"type": "user", "id": "ann", "name": "Ann"},
        operation={"type": "export", "method": "csv", "parameters": {"rows": 3}},
        purpose="tax audit",
        legal_basis="legal obligation",
        retention_period="P10Y",
        sensitivity="confidential",
        at=at(5),
    )
    assert receipt.problems == ()
    stated, _ = store.provenance("made")
    assert (stated.event, stated.at, stated.stated) == (ACCESSED, at(5), True)
    assert (stated.job, stated.run_id) == (None, None)
    assert (stated.agent.type, stated.agent.id, stated.agent.name) == ("user", "ann", "Ann")
    assert (stated.operation.type, stated.operation.method) == ("export", "csv")
    assert stated.operation.parameters == {"rows": 3}
    assert stated.context == Context("tax audit", "legal obligation", "P10Y", "confidential")


def test_the_same_statement_twice_is_one(store: Store) -> None:
    store.ingest(run_event(outputs=["made"]))
    first, second = (store.state_provenance("made", "deleted", at=at(1)) for _ in range(2))
    assert (first.duplicate, second.duplicate) == (False, True)
    assert len(store.provenance("made", event="deleted")) == 1


def test_the_caller_is_the_default_agent(store: Store) -> None:
    store.ingest(run_event(outputs=["made"]))
    store.state_provenance("made", "accessed", at=at(1))
    (one,) = store.provenance("made", event="accessed")
    assert (one.agent.type, one.operation.type) == ("user", "read")
    assert one.agent.id == store.audit(limit=1)[0].actor_id


def test_statements_are_no_lineage(store: Store) -> None:
    """A stated write creates no edge and no version, and retires no statement of the job itself."""
    store.ingest(run_event(inputs=["raw"], outputs=["made"], minute=1))
    store.ingest(run_event(run="next", job="other", inputs=["made"], outputs=["last"], minute=2))

    def lineage() -> list[Any]:
        return [
            [(node.endpoint, node.depth) for node in store.upstream("last").nodes],
            [(node.endpoint, node.depth) for node in store.downstream("raw").nodes],
            [store.dataset(name).versions for name in ("raw", "made", "last")],
            store.runs(),
            store.pages.jobs().items,
        ]

    before = lineage()
    agent = {"type": "job", "id": "scheduler/job", "name": "job"}
    for minute, event in enumerate(("created", "modified", "deleted", "accessed")):
        for name in ("raw", "made", "last"):
            store.state_provenance(name, event, agent=agent, at=at(10 + minute))
    assert lineage() == before
    assert [one.event for one in store.provenance("last")] == [ACCESSED, DELETED, MODIFIED, CREATED, CREATED]


def test_a_stated_creation_is_the_first_write(store: Store) -> None:
    store.ingest(run_event(outputs=["made"], minute=5))
    assert [one.event for one in store.provenance("made")] == [CREATED]
    store.state_provenance("made", "created", agent={"type": "service", "id": "loader"}, at=at(1))
    assert [one.event for one in store.provenance("made")] == [MODIFIED, CREATED]


def test_a_dataset_event_reports_a_drop(store: Store) -> None:
    dropped = changed("made", "DROP")
    store.ingest(run_event(outputs=["made"]))
    store.ingest({"eventTime": at(3).isoformat(), "producer": "urn:catalog", "schemaURL": "urn:x", "dataset": dropped})
    deleted, created = store.provenance("made")
    assert (deleted.event, deleted.agent.type, deleted.agent.id) == (DELETED, "service", "urn:catalog")
    assert (deleted.stated, created.event) == (True, CREATED)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"agent": {"type": "robot", "id": "x"}}, "agent.type must be one of job, service, user, not 'robot'"),
        ({"agent": {"kind": "user"}}, "agent.kind is not known; agent has id, name, type"),
        ({"operation": {"type": "look"}}, "operation.type must be one of export, read, transform, write, not 'look'"),
        ({"operation": {"parameters": "x"}}, "operation.parameters must be an object, not 'x'"),
        ({"sensitivity": "top"}, "context.sensitivity_level must be one of"),
        ({"purpose": 3}, "context.purpose must be a text, not 3"),
        ({"purpose": "\0"}, "context.purpose"),
    ],
)
def test_invalid_statements_are_refused(wrong: dict[str, Any], told: str) -> None:
    with Store("memory://") as store:
        store.ingest(run_event(outputs=["made"]))
        with pytest.raises(ProvenanceInvalid) as refused:
            store.state_provenance("made", "accessed", **wrong)
        assert told in str(refused.value)
        with pytest.raises(QueryError, match="Events: created, modified, accessed, deleted"):
            store.state_provenance("made", "seen")
        with pytest.raises(QueryError, match="'seen' is not a provenance event"):
            store.provenance("made", event="seen")
        with pytest.raises(UnknownDataset):
            store.state_provenance("maid", "accessed")
        assert len(store.provenance("made")) == 1


def test_a_cursor_of_another_list(store: Store) -> None:
    store.ingest(run_event(outputs=["made"]))
    for cursor in ("x", "WzEsInh5eiIsImlucHV0Il0"):  # the second: [1,"xyz","input"]
        with pytest.raises(QueryError, match="cursor"):
            store.pages.provenance("made", cursor=cursor)


def test_long_lists_come_in_pages(store: Store) -> None:
    store.ingest_many(run_event(run=f"r{n}", inputs=["made"], outputs=["made"], minute=n // 3) for n in range(20))
    for minute in range(3):
        store.state_provenance("made", "accessed", at=at(minute))
    everything = store.provenance("made", limit=1000)
    assert len(everything) == 43
    found: list[Provenance] = []
    cursor = None
    while len(found) < 100:
        page = store.pages.provenance("made", cursor=cursor, limit=4)
        found += page.items
        if (cursor := page.next) is None:
            break
    assert found == everything
    assert store.provenance("made", limit=5) == everything[:5]
    assert store.provenance("made", limit=0) == []


def test_with_limited_visibility_only_visible_agents(store: Store) -> None:
    store.ingest(run_event(run="hidden", inputs=["raw"], outputs=["made"], minute=1))
    own = run_event(run="own", inputs=["raw"], outputs=["made"], minute=2)
    own["job"]["namespace"] = NAMESPACE
    own["run"]["facets"]["headwater_provenance"] = {"context": {"purpose": "billing"}}
    store.ingest(own)
    store.state_provenance("made", "accessed", agent={"type": "user", "id": "ann"}, at=at(3))
    seen = store.visible_to(Visibility.of([NAMESPACE]))
    assert events(seen, "made") == [(ACCESSED, None), (CREATED, run_id("own"))]
    assert seen.provenance("made", event="created")[0].context.purpose == "billing"
    assert events(store, "made")[1:] == [(MODIFIED, run_id("own")), (CREATED, run_id("hidden"))]
    with pytest.raises(UnknownDataset):
        store.visible_to(Visibility.of(["elsewhere"])).state_provenance("made", "accessed")


# -- imported ---------------------------------------------------------------------------------------------------------


def test_imported_provenance_is_included(tmp_path: Path, store_url: str) -> None:
    graph: Document = complete_graph()
    with hw.connect(store_url) as lineage:
        lineage.import_(written(graph, tmp_path / "given.json"))
        by_node = {node["node_id"]: f"public.{node['name']}" for node in graph["nodes"]}
        for document in graph["provenance"]:
            found = lineage.provenance(by_node[document["node_id"]])
            (one,) = [one for one in found if one.provenance_id == document["provenance_id"]]
            assert (one.event, one.stated) == (document.get("event_type"), True)
            assert one.context.purpose == document.get("context", {}).get("purpose")
        assert graph["provenance"]
