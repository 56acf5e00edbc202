"""Over HTTP a store answers as in this process: the same values of the same types, the same errors."""

from __future__ import annotations

import inspect
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

import headwater
from headwater.client import Lineage
from headwater.errors import EventRefused, NotOffered, UnknownDataset
from headwater.model.names import Dataset
from headwater.proof.keys import KeyRing
from headwater.remote.pages import RemotePages
from headwater.remote.store import RemoteStore
from headwater.store.access.visibility import Visibility
from headwater.store.query.pages import Pages
from tests.oracles.answers import check_catalog, check_closure, check_impact, check_runs, check_unknown, nodes
from tests.oracles.events import GRAPH, HUBS, MOVING_GRAPH, ODD, World, histories
from tests.oracles.model import Model
from tests.oracles.profiles import LONG, QUICK
from tests.remote import history
from tests.remote.conftest import served
from tests.remote.contract import assert_same_answers, exact, outcome
from tests.remote.queries import all_queries
from tests.server import two_sided_store
from tests.server.running import ServerProcess
from tests.support.events import at, run_event, run_id, used


def test_every_answer_is_the_local_one(store_url: str, tmp_path: Path) -> None:
    with Lineage(store_url, max_direct_edges=6) as local:
        history.build(local, KeyRing.create(tmp_path / "key.pem"))
        with served(store_url, tmp_path) as (remote, _):
            assert assert_same_answers(all_queries(local), local, remote) > 1500


def test_answers_of_several_pages_are_complete(sqlite_url: str, tmp_path: Path) -> None:
    """More than a server lists in one page: of the graph, of datasets, of the log."""
    many = [f"d-{number:05}" for number in range(1100)]
    with Lineage(sqlite_url) as local:
        local.ingest(run_event(inputs=["source"], outputs=many))
        local.ingest_many([run_event(run=name, job=name, minute=1, inputs=[name]) for name in many[:1050]])
        with served(sqlite_url, tmp_path) as (remote, _):
            for ask in (
                lambda lin: lin.downstream("source"),
                lambda lin: lin.impact("source"),
                lambda lin: lin.datasets(limit=1101),
                lambda lin: lin.datasets(limit=1001),
                lambda lin: lin.runs(limit=1040),
                lambda lin: lin.audit(limit=1020, before=1045),
                lambda lin: lin.pages.datasets(limit=1050),
                lambda lin: lin.provenance("d-00001", limit=1001),
            ):
                assert outcome(ask, remote) == outcome(ask, local)
            assert len(remote.downstream("source").nodes) == 1100
            with pytest.raises(NotOffered, match="more than 1,000"):
                remote.certificates(limit=1001)


def test_a_key_has_the_same_visibility_over_http(sqlite_url: str, tmp_path: Path) -> None:
    two_sided_store.build(sqlite_url, tmp_path)
    with Lineage(sqlite_url) as store:
        limited = store.visible_to(Visibility.of([two_sided_store.OPEN]))
        secret = store.access.add("open", scopes=["read"], namespaces=[two_sided_store.OPEN]).secret
        with served(sqlite_url, tmp_path, api_key=secret) as (remote, _):
            whole = {"checkpoints", "signing keys"}
            shown = [(title, ask) for title, ask in all_queries(limited) if not title.startswith(tuple(whole))]
            assert assert_same_answers(iter(shown), limited, remote) > 300
            hidden = Dataset(two_sided_store.VAULT, f"{two_sided_store.VAULT}/a")
            assert exact(store.dataset(hidden).summary.dataset) == exact(hidden), "it is there"
            with pytest.raises(UnknownDataset):
                remote.dataset(hidden)


# -- events in --------------------------------------------------------------------------------------------------------


