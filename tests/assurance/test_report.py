"""The report of a run: one page that loads nothing, names failures first, and never treats a name as markup."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headwater.assurance.report.gather import gather_report
from headwater.assurance.report.page import page
from headwater.assurance.report.picture import picture
from headwater.assurance.report.principles import NAMES, PRINCIPLES
from headwater.assurance.report.shapes import LedgerAccount, accounts
from headwater.errors import UnknownRun
from headwater.proof.canonical import digest_of
from headwater.proof.keys import KeyRing
from headwater.store.store import Store
from tests.assurance.stores import ended, tamper
from tests.assurance.test_canonical import JSON
from tests.support.events import facet, ownership, run_event, run_id, used

RUN = run_id("one")
OURS = {
    *("html", "head", "meta", "title", "style", "body", "main", "header", "nav", "section", "footer", "div", "span"),
    *("h1", "h2", "h3", "h4", "p", "a", "b", "code", "pre", "br", "ul", "ol", "li", "dl", "dt", "dd"),
    *("table", "thead", "tbody", "tr", "th", "td", "figure", "figcaption", "svg", "rect", "path", "text"),
}
EMPTY = {"meta", "br"}


class Page(HTMLParser):
    """The elements and texts of a page, as far as the tests need them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.words = ""
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs
        if tag not in EMPTY:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open[-1:] != ["style"]:
            self.words += data

    def all(self, name: str) -> list[str]:
        return [value or "" for key, value in self.attributes if key == name]


def evidence(*, holds: bool = True) -> dict[str, Any]:
    """Every kind of evidence that a run can end with."""
    source = {"dataset": "warehouse/orders", "inputRecordCount": 100, "processedCount": 90, "filteredCount": 8}
    return {
        "cdme.runManifest": {
            "configHash": "sha256-rfc8785:c0",
            "codeHash": "sha256-rfc8785:c1",
            "designHash": "sha256-rfc8785:c2",
            "inputChecksums": {"warehouse/orders": "sha256-files:aa"},
            "outputChecksums": {"warehouse/daily": "sha256-files:bb"},
            "contractVersion": "1.4.0",
        },
        "cdme.accountingLedger": {
            "balanced": holds,
            "sources": [source | {"erroredCount": 2 if holds else 1, "balanced": holds}],
        },
        "cdme.typeUnification": {"morphismReports": [{"node": "Project 1", "column": "amount", "lossy": True}]},
        "cdme.grainSafety": {"validations": [{"node": "Join 2", "check": "fan-out", "holds": holds}]},
        "cdme.morphismTrace": {
            "targetAttributes": {"revenue": ["warehouse/orders#amount", "Aggregate 3: sum(amount)"]}
        },
        "headwater_expectations": {
            "expectations": [{"name": "few errors", "holds": holds, "threshold": 0.5, "observed": 0.1, "atMost": 0.5}]
        },
        "headwater_pipeline": {"nodes": [{"name": "clean", "type": "filter", "counts": {"items": 100}}]},
    }


def ingest_runs(store: Store, facets: Mapping[str, Any], **options: Any) -> None:
    job_facets = {"ownership": ownership("team:risk"), "documentation": facet(description="Revenue by day.")}
    options = {"inputs": ["orders"], "outputs": ["daily"], "job_facets": job_facets} | options
    store.ingest(run_event("START", run="one", **options))
    store.ingest(ended("one", minute=3, facets=facets, **options))


def report(store: Store, run: str = RUN) -> str:
    return page(gather_report(store, run))


def table_of_principles(html: str) -> list[str]:
    """The verdict on each principle."""
    section = html[html.index('id="principles"') :]
    return re.findall(r'<td><span class="mark (\w+)">', section)


def test_a_run_that_shows_everything(one_store: Store, ring: KeyRing) -> None:
    ingest_runs(one_store, evidence())
    signed = one_store.checkpoint(key=ring)
    html = report(one_store)
    read = Page(html)
    assert 'class="verdict good"' in html
    assert table_of_principles(html) == ["good"] * len(PRINCIPLES)
    (certificate,) = one_store.certificates()
    proof = one_store.inclusion(certificate.seq, signed.size)
    for shown in (
        *(certificate.certificate_id, certificate.hash, proof.entry_hash, *proof.path, proof.root),
        *(signed.key, *signed.note.splitlines(), "sha256-rfc8785:c1", "sha256-files:aa", "1.4.0", "team:risk"),
        *("Revenue by day.", "Aggregate 3: sum(amount)", "1 of 1 cast may be lossy", "few errors"),
    ):
        assert shown in read.words


