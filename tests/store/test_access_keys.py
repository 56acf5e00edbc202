"""The keys of the HTTP server: shown once, stored as a hash, valid until they expire or are revoked."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest
from sqlalchemy import select, update

from headwater.errors import AccessKeyInvalid, NotPermitted, UnknownAccessKey
from headwater.model.access import NewAccessKey, Scope
from headwater.model.audit import Actor
from headwater.store.access.visibility import Visibility
from headwater.store.schema.access_tables import access_key, access_session
from headwater.store.schema.tables import to_micros
from headwater.store.store import Store

ACTOR = Actor("somebody", "user", client_ip="10.0.0.1", user_agent="curl")
HOUR = timedelta(hours=1)


def expire(store: Store, made: NewAccessKey) -> None:
    past = to_micros(datetime.now(UTC) - HOUR)
    with store._database.write() as conn:
        conn.execute(update(access_key).where(access_key.c.key_id == made.key.key_id).values(expires_at=past))


def test_a_key_is_accepted_and_only_its_hash_is_stored(store: Store) -> None:
    made = store.access.add("page", scopes=["write", "read", "read"], namespaces=["b*", "a"])
    assert (made.key.scopes, made.key.namespaces) == ((Scope.READ, Scope.WRITE), ("a", "b*"))
    assert store.access.check(made.secret) == made.key
    prefix, key_id, secret = made.secret.split("_", 2)
    assert (prefix, key_id) == ("hw", made.key.key_id)
    assert len(secret) == 43  # 256 bits in base64
    with store._database.read() as conn:
        row = conn.execute(select(access_key)).one()
    assert bytes(row.secret_hash) == sha256(secret.encode()).digest()
    assert secret not in str(row)


def test_keys_are_unique(store: Store) -> None:
    secrets = {store.access.add("same").secret for _ in range(20)}
    assert len(secrets) == 20
    assert len(store.access.keys()) == 20


@pytest.mark.parametrize(
    "shown",
    [
        *("", "hw_", "hw__", "hw_{id}", "hw_{id}_", "hw_{id}_x", "{secret}", "hw_x_{secret}", "HW_{id}_{secret}"),
        *("hw_{id}_{secret}x", "hw_{id}_{secret} ", "hw_{id}__{secret}", "xhw_{id}_{secret}", "hw_{id}_\0"),
        *("hw_{id}_\ud800", "hw_%_{secret}", "hw_{id}' or '1'='1_{secret}", "hw_{id}_{SECRET}"),
    ],
)
def test_anything_else_is_refused(store: Store, shown: str) -> None:
    made = store.access.add("page")
    _, key_id, secret = made.secret.split("_", 2)
    other = secret.swapcase()
    assert store.access.check(shown.format(id=key_id, secret=secret, SECRET=other)) is None


def test_an_expired_key_is_refused(store: Store) -> None:
    made = store.access.add("page", expires_at=datetime.now(UTC) + HOUR)
    assert store.access.check(made.secret) == made.key
    assert store.access.exist(good=True)
    expire(store, made)
    assert store.access.check(made.secret) is None
    assert not store.access.exist(good=True)
    assert store.access.exist(good=False)


def test_a_revoked_key_is_refused(store: Store) -> None:
    one, other = store.access.add("one"), store.access.add("other")
    revoked = store.access.revoke(one.key.key_id)
    assert revoked.revoked_at is not None
    assert store.access.check(one.secret) is None
    assert store.access.check(other.secret) == other.key
    assert [store.access.still_good(made.key.key_id) for made in (one, other)] == [False, True]
    assert store.access.revoke(one.key.key_id) == revoked  # once is enough
    assert store.access.revoke("other").key_id == other.key.key_id
    assert not store.access.exist(good=True)


def test_an_unknown_key_cannot_be_revoked(store: Store) -> None:
    with pytest.raises(UnknownAccessKey, match="has none yet"):
        store.access.revoke("page")
    first, _ = store.access.add("page"), store.access.add("page")
    with pytest.raises(UnknownAccessKey, match=rf"'pge' is not known\. Keys: {first.key.key_id} \(page\)"):
        store.access.revoke("pge")
    with pytest.raises(AccessKeyInvalid, match="2 keys are called 'page'"):
        store.access.revoke("page")


def test_invalid_keys_are_not_created(store: Store) -> None:
    for name in ("", "  ", "x" * 201, "nul\0"):
        with pytest.raises(AccessKeyInvalid):
            store.access.add(name)
    with pytest.raises(AccessKeyInvalid, match=r"'root' is not a scope\. Scopes: read, write, admin"):
        store.access.add("x", scopes=["read", "root"])
    with pytest.raises(AccessKeyInvalid, match="without a scope opens nothing"):
        store.access.add("x", scopes=[])
    for namespaces in ([], ["nul\0"], ["\ud800"], [str(number) for number in range(101)]):
        with pytest.raises(AccessKeyInvalid):
            store.access.add("x", namespaces=namespaces)
    with pytest.raises(AccessKeyInvalid, match="good for nothing"):
        store.access.add("x", expires_at=datetime.now(UTC) - HOUR)
    assert store.access.keys() == []
    assert store.audit() == []


def test_keys_are_audited_without_their_secret(store: Store) -> None:
    made = store.access.add("page", scopes=["admin"], namespaces=["a", "größe*"], actor=ACTOR)
    store.access.revoke("page", actor=ACTOR)
    revoked, added = store.audit()
    assert (added.event_type, added.action, added.resource_type) == ("access.key_added", "add", "access_key")
    assert (revoked.event_type, revoked.action) == ("access.key_revoked", "revoke")
    for entry in (added, revoked):
        assert entry.resource_id == made.key.key_id
        assert (entry.actor_id, entry.client_ip, entry.user_agent) == ("somebody", "10.0.0.1", "curl")
        assert made.secret.split("_", 2)[2] not in json.dumps(dict(entry.details))
    assert added.details == {"name": "page", "scopes": ["admin"], "namespaces": ["a", "größe*"], "expires_at": None}
    assert store.verify().entries == 2


def test_the_last_use_of_a_key_is_recorded_occasionally(store: Store) -> None:
    made = store.access.add("page")
    store.access.used(made.key)
    (used,) = store.access.keys()
    assert used.last_used is not None
    store.access.used(used)
    assert store.access.keys() == [used]
    assert len(store.audit()) == 1


# -- sessions ---------------------------------------------------------------------------------------------------------


def test_a_session_has_the_rights_of_its_key(store: Store) -> None:
    made = store.access.add("page")
    secret = store.sessions.open(made.key, HOUR, ACTOR)
    assert store.sessions.check(secret) == made.key
    assert store.sessions.check(secret + "x") is None
    assert store.sessions.check("\0") is None
    assert store.access.check(secret) is None
    store.access.revoke("page")
    assert store.sessions.check(secret) is None


def test_a_session_ends_with_its_time_or_its_key(store: Store) -> None:
    made = store.access.add("page", expires_at=datetime.now(UTC) + HOUR)
    short = store.sessions.open(made.key, timedelta(0), ACTOR)
    assert store.sessions.check(short) is None
    long = store.sessions.open(made.key, HOUR, ACTOR)
    with store._database.read() as conn:
        assert len(conn.execute(select(access_session)).all()) == 1  # the one that ended is cleared away
    expire(store, made)
    assert store.sessions.check(long) is None


def test_closing_a_session_closes_no_other(store: Store) -> None:
    made = store.access.add("page")
    one, other = (store.sessions.open(made.key, HOUR, ACTOR) for _ in range(2))
    store.sessions.close(one, made.key, ACTOR)
    assert store.sessions.check(one) is None
    assert store.sessions.check(other) == made.key
    told = [entry.event_type for entry in store.audit(resource=made.key.key_id)]
    assert told == ["access.session_closed", *["access.session_opened"] * 2, "access.key_added"]


def test_keys_need_full_visibility(store: Store) -> None:
    with pytest.raises(NotPermitted):
        _ = store.visible_to(Visibility.of(["a"])).access
    with pytest.raises(NotPermitted):
        _ = store.visible_to(Visibility.of(["a"])).sessions
