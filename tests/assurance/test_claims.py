"""The claims of a certificate are computed from the event, by rules with a version that the certificate names."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.assurance.bundle import verify_bundle
from headwater.assurance.report.gather import gather_report
from headwater.assurance.report.page import page
from headwater.errors import EvidenceBroken
from headwater.formats.openlineage import fidelity
from headwater.formats.openlineage.claims import first, second
from headwater.formats.openlineage.claims.balance import ledger_balance
from headwater.formats.openlineage.claims.preimages import matches_hash
from headwater.formats.openlineage.event import read_event
from headwater.model.certificates import Breach, Certificate, Invariant, Undecided
from headwater.model.ledger import Ledger, SourceLedger
from headwater.proof.canonical import canonical, digest_of
from headwater.proof.keys import KeyRing
from headwater.store.log.verify_events import verify_claims
from headwater.store.store import Store
from tests.assurance.stores import ended, manifest
from tests.support.events import run_id

Json = dict[str, Any]


def source(*counts: int, **others: Any) -> Json:
    names = ("inputRecordCount", "processedCount", "filteredCount", "erroredCount")
    return {"dataset": "orders", **dict(zip(names, counts, strict=False)), **others}


def of_sources(*sources: Json, **others: Any) -> Json:
    return {"balanced": True, "exact": True, "sources": list(sources), **others}


RATES = [{"dataset": "rates", "reason": "its rows have no place"}]
LEDGERS: list[tuple[Json, bool | None, str | None]] = [
    (of_sources(source(3, 1, 1, 1)), True, None),
    (of_sources(source(3, 3)), True, None),
    (of_sources(), None, "no counts"),
    ({"balanced": True}, None, "no counts"),
    (of_sources({"dataset": "orders"}), None, "no counts"),
    (of_sources(source(3, 1, 1, 0)), False, "once each: orders"),
    (of_sources(source(3, 4, 0, 0)), False, "once each: orders"),
    (of_sources(source(3, 4, -1, 0)), False, "once each: orders"),
    (of_sources(source(3, 3, 0, 0, balanced=False)), False, "once each: orders"),
    (of_sources(source(3, 3), inputRecordCount=5, processedCount=3), False, "all sources"),
    ({"balanced": False}, False, "once each"),
    (of_sources(source(3, 3), notFollowed=RATES), None, "not followed: rates"),
    (of_sources(source(3, 2), notFollowed=RATES), False, "once each: orders"),
    (of_sources(source(9, 2), partly="one item in 5"), None, "not of all rows: one item in 5"),
    (of_sources(source(9, 2), partly="one item in 5", balanced=False), False, "once each"),
    (of_sources(source(3, 3, exact=False)), True, "in number, not row by row: orders"),
    ({"balanced": True, "outputs": [of_sources(source(3, 3)), of_sources(source(3, 1))]}, False, "orders"),
    ({"balanced": True, "outputs": [of_sources(source(3, 3), notFollowed=RATES)]}, None, "rates"),
    ({"sources": {"orders": source(3, 2)}}, False, "orders"),
]


@pytest.mark.parametrize(("ledger", "holds", "detail"), LEDGERS)
def test_a_ledger_balances_by_its_counts(ledger: Json, holds: bool | None, detail: str | None) -> None:
    """Whatever its producer claims, unless the claim is "no"."""
    found = ledger_balance(ledger)
    assert found.holds is holds
    assert (detail is None) == (found.detail is None)
    assert detail is None or detail in (found.detail or "")


def test_a_ledger_with_untraced_sources_is_undecided() -> None:
    well, badly = SourceLedger("orders", 3, 2, 1), SourceLedger("items", 3, 1, 1)
    refused = {"rates": "its rows have no place"}
    assert [Ledger((well,)).balanced, Ledger((well,), refused).balanced, Ledger((), refused).balanced] == [
        True,
        None,
        None,
    ]
    assert Ledger((well, badly), refused).balanced is False
    assert "balanced" not in Ledger((well,), refused).document()
    assert SourceLedger("orders", 3, 4, -1).balanced is False
    assert SourceLedger("orders", 3, 3, 0, beyond=("part-1",)).balanced is False


@pytest.mark.parametrize(
    ("told", "holds"),
    [
        ({"observed": 3, "atLeast": 1}, True),
        ({"observed": 3, "atLeast": 4}, False),
        ({"observed": 3, "atMost": 2}, False),
        ({"observed": 3, "atLeast": 3, "atMost": 3}, True),
        ({"observed": "not measured", "atLeast": 1}, False),
        ({"observed": True, "atLeast": 1}, False),
        ({"atMost": 1}, False),
        ({"observed": 3}, None),
        ({"observed": 3, "atLeast": "1"}, None),
        ({"observed": 10**400, "atMost": 1.5}, False),
        ({"observed": 3, "atLeast": 1, "holds": False}, False),
        ({"holds": False}, False),
    ],
)
def test_an_expectation_holds_by_its_bounds(told: Json, holds: bool | None) -> None:
    facets = {"headwater_expectations": {"expectations": [{"name": "rows", "holds": True} | told]}}
    found = second.judge(facets)
    if holds is None:
        assert ([each.name for each in found.undecided], found.invariants) == (["rows"], ())
    else:
        assert [(each.name, each.holds) for each in found.invariants] == [("rows", holds)]


YES, NO = {"node": "1 Join", "holds": True}, {"node": "2 Join", "holds": False}
OPEN = {"node": "3 Join"}


@pytest.mark.parametrize(
    ("grain", "judged"),
    [
        ({"validations": [YES], "undecided": [OPEN], "complete": True}, Invariant("grain", True, "1 not decided")),
        ({"validations": [], "undecided": [OPEN, OPEN], "complete": True}, Undecided("grain", "2 not decided")),
        ({"validations": [], "undecided": [], "complete": True}, Invariant("grain", True)),
        ({"validations": [], "undecided": []}, Undecided("grain", "nothing was checked")),
        ({"validations": [YES], "complete": False}, Undecided("grain", "not everything was looked at")),
        (
            {"validations": [YES, NO], "undecided": [OPEN], "complete": False},
            Invariant(
                "grain",
                False,
                "1 of 2 do not hold: 2 Join; 1 not decided; not everything was looked at",
                breach=Breach.MATERIAL,
            ),
        ),
    ],
)
def test_grain_holds_only_where_something_was_decided(grain: Json, judged: Invariant | Undecided) -> None:
    found = second.judge({"cdme.grainSafety": grain})
    assert [*found.invariants, *found.undecided] == [judged]


def test_types_of_a_partly_analyzed_plan() -> None:
    lossy = {"morphismReports": [{"node": "a", "lossy": True}], "complete": False}
    found = second.judge({"cdme.typeUnification": lossy})
    assert found.undecided == (Undecided("types", "one cast loses something: a; not everything was looked at"),)


def test_a_hash_is_checked_if_the_hashed_text_is_there() -> None:
    config, design = {"a": 1}, {"plan": None}
    right = {"configHash": digest_of(config), "config": config, "codeHash": "sha256:elsewhere", "code": {"x": 1}}
    right |= {"designHash": digest_of(design), "design": canonical(design)}
    assert second.judge({"cdme.runManifest": right}).invariants == (Invariant("manifest", True),)
    (wrong,) = second.judge({"cdme.runManifest": right | {"config": {"a": 2}, "design": "{}"}}).invariants
    assert (wrong.holds, wrong.breach) == (False, Breach.CRITICAL)
    assert wrong.detail == "configHash, designHash are not of what stands beside it"
    assert second.judge({"cdme.runManifest": {"configHash": digest_of(config)}}).invariants == ()
    assert matches_hash("sha256:00", config) is None


# -- versions ----------------------------------------------------------------------------------------------------------

OVERREACHING = manifest() | {
    "cdme.accountingLedger": of_sources(source(3, 1), notFollowed=RATES),
    "cdme.grainSafety": {"validations": [], "undecided": [OPEN]},
    "headwater_expectations": {"expectations": [{"name": "rows", "holds": True, "observed": 3, "threshold": 9}]},
}


def only(store: Store) -> Certificate:
    (found,) = store.certificates()
    return found


def test_the_rules_of_version_1_do_not_change() -> None:
    """Existing certificates were made by them: not a word of their claims may change."""
    assert first.judge(OVERREACHING).invariants == (
        Invariant("balance", True),
        Invariant("grain", True),
        Invariant("rows", True, "observed 3", 9),
    )
    assert first.judge({"cdme.accountingLedger": {"exact": False}}).invariants == ()


def test_an_old_certificate_still_verifies(one_store: Store, ring: KeyRing, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as before:
        before.setattr(fidelity, "_CURRENT", 1)
        one_store.ingest(ended("one", facets=OVERREACHING))
    entry = one_store.audit(event_type="certificate.issued")[0]
    assert not {"claimsVersion", "undecided"} & entry.details.keys()
    found = only(one_store)
    assert (found.claims_version, found.undecided, found.holds) == (1, (), True)
    one_store.checkpoint(key=ring)
    assert one_store.verify().certificates == 1
    assert one_store.verify_run(run_id("one")).certificates == (found.certificate_id,)
    assert verify_bundle(one_store.bundle(run_id("one"))).broken == ()
    one_store.ingest(ended("one", facets=OVERREACHING, minute=1))  # the next in the chain is made by the new ones
    assert one_store.certificates()[0].claims_version == 2
    one_store.verify()


def test_a_new_certificate_claims_only_what_was_counted(one_store: Store, ring: KeyRing) -> None:
    one_store.ingest(ended("one", facets=OVERREACHING))
    found = only(one_store)
    assert found.claims_version == 2
    assert {each.name: each.holds for each in found.invariants} == {"balance": False}
    assert [each.name for each in found.undecided] == ["grain", "rows"]
    one_store.checkpoint(key=ring)
    assert verify_bundle(one_store.bundle(run_id("one"))).undecided == ("grain", "rows")
    gaps = gather_report(one_store, run_id("one")).gaps
    assert gaps[0] == "grain is not decided: 1 not decided."


def test_the_report_claims_nothing_for_untraced_sources(one_store: Store) -> None:
    ledger = of_sources(source(3, 3), notFollowed=RATES)
    one_store.ingest(ended("one", facets=manifest() | {"cdme.accountingLedger": ledger}))
    shown = page(gather_report(one_store, run_id("one")))
    assert "each source row accounted for, once" not in shown
    assert "balance not known" in shown
    assert "balance is not decided: not followed: rates." in shown


def test_an_unknown_version_of_rules_is_refused(one_store: Store) -> None:
    one_store.ingest(ended("one"))
    document = dict(one_store.audit(event_type="certificate.issued")[0].details)
    last = read_event(ended("one"))
    verify_claims(document, last)
    for change, words in (
        ({"claimsVersion": 3}, "rules of version 3, which this Headwater does not know"),
        ({"claimsVersion": [2]}, "does not know"),
        ({"claimsVersion": 1}, "its claimsVersion does not follow"),
        ({"approvedBy": "somebody"}, "its approvedBy does not follow"),
    ):
        with pytest.raises(EvidenceBroken, match=words):
            verify_claims(document | change, last)
    without = {name: value for name, value in document.items() if name != "contractVersion"}
    with pytest.raises(EvidenceBroken, match="its contractVersion does not follow"):
        verify_claims(without, last)