def test_it_loads_nothing_and_runs_no_scripts(one_store: Store, ring: KeyRing) -> None:
    ingest_runs(one_store, evidence())
    one_store.checkpoint(key=ring)
    html = report(one_store)
    read = Page(html)
    assert read.tags <= OURS
    assert not {key for key, _ in read.attributes} & {"src", "srcset", "style", "action", "data"}
    assert all(value.startswith("#") for value in read.all("href"))
    assert {value[1:] for value in read.all("href")} <= set(read.all("id"))
    assert len(read.all("id")) == len(set(read.all("id")))
    assert "url(" not in html
    assert "@import" not in html
    assert "default-src 'none'" in html


def test_violations_are_at_the_top(one_store: Store, ring: KeyRing) -> None:
    ingest_runs(one_store, evidence(holds=False))
    one_store.checkpoint(key=ring)
    html = report(one_store)
    top = html[html.index("<main>") : html.index("<section")] + "</main>"
    assert 'class="verdict bad"' in top
    for words in (
        "This run failed its checks",
        "CRITICAL: balance does not hold",
        "MATERIAL: grain does not hold: 1 of 1 do not hold: Join 2.",
        "MATERIAL: few errors does not hold: observed 0.1.",
        "not balanced",
    ):
        assert words in Page(top).words
    assert table_of_principles(html).count("bad") == 4
    assert "1not accounted for, 1.00 %" in Page(html).words


@pytest.mark.parametrize("state", ["FAIL", "ABORT"])
def test_a_run_that_failed(one_store: Store, state: str) -> None:
    one_store.ingest(ended("one", event_type=state))
    case = gather_report(one_store, RUN)
    assert case.failures == (f"The run ended in {state}.",)
    assert 'class="verdict bad"' in page(case)


def test_a_run_without_evidence(one_store: Store) -> None:
    one_store.ingest(run_event("COMPLETE", run="one"))
    html = report(one_store)
    words = Page(html).words
    assert 'class="verdict open"' in html
    assert "No certificate was issued: the run did not end with a manifest (cdme.runManifest)." in words
    assert words.count("Not shown by this run") == 6
    assert "Nothing is signed yet" in words
    # That it is in the log is evidence of a run in any case.
    assert set(table_of_principles(html)) == {"open"}
    assert words.count("not shown by this run") == 10


def test_an_unsigned_run(one_store: Store) -> None:
    ingest_runs(one_store, evidence())
    case = gather_report(one_store, RUN)
    assert (case.failures, len(case.gaps)) == ((), 1)
    assert "The certificate is not signed yet" in Page(page(case)).words


def test_a_running_run(one_store: Store) -> None:
    one_store.ingest(run_event("START", run="one"))
    assert gather_report(one_store, RUN).gaps[0] == "The run has not ended."


def test_invalid_evidence(one_store: Store, ring: KeyRing) -> None:
    ingest_runs(one_store, evidence())
    one_store.checkpoint(key=ring)
    tamper(one_store, "UPDATE audit SET actor_id = 'somebody else' WHERE seq = 2")
    html = report(one_store)
    assert 'class="verdict bad"' in html
    assert "its content does not match its hash" in html[: html.index('id="intent"')]
    assert "evidence fails verification" in Page(html).words


def test_an_unknown_run(one_store: Store) -> None:
    with pytest.raises(UnknownRun):
        gather_report(one_store, "nothing")


def test_the_certificate_in_effect(one_store: Store) -> None:
    """A late event does not overrule a later one, nor does its certificate."""
    one_store.ingest(ended("one", minute=9, facets=evidence()))
    one_store.ingest(ended("one", minute=5, facets=evidence(holds=False)))
    late, first = one_store.certificates(run_id=RUN)
    case = gather_report(one_store, RUN)
    assert late.supersedes == first.certificate_id
    assert case.certificate == first
    assert case.failures == ()


