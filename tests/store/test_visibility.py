"""Hidden objects do not exist for queries, proofs and writes.

That every answer is correct is tested by the oracles (``tests/oracles/test_visibility.py``); these tests cover the
rest.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import headwater
from headwater.client import Lineage
from headwater.errors import (
    AmbiguousDataset,
    NamespaceRefused,
    NoEvidence,
    NotPermitted,
    QueryError,
    UnknownDataset,
    UnknownRun,
)
from headwater.formats.openlineage.event import read_event
from headwater.model.names import Dataset
from headwater.model.plain import plain
from headwater.proof.keys import KeyRing
from headwater.store.access.visibility import EVERYTHING, Visibility
from headwater.store.access.visible_writes import refuse_hidden_runs
from headwater.store.store import Store

Json = dict[str, Any]


def event(
    run: str,
    job: str = "open",
    *,
    inputs: Sequence[str] = (),
    outputs: Sequence[str] = (),
    minute: int = 0,
    facets: Json | None = None,
) -> Json:
    """Names are written `namespace/name`; jobs are named by their namespace."""
    return {
        "eventType": "COMPLETE",
        "eventTime": f"2026-11-15T10:{minute:02}:00Z",
        "producer": "urn:test",
        "schemaURL": "urn:test",
        "run": {"runId": run, "facets": facets or {}},
        "job": {"namespace": job, "name": f"{job}-job"},
        "inputs": [named(one) for one in inputs],
        "outputs": [named(one) for one in outputs],
    }


def named(text: str) -> Json:
    namespace, _, name = text.partition("/")
    return {"namespace": namespace, "name": name}


def seen(store: Store, *patterns: str) -> Store:
    return store.visible_to(Visibility.of(patterns))


# -- which namespaces -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("patterns", "sees", "does_not"),
    [
        (["a"], ["a"], ["", "A", "ab", "b", "a*", "a "]),
        (["a*"], ["a", "ab", "a*", "a%", "a_"], ["", "A", "ba", "%", "á"]),
        (["s3://lake/*"], ["s3://lake/", "s3://lake/x"], ["s3://lake", "s3://lak_/x", "S3://lake/x"]),
        (["%*", "_"], ["%", "%x", "_"], ["x", "a", ""]),
        ([""], [""], ["a", " "]),
        (["ä*"], ["ä", "äx"], ["a", "Ä", "ax"]),
        (["\U0001f30a*"], ["\U0001f30a", "\U0001f30ax"], ["\U0001f30b", "x"]),
        ([], [], ["", "a"]),
    ],
)
def test_by_name_and_by_prefix_in_python_and_in_sql(
    store: Store, patterns: list[str], sees: list[str], does_not: list[str]
) -> None:
    visibility = Visibility.of(patterns)
    assert visibility.patterns == sorted(patterns)
    names = [*sees, *does_not]
    store.ingest(event("run", outputs=[f"{name}/x" for name in names if "/" not in name]))
    store.ingest({**event("more"), "outputs": [{"namespace": name, "name": "x"} for name in names]})
    assert [name for name in names if visibility.sees(name)] == sees
    assert {one.dataset.namespace for one in store.visible_to(visibility).datasets()} == set(sees)


def test_a_star_alone_shows_everything(store: Store) -> None:
    assert Visibility.of(["a", "*"]) == EVERYTHING
    assert EVERYTHING.patterns == ["*"]
    assert store.visible_to(EVERYTHING).datasets() == store.datasets()


def test_a_pattern_that_no_namespace_can_have_is_refused() -> None:
    with pytest.raises(QueryError):
        Visibility.of(["nul\0"])


# -- names ------------------------------------------------------------------------------------------------------------


def test_a_short_name_is_not_ambiguous_if_the_other_is_hidden(store: Store) -> None:
    store.ingest(event("run", outputs=["open/orders", "vault/orders"]))
    with pytest.raises(AmbiguousDataset):
        store.dataset("orders")
    assert seen(store, "open").dataset("orders").summary.dataset == Dataset("open", "orders")


def test_suggestions_contain_no_hidden_name(store: Store) -> None:
    store.ingest(event("run-open", outputs=["open/plain"]))
    store.ingest(event("run-vault", "vault", outputs=["vault/secret"]))
    with pytest.raises(UnknownDataset) as unknown:
        seen(store, "open").dataset("vault/secret")
    assert unknown.value.closest == ("open/plain",)
    with pytest.raises(UnknownRun) as unknown_run:
        seen(store, "open").run("run-vault")
    assert unknown_run.value.closest == ("run-open",)
    with pytest.raises(UnknownDataset, match="holds no datasets yet"):
        seen(store, "nothing").dataset("plain")


def test_a_dataset_is_visible_by_its_canonical_name_only(store: Store) -> None:
    """An alias resolves to it only if the alias is visible as well."""
    linked = event("run", outputs=["open/path"])
    linked["outputs"][0]["facets"] = {"symlinks": {"identifiers": [named("vault/table") | {"type": "TABLE"}]}}
    store.ingest(linked)
    assert store.dataset("vault/table").summary.dataset == Dataset("open", "path")
    through = seen(store, "open")
    assert through.dataset("path").summary.aliases == ()
    assert "vault" not in json.dumps(plain(through.dataset("path").facets))
    for asked in ("vault/table", "table"):
        with pytest.raises(UnknownDataset):
            through.dataset(asked)
    with pytest.raises(UnknownDataset):
        seen(store, "vault").dataset("vault/table")
    assert through.datasets("table") == []


# -- what cannot be taken apart ---------------------------------------------------------------------------------------


@pytest.fixture
def proven(store: Store, tmp_path: Path) -> Store:
    """Three runs with certificates, signed: one fully visible, one that reads a hidden dataset, one hidden."""
    told: Json = {"cdme.runManifest": {}, "nominalTime": {"nominalStartTime": "2026-11-15T00:00:00Z"}}
    runs = (
        ("open", "open", ["open/a"], ["open/b"]),
        ("mixed", "open", ["open/b", "vault/s"], ["open/c"]),
        ("vault", "vault", ["vault/s"], ["open/d"]),
    )
    for minute, (run, job, inputs, outputs) in enumerate(runs):
        made = event(run, job, inputs=inputs, outputs=outputs, minute=minute, facets=told)
        made["job"]["facets"] = {"sql": {"query": f"select * from {inputs[-1]}"}, "jobType": {"integration": "X"}}
        store.ingest(made)
    store.checkpoint(key=KeyRing.create(tmp_path / "key.pem"))
    return store


def test_certificates_of_fully_visible_runs_only(proven: Store) -> None:
    assert {one.run_id for one in proven.certificates()} == {"open", "mixed", "vault"}
    through = seen(proven, "open")
    assert [one.run_id for one in through.certificates()] == ["open"]
    assert through.run("mixed").certificates == ()
    (hidden,) = proven.certificates(run_id="mixed")
    with pytest.raises(QueryError, match="is not known"):
        through.verify_certificate(hidden.certificate_id)
    (shown,) = proven.certificates(run_id="open")
    assert through.verify_certificate(shown.certificate_id) == proven.verify_run("open")


def test_evidence_of_fully_visible_runs_only(proven: Store) -> None:
    through = seen(proven, "open")
    assert through.bundle("open") == proven.bundle("open")
    assert through.verify_run("open") == proven.verify_run("open")
    for ask in (through.bundle, through.verify_run):
        with pytest.raises(NoEvidence):
            ask("mixed")
        with pytest.raises(UnknownRun):
            ask("vault")


def test_a_bundle_contains_no_hidden_run(store: Store, tmp_path: Path) -> None:
    told: Json = {"cdme.runManifest": {}}
    store.ingest(event("before", "vault", outputs=["open/a"], facets=told))
    store.ingest(event("after", "open", inputs=["open/a"], outputs=["open/b"], minute=1, facets=told))
    store.checkpoint(key=KeyRing.create(tmp_path / "key.pem"))
    assert b"vault" in store.bundle("after")
    assert b"vault" not in seen(store, "open").bundle("after")


def test_a_chain_through_a_hidden_certificate_is_no_evidence(proven: Store, tmp_path: Path) -> None:
    """`later` is fully visible, but its certificate follows that of `mixed`, without which it would prove nothing."""
    proven.ingest(event("later", "open", outputs=["open/e"], minute=5, facets={"cdme.runManifest": {}}))
    proven.checkpoint(key=KeyRing.load(tmp_path / "key.pem"))
    assert proven.bundle("later")
    with pytest.raises(NoEvidence):
        seen(proven, "open").bundle("later")


def test_a_partly_visible_run_shows_no_free_text(proven: Store) -> None:
    whole, part = proven.run("mixed"), seen(proven, "open").run("mixed")
    assert {use.dataset.namespace for use in (*part.inputs, *part.outputs)} == {"open"}
    assert set(whole.job_facets) == {"sql", "jobType"}
    assert set(part.job_facets) == {"jobType"}
    assert set(part.run_facets) == {"nominalTime"}
    assert seen(proven, "open").run("open") == proven.run("open")


def test_output_facets_of_fully_visible_runs_only(store: Store) -> None:
    for run, inputs in (("open", ["open/a"]), ("mixed", ["vault/s"])):
        made = event(run, inputs=inputs, outputs=["open/b"])
        made["outputs"][0]["outputFacets"] = {"headwater_rows": {"plan": f"reads {inputs[0]}"}}
        store.ingest(made)
    assert len(store.output_facets("headwater_rows")) == 2
    assert [one.run_id for one in seen(store, "open").output_facets("headwater_rows")] == ["open"]


def test_only_visible_audit_entries(proven: Store) -> None:
    proven.access.add("somebody")
    proven.ingest({**event("-"), "run": None, "eventType": None, "job": {"namespace": "vault", "name": "open-job"}})
    through = seen(proven, "open")
    told = [(entry.event_type, entry.resource_id) for entry in through.audit()]
    assert told == [("event.ingested", "mixed"), ("certificate.issued", "open"), ("event.ingested", "open")]
    newest = through.audit(limit=1)[0]
    assert through.audit(limit=1, before=newest.seq)[0].event_type == "certificate.issued"
    assert through.audit(event_type="access.key_added") == []
    assert through.audit(resource="vault") == []
    assert seen(proven, "nothing").audit() == []


def test_a_few_entries_among_very_many_are_found(store: Store) -> None:
    store.ingest(event("first"))
    store.ingest_many(event(f"vault-{number}", "vault") for number in range(2500))
    store.ingest(event("last"))
    assert [entry.resource_id for entry in seen(store, "open").audit(limit=5)] == ["last", "first"]


def test_only_visible_entries_are_proven_to_be_in_the_log(proven: Store) -> None:
    through = seen(proven, "open")
    for entry in proven.audit():
        if entry in through.audit():
            assert through.inclusion(entry.seq) == proven.inclusion(entry.seq)
        else:
            with pytest.raises(QueryError, match="is not known"):
                through.inclusion(entry.seq)
    with pytest.raises(QueryError, match="is not known"):
        through.inclusion(99)


def test_queries_about_the_whole_store_are_refused(proven: Store, tmp_path: Path) -> None:
    through, ring = seen(proven, "open"), KeyRing.load(tmp_path / "key.pem")
    for ask in (
        through.verify,
        lambda: through.checkpoint(key=ring),
        lambda: through.rotate_key(key=ring),
        lambda: through.issue_certificate("open"),
    ):
        with pytest.raises(NotPermitted):
            ask()


def test_records_have_no_namespaces(sqlite_url: str) -> None:
    with headwater.connect(sqlite_url) as lin:
        assert lin.records is lin.records
        through = lin.visible_to(Visibility.of(["open"]))
        assert isinstance(through, Lineage)
        with pytest.raises(NotPermitted):
            _ = through.records


# -- writing ----------------------------------------------------------------------------------------------------------


def about(**parts: Any) -> Json:
    return {**event("run", inputs=["open/a"], outputs=["open/b"]), **parts}


def facet(name: str, body: Json, *, of: str = "outputs") -> Json:
    made = about()
    made[of][0]["facets"] = {name: body}
    return made


HIDDEN = {
    "job": about(job={"namespace": "vault", "name": "j"}),
    "input": about(inputs=[named("vault/s")]),
    "output": about(outputs=[named("open/b"), named("vault/s")]),
    "declared job": {**about(job={"namespace": "vault", "name": "j"}), "run": None, "eventType": None},
    "dataset": {
        **{key: about()[key] for key in ("eventTime", "producer", "schemaURL")},
        "dataset": named("vault/s"),
    },
    "alias": facet("symlinks", {"identifiers": [named("vault/s") | {"type": "TABLE"}]}),
    "column": facet("columnLineage", {"fields": {"x": {"inputFields": [named("vault/s") | {"field": "y"}]}}}),
    "statement": about(
        job={
            **{"namespace": "open", "name": "j"},
            "facets": {"lineage": {"entries": [named("vault/s") | {"type": "DATASET", "inputs": []}]}},
        }
    ),
    "source": about(
        job={
            **{"namespace": "open", "name": "j"},
            "facets": {
                "lineage": {
                    "entries": [
                        named("open/b") | {"type": "DATASET", "inputs": [named("vault/s") | {"type": "DATASET"}]}
                    ]
                }
            },
        }
    ),
    "facet nobody knows": facet("mine", {"deep": [{"er": named("vault/s")}]}, of="inputs"),
}


@pytest.mark.parametrize("what", HIDDEN)
def test_events_cannot_name_hidden_objects(store: Store, what: str) -> None:
    with pytest.raises(NamespaceRefused, match="The key is limited to namespaces: op"):
        seen(store, "op*").ingest(HIDDEN[what])
    assert store.audit() == []
    store.ingest(HIDDEN[what])


def test_events_can_name_visible_objects(store: Store) -> None:
    parent = {"run": {"runId": "vault-run"}, "job": {"namespace": "vault", "name": "j"}}
    seen(store, "op*").ingest(event("run", inputs=["open/a"], outputs=["opal/b"], facets={"parent": parent}))
    assert store.run("run").run.parent_run_id == "vault-run"


def test_events_cannot_name_runs_of_hidden_jobs(store: Store) -> None:
    """A run's job is that of its last event: such an event would take the run over."""
    store.ingest(event("theirs", "vault", outputs=["vault/s"]))
    with pytest.raises(NamespaceRefused):
        seen(store, "open").ingest(event("theirs", "open", outputs=["open/b"], minute=1))
    assert store.run("theirs").run.job.namespace == "vault"
    seen(store, "open").ingest(event("mine", "open", outputs=["open/b"]))
    seen(store, "open").ingest(event("mine", "open", outputs=["open/c"], minute=1))
    assert len(store.run("mine").outputs) == 2


def test_a_refused_event_refuses_only_its_own_batch(store: Store) -> None:
    store.ingest(event("theirs", "vault"))
    with pytest.raises(NamespaceRefused):
        seen(store, "open").ingest_many([event("mine"), event("theirs")])
    with pytest.raises(UnknownRun):
        store.run("mine")


def test_events_cannot_name_hidden_runs_in_the_same_transaction(store: Store) -> None:
    """Threads share commits, so the run and the event that would take it over may be equally new."""
    theirs, mine = read_event(event("run", "vault")), read_event(event("run", "open", minute=1))
    visibility = Visibility.of(["open"])
    with store._database.write() as conn, pytest.raises(NamespaceRefused):
        refuse_hidden_runs(conn, [mine], visibility, [theirs, mine])
    with store._database.write() as conn:
        refuse_hidden_runs(conn, [mine], visibility, [mine])
