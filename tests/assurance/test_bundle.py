"""The evidence of a run as one file: it verifies without the store, and every changed byte is detected."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import rfc8785

from headwater.assurance.bundle import verify_bundle
from headwater.errors import EventRefused, EvidenceBroken, NoteInvalid, QueryError, UnknownRun
from headwater.formats.openlineage.event import read_event
from headwater.model.names import Job
from headwater.proof.keys import KeyRing
from headwater.store.store import Store
from tests.assurance.stores import ended, manifest, tamper
from tests.support.events import ds, read_in_part, run_event, run_id, used, written_in_part

REPORT = run_id("report")
SOURCE, LEFT = f"sha256-files:{'a' * 64}", f"sha256-files:{'b' * 64}"


def ingest_runs(store: Store, ring: KeyRing) -> KeyRing:
    """A run that reads the output of another, with a key rotation in between: every part of a bundle has content."""
    store.ingest(ended("daily", outputs=["daily"], facets=manifest(SOURCE, LEFT), minute=1))
    store.checkpoint(key=ring)
    store.rotate_key(key=ring)
    ring = KeyRing.load(ring.file)
    store.ingest(run_event("START", run="report", job="report", inputs=["daily"], minute=2))
    facets = manifest()
    facets["cdme.runManifest"] = {"inputChecksums": {"daily": LEFT}, "outputChecksums": {"report": "sha256:cc"}}
    store.ingest(ended("report", job="report", inputs=["daily"], outputs=["report"], facets=facets, minute=3))
    store.checkpoint(key=ring)
    return ring


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    with Store("memory://") as store:
        ingest_runs(store, KeyRing.create(tmp_path_factory.mktemp("keys") / "key.pem"))
        return store.bundle(REPORT)


def document(content: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(content)
    return found


def refused(content: bytes, **options: Any) -> str:
    with pytest.raises(EvidenceBroken) as broken:
        verify_bundle(content, **options)
    assert str(broken.value).isprintable()
    return str(broken.value)


def test_it_verifies_without_the_store(store: Store, ring: KeyRing) -> None:
    ingest_runs(store, ring)
    keys = [str(period.key) for period in store.signing_keys()]
    (newest,) = store.certificates(run_id=REPORT)
    found = verify_bundle(store.bundle(REPORT), key=keys[0])
    assert (found.run_id, found.job, found.events) == (REPORT, Job("scheduler", "report"), 2)
    assert found.entries == store.verify_run(REPORT).entries
    assert (found.certificates, found.number, found.broken) == ((newest.certificate_id,), 1, ())
    assert (found.checkpoint, found.key, found.trusted) == (store.checkpoints()[0].size, keys[1], True)
    (upstream,) = found.upstream
    assert (upstream.run_id, upstream.datasets, upstream.same_state) == (run_id("daily"), (ds("daily"),), True)
    assert not verify_bundle(store.bundle(REPORT)).trusted


def test_its_content(content: bytes) -> None:
    told = document(content)
    assert content == rfc8785.dumps(told)
    assert told["format"] == "headwater-bundle/1"
    assert {name: len(told[name]) for name in ("entries", "events", "chain", "upstream")} == {
        "entries": 3,
        "events": 2,
        "chain": 1,
        "upstream": 1,
    }
    assert len(told["log"]["keys"]) == 2


def test_events_are_as_received(one_store: Store, ring: KeyRing) -> None:
    spelled = json.dumps(ended("one"), indent=3, ensure_ascii=True).encode()
    one_store.ingest(spelled)
    one_store.checkpoint(key=ring)
    (event,) = document(one_store.bundle(run_id("one")))["events"]
    assert base64.b64decode(event["body"]) == spelled


# -- every byte ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [13, pytest.param(1, marks=pytest.mark.long)])
def test_every_flipped_byte_of_the_file_is_detected(content: bytes, step: int) -> None:
    """Each byte has another bit flipped than the byte before it."""
    verify_bundle(content)
    for position in range(0, len(content), step):
        changed = bytearray(content)
        changed[position] ^= 1 << position % 8
        with pytest.raises(EvidenceBroken):
            verify_bundle(bytes(changed))


@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("place", ["events", "upstream"])
def test_an_event_can_only_be_reformatted_with_its_hash(content: bytes, place: str, step: int) -> None:
    """The author of a bundle can recompute the hash beside an event: only the formatting of the same event can
    change."""
    told = document(content)
    event = told[place][-1] if place == "events" else told[place][-1]["event"]
    body = base64.b64decode(event["body"])
    digest = read_event(body).digest
    for position in range(0, len(body), step):
        changed = bytearray(body)
        changed[position] ^= 1 << position % 8
        event["body"], event["sha256"] = base64.b64encode(changed).decode(), sha256(changed).hexdigest()
        try:
            same = read_event(bytes(changed)).digest == digest
        except EventRefused:
            same = False
        if same:
            verify_bundle(rfc8785.dumps(told))
        else:
            refused(rfc8785.dumps(told))


# -- things left out, added, moved, exchanged -------------------------------------------------------------------------


def lists(value: Any) -> Iterator[list[Any]]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from lists(inner)
    elif isinstance(value, list):
        yield value
        for inner in value:
            yield from lists(inner)


def objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from objects(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from objects(inner)


def with_each_item_removed(content: bytes, find: Callable[[Any], Iterator[Any]]) -> Iterator[tuple[str, bytes]]:
    for number in range(len(list(find(document(content))))):
        there = list(find(document(content)))[number]
        for key in list(there) if isinstance(there, dict) else range(len(there)):
            told = document(content)
            del list(find(told))[number][key]
            yield f"{number} {key}", rfc8785.dumps(told)


def test_no_member_of_an_object_can_be_removed(content: bytes) -> None:
    for _, changed in with_each_item_removed(content, objects):
        refused(changed)


def test_no_item_of_a_list_except_an_upstream_run_can_be_removed(content: bytes) -> None:
    held = []
    for what, changed in with_each_item_removed(content, lists):
        try:
            verify_bundle(changed)
        except EvidenceBroken:
            continue
        held.append((what, document(changed)["upstream"]))
    assert [upstream for _, upstream in held] == [[]]


def test_removing_an_entry_with_its_event_is_not_detected(content: bytes) -> None:
    """A removed entry is not missed, nor is its event: docs/assurance.md says so."""
    told = document(content)
    del told["entries"][0], told["events"][0]
    assert verify_bundle(rfc8785.dumps(told)).events == 1


def test_no_member_can_be_added(content: bytes) -> None:
    for number in range(len(list(objects(document(content))))):
        told = document(content)
        list(objects(told))[number]["more"] = 1
        refused(rfc8785.dumps(told))
    for number in range(len(list(lists(document(content))))):
        told = document(content)
        there = list(lists(told))[number]
        if there:
            there.append(there[-1])
            refused(rfc8785.dumps(told))


def test_items_cannot_be_exchanged(content: bytes) -> None:
    for name in ("entries", "events"):
        told = document(content)
        told[name].reverse()
        refused(rfc8785.dumps(told))
    told = document(content)
    told["log"]["keys"].reverse()
    assert refused(rfc8785.dumps(told)).startswith("Entry ")


def test_a_value_of_another_type_is_refused(content: bytes) -> None:
    for number, there in enumerate(list(objects(document(content)))):
        for key in there:
            for odd in (None, True, -1, 2**60, "", [1], {"body": 1}):
                told = document(content)
                inside = list(objects(told))[number]
                if (inside[key] == odd and type(inside[key]) is type(odd)) or key == "upstream":
                    continue
                inside[key] = odd
                try:
                    changed = rfc8785.dumps(told)
                except rfc8785.IntegerDomainError:
                    changed = json.dumps(told, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
                refused(changed)


@pytest.mark.parametrize(
    "content",
    [b"", b"null", b"[]", b"{}", b"\xff", b'{"format":1}', b'{"format":"headwater-bundle/1"}', b"[" * 100_000, b"NaN"],
)
def test_files_that_are_not_bundles_are_refused(content: bytes) -> None:
    assert refused(content) == (
        "The file does not hold: it is not a bundle of evidence, as `headwater bundle` writes it"
    )


def test_the_first_failure_is_named(content: bytes) -> None:
    ends = {
        '"actor_id":"': "Entry ",
        '"sha256":"': "Event 1 does not hold: its bytes do not have the hash beside them",
        '"checkpoint":"headwater.log/': "The checkpoint does not hold: it is signed under a name",
    }
    for after, words in ends.items():
        changed = bytearray(content)
        changed[content.index(after.encode()) + len(after)] ^= 1
        assert refused(bytes(changed)).startswith(words)
    told = document(content)
    told["log"]["key"] = told["log"]["key"].replace("+", "-")
    assert refused(rfc8785.dumps(told)).startswith("The key in the file does not hold: it is not the one that signed")


def test_a_log_signed_under_another_name(one_store: Store, ring: KeyRing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headwater.store.log.checkpoints.origin_of", lambda first: "headwater.log/another")
    ingest_runs(one_store, ring)
    assert refused(one_store.bundle(REPORT)) == (
        "The checkpoint does not hold: it is signed under a name that is not this log's"
    )


def test_an_entry_about_another_run(content: bytes) -> None:
    told = document(content)
    other = {name: told["log"]["keys"][1][name] for name in ("entry", "path")}
    told["entries"] = sorted([*told["entries"], other], key=lambda one: one["entry"]["seq"])
    assert refused(rfc8785.dumps(told)).endswith(f"it is not about run {REPORT}")


def test_an_unrelated_upstream_run(one_store: Store, ring: KeyRing) -> None:
    for name in ("a", "b"):
        one_store.ingest(ended(f"writes {name}", job=f"writes {name}", outputs=[name]))
        one_store.ingest(ended(f"reads {name}", job=f"reads {name}", inputs=[name], minute=2))
    one_store.checkpoint(key=ring)
    mine, others = (document(one_store.bundle(run_id(f"reads {name}"))) for name in ("a", "b"))
    assert "it wrote nothing that the run has read" in refused(rfc8785.dumps(mine | {"upstream": others["upstream"]}))
    mine["upstream"][0]["event"] = others["upstream"][0]["event"]
    assert "does not follow from its event" in refused(rfc8785.dumps(mine))


def test_a_certificate_that_was_superseded_cannot_be_hidden(one_store: Store, ring: KeyRing) -> None:
    for minute in range(2):
        one_store.ingest(ended("one", minute=minute))
    one_store.checkpoint(key=ring)
    told = document(one_store.bundle(run_id("one")))
    told["chain"].append(told["entries"].pop(1))
    assert "the one of the same run before it is not in the file" in refused(rfc8785.dumps(told))


def test_another_version_of_the_format(content: bytes) -> None:
    told = document(content) | {"format": "headwater-bundle/2"}
    assert "its format is not headwater-bundle/1" in refused(rfc8785.dumps(told))


@pytest.mark.parametrize("spelled", [lambda told: json.dumps(told).encode(), lambda told: rfc8785.dumps(told) + b"\n"])
def test_another_encoding_is_refused(content: bytes, spelled: Callable[[Any], bytes]) -> None:
    assert "it is not canonical JSON, or has members" in refused(spelled(document(content)))


def test_parts_of_another_log(content: bytes, one_store: Store, ring: KeyRing) -> None:
    ingest_runs(one_store, ring)
    other = document(one_store.bundle(REPORT))
    for name in ("entries", "chain", "upstream", "log"):
        refused(rfc8785.dumps(document(content) | {name: other[name]}))
    for name in ("checkpoint", "first", "key", "keys"):
        told = document(content)
        told["log"][name] = other["log"][name]
        refused(rfc8785.dumps(told))


# -- whom to trust ---------------------------------------------------------------------------------------------------


def test_a_forged_log_verifies_without_a_trusted_key(content: bytes, one_store: Store, ring: KeyRing) -> None:
    """Anyone can create and sign a log with the same content. Only a key from another source distinguishes them."""
    theirs = verify_bundle(content).key
    ingest_runs(one_store, ring)
    forged = one_store.bundle(REPORT)
    assert not verify_bundle(forged).trusted
    assert refused(forged, key=theirs).startswith("The log does not hold: it was never signed with ")
    with pytest.raises(NoteInvalid):
        verify_bundle(content, key="nonsense")


def test_the_anchor_must_have_its_checkpoint(content: bytes, one_store: Store, ring: KeyRing) -> None:
    told = document(content)
    note = told["log"]["checkpoint"]
    assert verify_bundle(content, anchored=[("elsewhere", note)]).anchored
    assert "the anchor has none of" in refused(content, anchored=[])
    ingest_runs(one_store, ring)
    rewritten = one_store.checkpoints()[0].note
    assert "elsewhere is another one" in refused(content, anchored=[("elsewhere", rewritten)])
    assert refused(content, anchored=[("elsewhere", "nonsense")]).startswith("elsewhere does not hold")


# -- what goes into one ----------------------------------------------------------------------------------------------


def test_everything_about_the_run_must_be_signed(one_store: Store, ring: KeyRing) -> None:
    one_store.ingest(ended("one"))
    with pytest.raises(QueryError, match=r"^Not everything about run '.*' is signed yet\. `headwater checkpoint`"):
        one_store.bundle(run_id("one"))
    one_store.checkpoint(key=ring)
    verify_bundle(one_store.bundle(run_id("one")))
    one_store.ingest(ended("one", minute=1))
    with pytest.raises(QueryError, match="is signed yet"):
        one_store.bundle(run_id("one"))
    with pytest.raises(UnknownRun):
        one_store.bundle("nothing")


def test_invalid_evidence_has_no_bundle(one_store: Store, ring: KeyRing) -> None:
    ingest_runs(one_store, ring)
    tamper(one_store, "UPDATE event SET event_type = 'FAIL'")
    with pytest.raises(EvidenceBroken):
        one_store.bundle(REPORT)


def test_a_run_without_a_certificate(one_store: Store, ring: KeyRing) -> None:
    one_store.ingest(run_event("FAIL", run="one"))
    one_store.checkpoint(key=ring)
    found = verify_bundle(one_store.bundle(run_id("one")))
    assert (found.certificates, found.number, found.broken, found.events) == ((), None, (), 1)


def test_violated_invariants_are_reported(one_store: Store, ring: KeyRing) -> None:
    one_store.ingest(ended("one", facets=manifest() | {"cdme.accountingLedger": {"balanced": False}}))
    one_store.checkpoint(key=ring)
    assert verify_bundle(one_store.bundle(run_id("one"))).broken == ("balance",)


def test_certificates_of_a_run_that_ended_more_than_once(one_store: Store, ring: KeyRing) -> None:
    for minute in range(3):
        one_store.ingest(ended("one", minute=minute))
        one_store.ingest(ended(f"other {minute}", minute=minute))
    one_store.checkpoint(key=ring)
    found = verify_bundle(one_store.bundle(run_id("one")))
    assert found.certificates == tuple(
        one.certificate_id for one in reversed(one_store.certificates(run_id=run_id("one")))
    )
    assert found.number == 4


def test_a_long_log(one_store: Store, ring: KeyRing, tmp_path: Path) -> None:
    one_store.ingest_many(run_event("RUNNING", run=str(i)) for i in range(700))
    ingest_runs(one_store, ring)
    one_store.ingest_many(run_event("RUNNING", run=str(i)) for i in range(700, 900))
    one_store.checkpoint(key=KeyRing.load(ring.file))
    found = verify_bundle(one_store.bundle(REPORT))
    assert (found.entries, found.checkpoint) == ((706, 707, 708), 910)


ODD = "</script>\"'\\ é\u202e\x1b[31m\n../../etc"


def test_names_are_data(one_store: Store, ring: KeyRing) -> None:
    event = ended("one", job=ODD, inputs=[ODD], outputs=[used(ODD, namespace=ODD)])
    event["run"]["runId"] = ODD
    one_store.ingest(event)
    one_store.checkpoint(key=ring)
    found = verify_bundle(one_store.bundle(ODD))
    assert (found.run_id, found.job.name) == (ODD, ODD)


# -- upstream --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "same"),
    [
        ({"daily": LEFT}, True),
        ({"warehouse/daily": LEFT}, True),
        ({"daily": SOURCE}, False),
        ({"daily": "sha256-rows:bb"}, None),
        ({}, None),
    ],
)
def test_the_state_that_was_read_from_the_upstream_run(
    one_store: Store, ring: KeyRing, found: Any, same: bool | None
) -> None:
    one_store.ingest(ended("daily", outputs=["daily"], facets=manifest(SOURCE, LEFT)))
    facets = {"cdme.runManifest": {"inputChecksums": found}}
    one_store.ingest(ended("report", inputs=["daily"], facets=facets, minute=2))
    one_store.checkpoint(key=ring)
    (upstream,) = verify_bundle(one_store.bundle(REPORT)).upstream
    assert upstream.same_state is same


def test_the_upstream_run_is_the_last_writer(one_store: Store, ring: KeyRing) -> None:
    for number in (1, 2, 3):
        one_store.ingest(ended(f"daily {number}", job="daily", outputs=["daily"], minute=10 * number))
    one_store.ingest(ended("other", outputs=["elsewhere"], minute=1))
    one_store.ingest(run_event("COMPLETE", run="uncertified", job="x", outputs=["daily"], minute=2))
    one_store.ingest(run_event("START", run="report", job="report", inputs=["daily"], minute=25))
    one_store.ingest(ended("report", job="report", inputs=["daily"], outputs=["report"], minute=35))
    one_store.checkpoint(key=ring)
    (upstream,) = verify_bundle(one_store.bundle(REPORT)).upstream
    assert upstream.run_id == run_id("daily 2")


def test_upstream_runs_of_the_read_partitions_only(one_store: Store, ring: KeyRing) -> None:
    for day in (1, 2, 3):
        written = written_in_part("daily", f"day={day}")
        one_store.ingest(ended(f"daily {day}", job="daily", outputs=[written], minute=day))
    whole = run_event("COMPLETE", run="whole", job="whole", inputs=["daily"], outputs=["all"], minute=9)
    read = read_in_part("daily", "day=2")
    one_store.ingest_many([whole, ended("report", job="report", inputs=[read], outputs=["report"], minute=9)])
    one_store.checkpoint(key=ring)
    of_run = {run: verify_bundle(one_store.bundle(run)).upstream for run in (REPORT, run_id("whole"))}
    assert [one.run_id for one in of_run[REPORT]] == [run_id("daily 2")]
    assert [one.run_id for one in of_run[run_id("whole")]] == [run_id(f"daily {day}") for day in (1, 2, 3)]
