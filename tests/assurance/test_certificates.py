"""Fidelity certificates: issued when a run ends, in chains that do not branch."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import insert, select
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from headwater.errors import EvidenceBroken, QueryError
from headwater.model.certificates import Breach, Certificate
from headwater.store.schema.tables import certificate
from headwater.store.store import Store
from tests.assurance.stores import ended, manifest, tamper
from tests.assurance.test_canonical import JSON, ODD_TEXTS
from tests.conftest import ROOT
from tests.support.events import run_event, run_id


def only(store: Store, **which: Any) -> Certificate:
    (found,) = store.certificates(**which)
    return found


def invariants_of(found: Certificate) -> dict[str, bool]:
    return {each.name: each.holds for each in found.invariants}


def test_a_run_that_ends_with_a_manifest_gets_a_certificate(store: Store) -> None:
    store.ingest(run_event("START", run="one"))
    assert store.certificates() == []
    receipt = store.ingest(ended("one", minute=1, facets=manifest(contractVersion="1.4.0")))
    found = only(store)
    assert (found.run_id, found.job, found.namespace, found.number) == (run_id("one"), "job", "scheduler", 0)
    assert found.source_state_hashes == {"orders": "sha256:aa"}
    assert found.target_state_hashes == {"daily": "sha256:bb"}
    assert (found.algorithm, found.contract_version) == ("sha256-rfc8785", "1.4.0")
    assert found.event_digest == f"sha256:{receipt.digest}"
    assert (found.previous_certificate_hash, found.supersedes) == (None, None)
    ledger = rfc8785.dumps(manifest()["cdme.accountingLedger"])
    assert found.evidence_hashes["cdme.accountingLedger"] == f"sha256-rfc8785:{sha256(ledger).hexdigest()}"
    assert set(found.evidence_hashes) == {"cdme.runManifest", "cdme.accountingLedger"}
    assert invariants_of(found) == {"balance": True}
    assert found.holds
    assert store.run(run_id("one")).certificates == (found,)


def test_a_certificate_is_an_entry_of_the_log(store: Store) -> None:
    store.ingest(ended("one"))
    found = only(store)
    entry = store.audit(event_type="certificate.issued")[0]
    assert (entry.seq, entry.resource_type, entry.resource_id) == (found.seq, "run", run_id("one"))
    assert entry.details["certificateId"] == found.certificate_id
    assert sha256(rfc8785.dumps(dict(entry.details))).hexdigest() == found.hash
    assert store.verify().certificates == 1


@pytest.mark.parametrize("facets", [{}, {"cdme.runManifest": None}, {"cdme.runManifest": "text"}])
def test_a_run_without_a_manifest_gets_no_certificate(one_store: Store, facets: dict[str, Any]) -> None:
    one_store.ingest(ended("one", facets=facets))
    assert one_store.certificates() == []
    with pytest.raises(QueryError, match="has not ended with a manifest"):
        one_store.issue_certificate(run_id("one"))


@pytest.mark.parametrize("event_type", ["START", "RUNNING", "ABORT", "OTHER"])
def test_a_running_run_gets_no_certificate(one_store: Store, event_type: str) -> None:
    one_store.ingest(ended("one", event_type=event_type))
    assert one_store.certificates() == []


def test_a_repeated_event_issues_nothing(store: Store) -> None:
    event = ended("one")
    store.ingest(event)
    first = only(store)
    store.ingest(event)
    store.ingest_many([event, event])
    assert only(store) == first
    assert store.issue_certificate(run_id("one")) == first
    assert store.verify().entries == 2


def test_a_later_final_event_of_the_same_run_supersedes(store: Store) -> None:
    for minute in range(3):
        store.ingest(ended("one", minute=minute))
    third, second, first = store.certificates(run_id=run_id("one"))
    assert (first.supersedes, second.supersedes, third.supersedes) == (
        None,
        first.certificate_id,
        second.certificate_id,
    )
    assert store.run(run_id("one")).certificates[0] == third


def test_each_namespace_has_a_chain(store: Store) -> None:
    events = []
    for number in range(6):
        event = ended(str(number))
        event["job"]["namespace"] = f"space {number % 2}"
        events.append(event)
    store.ingest_many(events[:3])  # some in one transaction, some each in its own
    for event in events[3:]:
        store.ingest(event)
    for namespace in ("space 0", "space 1"):
        chain = store.certificates(namespace=namespace)[::-1]
        assert [one.number for one in chain] == [0, 1, 2]
        assert [one.previous_certificate_hash for one in chain] == [None, chain[0].hash, chain[1].hash]
    assert store.verify().certificates == 6


def test_a_missing_certificate_can_be_issued(store: Store) -> None:
    """As for a run that was stored by a version without certificates."""
    store.ingest(ended("one"))
    tamper(store, "DELETE FROM certificate", "DELETE FROM audit WHERE seq = 2")
    assert store.certificates() == []
    assert store.issue_certificate(run_id("one")).number == 0
    assert store.verify().certificates == 1


# -- what was promised -------------------------------------------------------------------------------------------------


_numbers = itertools.count()


@pytest.fixture(scope="module")
def shared_store() -> Iterator[Store]:
    """For any number of runs: their certificates do not depend on each other."""
    with Store("memory://") as store:
        yield store
        store.verify()


def certified(store: Store, facets: dict[str, Any]) -> Certificate:
    run = str(next(_numbers))
    store.ingest(ended(run, facets=manifest() | facets))
    found = only(store, run_id=run_id(run))
    assert store.verify_run(found.run_id).certificates == (found.certificate_id,)
    return found


def test_violations_of_invariants(shared_store: Store) -> None:
    found = certified(
        shared_store,
        {
            "cdme.accountingLedger": {"balanced": False},
            "cdme.grainSafety": {"validations": [{"node": "a", "holds": True}, {"node": "b", "holds": False}]},
            "cdme.typeUnification": {
                "morphismReports": [{"node": "c", "column": "x", "lossy": True}, {"lossy": False}]
            },
            "headwater_expectations": {
                "expectations": [
                    {"name": "rows", "holds": True, "observed": 3, "threshold": 1, "atLeast": 1},
                    {"name": "nulls", "holds": False, "observed": 0.25, "threshold": 0.1, "materiality": "IMMATERIAL"},
                    {"name": "sum", "holds": False, "materiality": "whatever"},
                ]
            },
        },
    )
    assert not found.holds
    told = {each.name: (each.holds, each.detail, each.threshold, each.breach) for each in found.invariants}
    unbalanced = "rows of the sources are not all accounted for, once each"
    assert told == {
        "balance": (False, unbalanced, None, Breach.CRITICAL),
        "grain": (False, "1 of 2 do not hold: b", None, Breach.MATERIAL),
        "types": (True, "one cast loses something: c.x", None, None),
        "rows": (True, "observed 3", 1, None),
        "nulls": (False, "observed 0.25", 0.1, Breach.IMMATERIAL),
        "sum": (False, None, None, Breach.MATERIAL),
    }


@given(
    facets=st.dictionaries(
        st.sampled_from(
            ["cdme.accountingLedger", "cdme.grainSafety", "cdme.typeUnification", "headwater_expectations", "cdme.x"]
        ),
        JSON | st.dictionaries(st.sampled_from(["validations", "morphismReports", "expectations", "balanced"]), JSON),
    ),
    checksums=JSON | st.dictionaries(ODD_TEXTS, JSON),
    version=JSON,
)
@settings(max_examples=40, deadline=None)
def test_any_facet_of_a_producer_gets_a_certificate(
    shared_store: Store, facets: dict[str, Any], checksums: Any, version: Any
) -> None:
    run = {"cdme.runManifest": {"inputChecksums": checksums, "contractVersion": version}}
    found = certified(shared_store, {**facets, **run})
    assert isinstance(found.contract_version, str) or version is None


# -- no branches -------------------------------------------------------------------------------------------------------


def test_a_branch_is_refused(store: Store) -> None:
    store.ingest(ended("one"))
    with store._database.read() as conn:
        row = dict(conn.execute(select(certificate)).one()._mapping)
    branch = insert(certificate).values(row | {"seq": 99, "certificate_id": "another"})
    with pytest.raises(SQLAlchemyError), store._database.write() as conn:
        conn.execute(branch)
    with pytest.raises(IntegrityError):  # even without the triggers
        tamper(store, branch)
    assert store.verify().certificates == 1


CERTIFY = (
    "import sys, time, json; from headwater.store.store import Store; from tests.assurance.stores import ended\n"
    "url, who, start = sys.argv[1], sys.argv[2], float(sys.argv[3])\n"
    "with Store(url) as store:\n"
    "    time.sleep(max(0, start - time.time()))\n"
    "    for i in range(25): store.ingest(ended(f'{who} {i}'))\n"
    "    print(json.dumps([one.number for one in store.certificates(limit=1)]))\n"
)


def test_two_concurrent_processes_make_one_chain(durable_url: str) -> None:
    Store(durable_url).close()
    start = str(time.time() + 2)
    both = [
        subprocess.Popen(
            [sys.executable, "-c", CERTIFY, durable_url, who, start], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        for who in ("this", "that")
    ]
    answers = [process.communicate(timeout=60)[0] for process in both]
    assert max(json.loads(answer)[0] for answer in answers) == 49
    with Store(durable_url, create=False) as store:
        chain = store.certificates(limit=1000)[::-1]
        assert [one.number for one in chain] == list(range(50))
        assert store.verify().certificates == 50


# -- behind our back ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM certificate WHERE number = 1",
        "UPDATE certificate SET number = 7 WHERE number = 1",
        "UPDATE certificate SET certificate_id = 'x' WHERE number = 0",
        "UPDATE certificate SET run_key = namespace_key WHERE number = 2",
        "UPDATE certificate SET hash = run_key WHERE number = 2",
        "UPDATE certificate SET seq = 99 WHERE number = 2",
    ],
)
def test_a_damaged_index_is_detected(one_store: Store, damage: str) -> None:
    one_store.ingest_many(ended(str(i)) for i in range(3))
    tamper(one_store, damage)
    with pytest.raises(EvidenceBroken, match=r"^(Certificate|The certificate) .* does not hold: "):
        one_store.verify(events=False)