def test_events_are_ingested_as_locally(tmp_path: Path) -> None:
    good = [run_event(run=str(number), inputs=["a"], outputs=["b"]) for number in range(3)]
    bodies: list[Any] = [*good, b'\xef\xbb\xbf {"eventTime": "2026-11-15T06:00:00Z"}', "[]", b"\xff", "{", {"a": {1}}]
    bodies += [{**good[0], "eventTime": "never"}, {**good[0], "schemaURL": None}, {**good[0], "producer": float("nan")}]
    with Lineage("memory://") as local, served("memory://", tmp_path) as (remote, behind):
        for body in bodies:
            ingest = partial(_ingest, body)
            assert outcome(ingest, remote) == outcome(ingest, local)
        batches = [[], good, [run_event(run="new"), run_event(run="new"), *good], [run_event(run="lost"), bodies[-3]]]
        for batch in batches:
            ingest = partial(_ingest_many, batch)
            assert outcome(ingest, remote) == outcome(ingest, local)
        assert [run.run_id for run in remote.runs()] == [run.run_id for run in local.runs()]
        assert run_id("lost") not in {run.run_id for run in behind.runs()}
        with pytest.raises(EventRefused) as refused:
            remote.ingest(bodies[-3])
        assert refused.value.path == "$.eventTime"


def _ingest(event: Any, lin: Any) -> object:
    return lin.ingest(event)


def _ingest_many(events: Any, lin: Any) -> object:
    return lin.ingest_many(events)


def test_statements_are_recorded_as_locally(tmp_path: Path) -> None:
    with Lineage("memory://") as local, served("memory://", tmp_path) as (remote, _):
        event = run_event(inputs=["a"], outputs=["x", used("x", namespace="elsewhere")])
        assert exact(local.ingest(event)) == exact(remote.ingest(event))
        agent, x = {"type": "user", "id": "ada"}, Dataset("warehouse", "x")
        told = {"agent": agent, "purpose": "audit", "at": at(5), "operation": {"method": "export"}}
        for ask in (
            lambda lin: lin.state_provenance(x, "accessed", **told),
            lambda lin: lin.state_provenance(x, "accessed", **told),
            lambda lin: lin.state_provenance(x, "invented"),
            lambda lin: lin.state_provenance(x, "accessed", sensitivity="huge"),
            lambda lin: lin.state_provenance(x, "accessed", agent={"type": "robot", "id": "r"}),
            lambda lin: lin.state_provenance("nowhere", "accessed"),
            lambda lin: lin.state_provenance("x", "accessed"),
            lambda lin: [replace(one, provenance_id="of each store") for one in lin.provenance(x)],
            lambda lin: lin.set_quality("nowhere", history.QUALITY),
            lambda lin: lin.set_quality(x, {"measured_at": "never"}),
            lambda lin: lin.set_quality(x, {"metrics": {"completeness": 2}}),
            lambda lin: lin.set_quality(x, {"metrics": {"completeness": float("nan")}}),
        ):
            assert outcome(ask, remote) == outcome(ask, local)
        assert remote.state_provenance(x, "deleted", at=at(6)).duplicate is False
        assert remote.set_quality(x, history.QUALITY).duplicate is False
        assert remote.quality(x)[0].report.validations[0].failed_count == 3


# -- histories --------------------------------------------------------------------------------------------------------


def check_history(events: list[dict[str, Any]], folder: Path) -> None:
    with served("memory://", folder) as (remote, local):
        remote.ingest_many(events)
        model = Model(events, 6)
        check_catalog(remote, model)
        check_runs(remote, model)
        check_unknown(remote, model, ["no-column"], ["no-partition"])
        for question in nodes(model, ("dataset", "column", "partition")):
            check_closure(remote, model, question, "upstream")
            if question.partition is None:  # impact knows no partitions
                check_impact(remote, model, question)
        assert_same_answers(all_queries(local), local, remote)


@pytest.mark.parametrize("world", [GRAPH, MOVING_GRAPH, HUBS, ODD], ids=["graph", "aliases", "hubs", "odd names"])
def test_random_histories(world: World, tmp_path_factory: pytest.TempPathFactory) -> None:
    @QUICK(2)
    @given(events=histories(world, 8))
    def check(events: list[dict[str, Any]]) -> None:
        check_history(events, tmp_path_factory.mktemp("workspace"))

    check()


