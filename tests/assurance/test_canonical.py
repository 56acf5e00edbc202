"""The fast computation of an entry's hash equals RFC 8785 for every possible entry."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from headwater.errors import AuditBroken
from headwater.proof.canonical import canonical, canonical_scalar, canonical_text, digest_of, hashes_by_name
from headwater.store.log.entries import _HASHED, entry_holds
from headwater.store.schema.tables import audit

TEXTS = st.text(alphabet=st.characters(exclude_categories=["Cs"]))
ODD_TEXTS = st.text(alphabet=st.characters())
VALUES = {
    "recorded_at": st.integers(0, 2**53 - 1),
    "seq": st.integers(1, 2**53 - 1),
    "algorithm": st.just("sha256-rfc8785"),
}
ENTRIES = st.fixed_dictionaries(
    {
        column.name: VALUES.get(column.name, st.none() | TEXTS if column.nullable else TEXTS)
        for column in audit.c
        if column.name not in ("hash", "previous_hash")
    }
)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | ODD_TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(ODD_TEXTS, inner),
    max_leaves=10,
)


@given(entry=ENTRIES, previous=st.binary(min_size=32, max_size=32), data=st.data())
def test_the_hash_of_an_entry_equals_rfc_8785(entry: dict[str, Any], previous: bytes, data: st.DataObject) -> None:
    digest = sha256(rfc8785.dumps({**entry, "previous_hash": previous.hex()})).digest()
    whole = {**entry, "previous_hash": previous, "hash": digest}
    entry_holds(whole)
    name = data.draw(st.sampled_from([name for name in _HASHED if name not in ("seq", "algorithm", "recorded_at")]))
    other = data.draw(TEXTS.filter(lambda text: text != entry[name]))
    try:
        entry_holds({**whole, name: other})
    except AuditBroken:
        return
    raise AssertionError(name)


def test_the_columns_are_in_the_order_of_rfc_8785() -> None:
    """The order in which RFC 8785 sorts their names."""
    assert sorted(column.name for column in audit.c if column.name not in ("hash", "previous_hash")) == _HASHED
    assert _HASHED == [
        "action", "actor_id", "actor_type", "algorithm", "client_ip", "correlation_id", "details", "event_type",
        "recorded_at", "resource_id", "resource_type", "seq", "user_agent",
    ]  # fmt: skip


@given(value=JSON)
def test_every_hash_has_the_label_of_its_algorithm(value: Any) -> None:
    algorithm, _, digest = digest_of(value).partition(":")
    assert algorithm in ("sha256-rfc8785", "sha256-json")
    assert len(digest) == 64
    if algorithm == "sha256-rfc8785":
        assert sha256(canonical(value).encode()).hexdigest() == digest


@given(value=JSON)
def test_the_content_of_a_certificate_has_a_canonical_form(value: Any) -> None:
    assert canonical(canonical_scalar(value))
    assert canonical(hashes_by_name({"name": value} | (value if isinstance(value, dict) else {})))


@given(text=ODD_TEXTS)
def test_text_is_unchanged_where_possible(text: str) -> None:
    told = canonical_text(text)
    assert told.encode().decode() == told
    assert told == text or any("\ud800" <= character <= "\udfff" for character in text)