def test_evidence_that_differs_from_the_certificate(one_store: Store) -> None:
    one_store.ingest(ended("one", facets=evidence()))
    later = {"cdme.accountingLedger": {"balanced": True, "sources": []}}
    one_store.ingest(run_event("RUNNING", run="one", minute=5, run_facets=later))
    case = gather_report(one_store, RUN)
    assert case.failures == ("cdme.accountingLedger differs from the certified one.",)
    assert 'class="verdict bad"' in page(case)


# -- names are data --------------------------------------------------------------------------------------------------

HOSTILE = (
    "</style></title></code></pre><script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "&lt;b&gt; & <!-- ]]> -->",
    "a\u202eb\x1b[31m\nc",
    "x" * 5_000,
    "javascript:alert(1)",
)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_never_markup(one_store: Store, ring: KeyRing, name: str) -> None:
    facets = renamed(evidence(holds=False), name)
    event = ended(
        "one",
        job=name,
        inputs=[used(name, namespace=name)],
        outputs=[used(name, facets={"headwater_coverage": {"gaps": [{"operator": name, "reason": name}]}})],
        facets=facets,
        job_facets={
            "ownership": ownership(name),
            "sql": facet(query=name),
            "documentation": facet(description=name),
            "sourceCodeLocation": facet(url=name, type=name),
        },
    )
    event["run"]["runId"] = name
    event["job"]["namespace"] = name
    one_store.ingest(event)
    one_store.checkpoint(key=ring)
    html = report(one_store, name)
    read = Page(html)
    assert read.tags <= OURS
    assert not any(key.startswith("on") for key, _ in read.attributes)
    assert all(value.startswith("#") for value in read.all("href"))
    assert read.words.count(name[:20].encode("unicode_escape").decode()) > 20
    assert html.encode().decode() == html
    assert "\u202e" not in html
    assert "\x1b" not in html


def renamed(value: Any, name: str) -> Any:
    """The evidence with every text and every name of a dataset or column replaced."""
    if isinstance(value, dict):
        return {key: _renamed_keys(key, renamed(inner, name), name) for key, inner in value.items()}
    if isinstance(value, list):
        return [renamed(inner, name) for inner in value]
    return name if isinstance(value, str) else value


def _renamed_keys(key: str, inner: Any, name: str) -> Any:
    if not key.endswith(("Checksums", "Attributes")):
        return inner
    return dict.fromkeys([name], *inner.values())


@pytest.fixture(scope="module")
def shared_store() -> Iterator[Store]:
    with Store("memory://") as store:
        yield store


FACETS = sorted(evidence())


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_facets_of_any_shape(shared_store: Store, data: st.DataObject) -> None:
    """Malformed anywhere: the whole facet, or a part of it."""
    facets = evidence()
    for name in data.draw(st.lists(st.sampled_from(FACETS), min_size=1, max_size=3)):
        odd = data.draw(JSON)
        inside = data.draw(st.sampled_from([None, *facets[name]])) if isinstance(facets[name], dict) else None
        if inside is None:
            facets[name] = odd
        else:
            facets[name] = facets[name] | {
                inside: data.draw(st.sampled_from([odd, [odd], {"x": odd}, [{"node": odd}]]))
            }
    number = len(shared_store.runs(limit=10_000))
    shared_store.ingest(ended(str(number), facets=facets))
    assert Page(report(shared_store, run_id(str(number)))).tags <= OURS


def test_very_many_columns_are_counted(one_store: Store) -> None:
    trace = {"cdme.morphismTrace": {"targetAttributes": {f"c{i}": [f"s#{i}"] for i in range(1_200)}}}
    one_store.ingest(ended("one", facets=trace))
    assert "700 more are omitted here" in Page(report(one_store)).words