@pytest.mark.long
@pytest.mark.parametrize("world", [GRAPH, MOVING_GRAPH, HUBS, ODD], ids=["graph", "aliases", "hubs", "odd names"])
def test_many_random_histories(world: World, tmp_path_factory: pytest.TempPathFactory) -> None:
    @LONG(40)
    @given(events=histories(world, 20))
    def check(events: list[dict[str, Any]]) -> None:
        check_history(events, tmp_path_factory.mktemp("workspace"))

    check()


# -- the whole of it --------------------------------------------------------------------------------------------------


def test_a_separate_server_ingests_events_and_verifies_itself(sqlite_url: str, tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    with ServerProcess(sqlite_url, log=tmp_path / "server.log") as server, headwater.connect(server.url) as remote:
        assert len(remote.ingest_many(history.columned())) == len(history.columned())
        remote.ingest(run_event(run="one", inputs=["a"], outputs=["z"]))
        verified = remote.verify(progress=lambda part, done, total: told.append((part, done, total)))
    assert verified.events == len(history.columned()) + 1
    assert verified.graph
    assert told
    with Lineage(sqlite_url) as local:
        expected = local.verify()
    # The entry that the task left about itself may have come after the task had counted.
    told_of = verified._replace(entries=expected.entries, head=expected.head, root=expected.root)
    assert exact(told_of) == exact(expected)
    assert verified.entries in (expected.entries, expected.entries - 1)


def test_a_broken_store_fails_verification_over_http(sqlite_url: str, tmp_path: Path) -> None:
    with Lineage(sqlite_url) as local:
        local.ingest_many(history.columned())
        with local._database.write() as conn:
            conn.exec_driver_sql("DROP TRIGGER IF EXISTS audit_no_update")
            for (name,) in conn.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'trigger'").all():
                conn.exec_driver_sql(f'DROP TRIGGER "{name}"')
            conn.exec_driver_sql("UPDATE audit SET action = 'forged' WHERE seq = 2")
        with served(sqlite_url, tmp_path) as (remote, _):
            expected = outcome(lambda lin: lin.verify(), local)
            assert outcome(lambda lin: lin.verify(), remote) == expected
            assert expected[0].__name__ == "AuditBroken"


PUBLIC = {name for name in dir(Lineage) if not name.startswith("_")}


def test_every_method_of_a_store_is_answered_or_refused() -> None:
    """With the same parameters; there is no AttributeError."""
    remote = RemoteStore("http://127.0.0.1:1")
    refused = set()
    for name in sorted(PUBLIC):
        own = inspect.getattr_static(remote, name)
        if isinstance(own, property):
            try:
                getattr(remote, name)
            except NotOffered:
                refused.add(name)
        elif inspect.signature(own) == inspect.signature(RemoteStore.export):
            with pytest.raises(NotOffered, match=rf"lin\.{name} is not offered over HTTP"):
                getattr(remote, name)()
            refused.add(name)
        else:
            assert parameters(own) == parameters(getattr(Lineage, name)), name
    assert refused == {
        *(
            "access",
            "capture_keys",
            "change_max_direct_edges",
            "checkpoint",
            "deeds",
            "export",
            "graphs",
            "import_",
            "issue_certificate",
        ),
        *("provenance_event", "records", "rotate_key", "sessions", "store_all", "submission", "take_stream"),
        *("trusted_capture_keys", "verify_certificate", "visible_to"),
    }


def test_every_list_of_a_store_is_answered_or_refused() -> None:
    remote = RemoteStore("http://127.0.0.1:1")
    refused = set()
    for name in sorted(name for name in dir(Pages) if not name.startswith("_")):
        if name in vars(RemotePages):
            assert parameters(vars(RemotePages)[name]) == parameters(getattr(Pages, name)), name
        else:
            with pytest.raises(NotOffered, match=rf"pages\.{name} is not offered over HTTP"):
                getattr(remote.pages, name)
            refused.add(name)
    assert refused == {
        *("around", "around_columns", "counts", "event_bodies", "events_between", "job_uses", "last_number"),
        *("lines_after", "namespaces", "run_versions", "runs_after", "version_facets"),
    }


def parameters(function: Any) -> list[tuple[str, Any, Any]]:
    return [(one.name, one.kind, one.default) for one in inspect.signature(function).parameters.values()]
