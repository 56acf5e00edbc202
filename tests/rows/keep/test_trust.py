"""Whose plans are deserialized: those that a trusted key signed, for the very run, job and output they came with."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import headwater as hw
from headwater.errors import KeptPlanRefused, SignatureRefused
from headwater.formats.openlineage.signed_rows import SIGNATURE, sign_event
from headwater.model.names import Dataset, Job
from headwater.proof.keys import KeyRing, SigningKey, key_text
from headwater.rows.kept_queries.trust import PlanTrust
from headwater.store.store import Store
from tests.capture.telling import Json
from tests.rows.keep.keeping import PLACE, signed
from tests.support.events import run_event, used

FACET: Json = {
    "mode": "key",
    "spark": "4.3.0",
    "replayable": True,
    "needs": [],
    "columns": ["id"],
    "plan": {"format": "headwater-plan-1", "digest": "sha256:00", "bytes": "AA==", "text": "Range", "python": []},
    "sources": [{"kind": "range", "datasets": [], "ids": [1]}],
    "written": {"uri": "file:/out", "format": "parquet", "unknown": "gone"},
}
KEY = SigningKey.new()
TRUST = PlanTrust(frozenset({key_text(KEY.public)}))


def test_a_trusted_key_at_its_place() -> None:
    assert TRUST.verify(signed(FACET, KEY), PLACE).content["plan"] == FACET["plan"]


@pytest.mark.parametrize(
    "elsewhere",
    [
        replace(PLACE, run_id="01933f00-0000-7000-8000-000000000002"),
        replace(PLACE, job=Job("tests", "other")),
        replace(PLACE, job=Job("other", "job")),
        replace(PLACE, dataset=Dataset("file", "/other")),
        replace(PLACE, job=Job("test", "sjob")),
    ],
)
def test_a_facet_that_was_moved(elsewhere: Any) -> None:
    with pytest.raises(SignatureRefused, match="changed or moved after it was signed"):
        TRUST.verify(signed(FACET, KEY), elsewhere)


def members(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(value, dict):
        return [path, *(found for name in value for found in members(value[name], (*path, name)))]
    if isinstance(value, list):
        return [path, *(found for number in range(len(value)) for found in members(value[number], (*path, number)))]
    return [path]


@pytest.mark.parametrize("path", [path for path in members(FACET) if path], ids=str)
def test_every_member_is_signed(path: tuple[Any, ...]) -> None:
    changed = copy.deepcopy(signed(FACET, KEY))
    holder: Any = changed
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = "another"
    with pytest.raises(SignatureRefused, match="changed or moved"):
        TRUST.verify(changed, PLACE)
    with pytest.raises(SignatureRefused, match="changed or moved"):
        TRUST.verify({**signed(FACET, KEY), "added": 1}, PLACE)


def test_an_unknown_key_is_named_with_what_trusts_it() -> None:
    other = SigningKey.new()
    with pytest.raises(SignatureRefused) as refused:
        TRUST.verify(signed(FACET, other), PLACE)
    assert refused.value.key == key_text(other.public)
    assert f"headwater keys trust {key_text(other.public)}" in str(refused.value)
    assert PLACE.run_id in str(refused.value)
    assert "\n" not in str(refused.value)


def test_no_signature_is_refused_unless_the_reader_says_so() -> None:
    with pytest.raises(SignatureRefused, match=r"is not signed.*--trust-unsigned"):
        TRUST.verify(FACET, PLACE)
    lenient = replace(TRUST, allow_unsigned=True)
    assert lenient.verify(FACET, PLACE).content == FACET
    with pytest.raises(SignatureRefused, match="does not trust"):
        lenient.verify(signed(FACET, SigningKey.new()), PLACE)
    with pytest.raises(SignatureRefused, match="changed or moved"):
        lenient.verify({**signed(FACET, KEY), "columns": []}, PLACE)


@pytest.mark.parametrize(
    "signature",
    [True, [], "x", {}, {"key": 1, "value": 2}, {"key": key_text(KEY.public)}, {"key": "AA==", "value": "00" * 64}],
)
def test_a_malformed_signature(signature: Any) -> None:
    with pytest.raises(SignatureRefused, match="its signature is not"):
        replace(TRUST, allow_unsigned=True).verify({**FACET, SIGNATURE: signature}, PLACE)


def test_a_signature_over_another_text_of_the_same_key_is_none() -> None:
    """Domain separation: what the key signs as a checkpoint is no facet."""
    from headwater.formats.openlineage.signed_rows import signed_text

    text = signed_text(FACET, PLACE)
    value = KEY.sign(text.split(b"\n", 1)[1]).hex()
    with pytest.raises(SignatureRefused, match="changed or moved"):
        TRUST.verify({**FACET, SIGNATURE: {"key": key_text(KEY.public), "value": value}}, PLACE)


def test_what_cannot_be_canonical_json_is_refused() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    signature = signed(FACET, KEY)[SIGNATURE]
    for strange in (float("nan"), float("inf"), deep):
        with pytest.raises(KeptPlanRefused):
            TRUST.verify({**FACET, "needs": strange, SIGNATURE: signature}, PLACE)


class TestWhoAddsTrust:
    """A capture that opens the store's file; never an event."""

    def test_an_event_adds_none(self, tmp_path: Path) -> None:
        event = run_event(outputs=[{**used("out"), "outputFacets": {"headwater_rows": dict(FACET)}}])
        sign_event(event, KEY)
        with Store(f"sqlite:///{tmp_path}/lineage.db") as store:
            store.ingest(event)
            assert store.capture_keys.all() == []
            (facet,) = store.output_facets("headwater_rows")
            assert facet.facet[SIGNATURE]["key"] == key_text(KEY.public)

    def test_an_operator_decides_and_captures_do_not_overrule(self, tmp_path: Path) -> None:
        key = key_text(KEY.public)
        with Store(f"sqlite:///{tmp_path}/lineage.db") as store:
            assert store.capture_keys.trust_new(key, name="a")
            assert not store.capture_keys.trust_new(key, name="b")
            assert store.trusted_capture_keys() == {key}
            assert store.capture_keys.untrust("a").untrusted_at is not None
            assert not store.capture_keys.trust_new(key)
            assert store.trusted_capture_keys() == frozenset()
            assert store.capture_keys.trust(key).is_trusted
            told = [(entry.event_type, entry.resource_id) for entry in store.audit(resource=key)]
            assert told == [(f"capture_key.{kind}", key) for kind in ("trusted", "untrusted", "trusted")]
            store.verify()

    def test_the_key_beside_an_embedded_store(self, tmp_path: Path) -> None:
        """Made once with the mode 0600, never overwritten, and the same for all captures."""
        file = tmp_path / "lineage.db.capture.pem"
        first = KeyRing.load_or_create(file)
        assert file.stat().st_mode & 0o777 == 0o600
        content = file.read_bytes()
        assert KeyRing.load_or_create(file).newest.public == first.newest.public
        assert file.read_bytes() == content
        assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_a_capture_signs_and_its_store_trusts_it(spark: Any, data: Path, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/lineage.db"
    written = f"{tmp_path}/out"

    def asked(**how: Any) -> Any:
        return hw.trace(written, "id = 3", spark=spark, store=store, **how).rows.count()

    hw.enable(spark, store=store, spool=tmp_path / "spool", job="signs")
    try:
        spark.table("items").where("k > 1").write.parquet(written)
        assert hw.flush(60)
    finally:
        hw.disable(spark)
    assert asked() == 1
    with Store(store) as opened:
        (trusted,) = opened.capture_keys.all()
        assert trusted.key == key_text(KeyRing.load(tmp_path / "lineage.db.capture.pem").newest.public)
        opened.capture_keys.untrust(trusted.key)
    questions: list[Callable[[], Any]] = [
        asked,
        lambda: asked(trust_unsigned=True),
        lambda: hw.why_not(written, source="items", where="id = 1", spark=spark, store=store),
        lambda: hw.trace_forward(written, source="items", where="id = 3", spark=spark, store=store),
    ]
    for question in questions:
        with pytest.raises(SignatureRefused, match=f"headwater keys trust {trusted.key.replace('+', '[+]')}"):
            question()