# -- the ledger ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ledger", "sources"),
    [
        ({"sources": [{"dataset": "a", "inputRecordCount": 1}, {"source": "b", "inputRecordCount": 2}]}, ["a", "b"]),
        ({"sources": {"a": {"inputRecordCount": 1}}}, ["a"]),
        ({"sources": [{"dataset": {"namespace": "n", "name": "a"}, "inputRecordCount": 1}]}, ["n/a"]),
        ({"sources": [{"inputRecordCount": 1}]}, ["a source without a name"]),
        ({"inputRecordCount": 5, "processedCount": 5}, ["all sources"]),
        ({"balanced": True}, []),
        (
            {"outputs": [{"output": "x", "inputRecordCount": 1, "sources": [{"dataset": "a", "inputRecordCount": 1}]}]},
            ["a → x"],
        ),
    ],
)
def test_the_sources_of_a_ledger(ledger: dict[str, Any], sources: list[str]) -> None:
    assert [account.source for account in accounts(ledger)] == sources


def diagram(read: int, processed: int, filtered: int, errored: int) -> str:
    return str(picture(LedgerAccount("orders", read, processed, filtered, errored, None)))


def test_the_diagram_of_the_ledger() -> None:
    words = Page(diagram(1_000_000, 995_000, 4_999, 1)).words
    assert words == "995,000processed, 99.50 %4,999filtered, 0.50 %1errored, 0.01 %1,000,000rows read"
    assert "errored" not in Page(diagram(10, 9, 1, 0)).words
    assert "not accounted for" in Page(diagram(10, 8, 1, 0)).words
    assert "not accounted for" not in Page(diagram(10, 11, 0, 0)).words
    assert picture(LedgerAccount("orders", None, 1, 1, 1, True)) is None
    assert picture(LedgerAccount("orders", 0, 0, 0, 0, True)) is None


def test_one_row_of_a_billion_is_visible() -> None:
    heights = [float(height) for height in re.findall(r'height="([\d.]+)"', diagram(10**9, 10**9 - 2, 1, 1))]
    assert min(heights) >= 3


def test_a_surplus_is_reported(one_store: Store) -> None:
    source = {"dataset": "orders", "inputRecordCount": 10, "processedCount": 13, "balanced": False}
    source["beyond"] = ["part-7: 13 rows of 10"]
    one_store.ingest(ended("one", facets={"cdme.accountingLedger": {"balanced": False, "sources": [source]}}))
    words = Page(report(one_store)).words
    assert "3 too many" in words
    assert "part-7: 13 rows of 10" in words


def test_a_ledger_of_a_sample(one_store: Store) -> None:
    """It is neither balanced nor unbalanced, and is no evidence of completeness."""
    source = {"dataset": "orders", "inputRecordCount": 10, "processedCount": 10, "balanced": True, "exact": False}
    ledger = {
        "exact": False,
        "partly": "one item in 10 was followed",
        "sources": [source | {"note": "not told at join"}],
        "notFollowed": [{"dataset": "rates", "reason": "its rows have no place"}],
        "missing": ["key 1", "key 2"],
    }
    one_store.ingest(ended("one", facets={"cdme.accountingLedger": ledger, "cdme.runManifest": {}}))
    case = gather_report(one_store, RUN)
    words = Page(page(case)).words
    assert case.failures == ()
    for shown in (
        *("balance not known", "balance not known", "Not all rows: one item in 10 was followed."),
        *("balanced in number", "not told at join", "its rows have no place", "key 1, key 2"),
        "not shown: a ledger of all rows",
    ):
        assert shown in words


@pytest.mark.parametrize(("said", "words"), [("right", "hash verified"), ("wrong", "hash differs")])
def test_hashes_are_recomputed(one_store: Store, said: str, words: str) -> None:
    config = {"settings": {"spark.sql.ansi.enabled": "true"}}
    manifest = {"configHash": digest_of(config) if said == "right" else "sha256-rfc8785:00", "config": config}
    manifest["withoutChecksum"] = {"orders": "it is a stream"}
    one_store.ingest(ended("one", facets={"cdme.runManifest": manifest}))
    shown = Page(report(one_store)).words
    assert words in shown
    assert '"spark.sql.ansi.enabled": "true"' in shown
    assert "it is a stream" in shown


def test_every_principle_names_existing_evidence() -> None:
    assert len({name for name, _, _ in PRINCIPLES}) == len(PRINCIPLES)
    assert {each for _, _, evidence in PRINCIPLES for each in evidence} == set(NAMES)
