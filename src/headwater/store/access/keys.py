"""The keys of the HTTP server: made, listed, revoked, checked.

A key is shown once, as `hw_<id>_<secret>`. The id finds it, the secret proves it: 256 random bits, of which the store
has the SHA-256, compared in a time that tells nothing.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Protocol

from sqlalchemy import ColumnElement, Connection, and_, exists, insert, or_, select, update

from headwater.errors import AccessKeyInvalid, LastAdminKey, UnknownAccessKey, shorten
from headwater.formats.openlineage.text import UNSTORABLE_REASON, is_storable
from headwater.model.access import AccessKey, NewAccessKey, Scope
from headwater.model.audit import Actor
from headwater.proof.canonical import canonical
from headwater.store.access.visibility import Visibility
from headwater.store.engine.database import Database
from headwater.store.engine.prepared import together
from headwater.store.log import audit
from headwater.store.log.audit import Deed
from headwater.store.log.log_head import STANDING, Standing
from headwater.store.schema.access_tables import access_key
from headwater.store.schema.tables import from_micros, to_micros

PREFIX = "hw_"
ADDED, REVOKED = "access.key_added", "access.key_revoked"
_LONGEST_NAME = 200
_LONGEST_NAMESPACE = 2000
_MOST_NAMESPACES = 100
_NOBODY = bytes(32)
_SELDOM = timedelta(minutes=1)
"""How exact `last_used` is: to write it down at every request would make every read a write."""


class AccessKeys:
    def __init__(self, database: Database, actor: Actor) -> None:
        self._database = database
        self._actor = actor

    def add(
        self,
        name: str,
        *,
        scopes: Iterable[Scope | str] = (Scope.READ,),
        namespaces: Iterable[str] = ("*",),
        expires_at: datetime | None = None,
        actor: Actor | None = None,
    ) -> NewAccessKey:
        """A new key. Its secret is in the answer and nowhere else."""
        now, secret = datetime.now(UTC), secrets.token_urlsafe(32)
        key = AccessKey(
            key_id=secrets.token_hex(6),
            name=_named(name),
            scopes=_scopes(scopes),
            namespaces=_namespaces(namespaces),
            created_at=now,
            expires_at=expires_at,
            revoked_at=None,
            last_used=None,
        )
        if expires_at is not None and expires_at <= now:
            raise AccessKeyInvalid(f"A key that expired at {expires_at.isoformat()} would be good for nothing.")
        row = {
            "key_id": key.key_id,
            "name": key.name,
            "secret_hash": _hash(secret),
            "scopes": list(key.scopes),
            "namespaces": list(key.namespaces),
            "created_at": to_micros(now),
            "expires_at": None if expires_at is None else to_micros(expires_at),
        }
        told = {
            "name": key.name,
            "scopes": list(key.scopes),
            "namespaces": list(key.namespaces),
            "expires_at": None if expires_at is None else expires_at.isoformat(),
        }
        with self._database.write() as conn:
            conn.execute(insert(access_key), row)
            record(conn, actor or self._actor, Deed(ADDED, "add", "access_key", key.key_id, canonical(told)))
        return NewAccessKey(key, f"{PREFIX}{key.key_id}_{secret}")

    def keys(self) -> list[AccessKey]:
        """Oldest first, including expired and revoked ones."""
        with self._database.read() as conn:
            rows = conn.execute(select(access_key).order_by(access_key.c.created_at, access_key.c.key_id))
            return [read_key(row) for row in rows]

    def revoke(self, asked: str, *, actor: Actor | None = None, keep_an_admin: bool = False) -> AccessKey:
        """The key of this id, or of this name if only one has it. From here on it is good for nothing.

        With ``keep_an_admin`` the last key that can manage keys is refused (LastAdminKey).
        """
        with self._database.write() as conn:
            found = _find(conn, asked)
            if found.revoked_at is None:
                if keep_an_admin and _is_last_admin(conn, read_key(found)):
                    raise LastAdminKey(found.name)
                now = to_micros(datetime.now(UTC))
                conn.execute(update(access_key).where(access_key.c.key_id == found.key_id).values(revoked_at=now))
                deed = Deed(REVOKED, "revoke", "access_key", found.key_id, canonical({"name": found.name}))
                record(conn, actor or self._actor, deed)
            return read_key(conn.execute(select(access_key).where(access_key.c.key_id == found.key_id)).one())

    def check(self, shown: str) -> AccessKey | None:
        """The key that was shown, if it is good; None does not tell why it is not."""
        key_id, _, secret = shown.removeprefix(PREFIX).partition("_")
        askable = shown.startswith(PREFIX) and is_storable(shown)
        row = None
        if askable:
            with self._database.read() as conn:
                row = conn.execute(select(access_key).where(access_key.c.key_id == key_id)).one_or_none()
        # Also where there is no such key, so that it takes as long.
        proven = hmac.compare_digest(_hash(secret), bytes(row.secret_hash) if row is not None else _NOBODY)
        if row is None or not proven:
            return None
        key = read_key(row)
        return key if is_good(key, datetime.now(UTC)) else None

    def still_good(self, key_id: str) -> bool:
        """For what goes on for long after the key was shown."""
        with self._database.read() as conn:
            good = _good(to_micros(datetime.now(UTC)))
            return conn.scalar(select(access_key.c.key_id).where(access_key.c.key_id == key_id, good)) is not None

    def used(self, key: AccessKey) -> None:
        """Write down that the key was used; not at every use."""
        now = datetime.now(UTC)
        if key.last_used is None or now - key.last_used >= _SELDOM:
            with self._database.write() as conn:
                conn.execute(
                    update(access_key).where(access_key.c.key_id == key.key_id).values(last_used=to_micros(now))
                )

    def exist(self, *, good: bool) -> bool:
        """Whether there is any key; with ``good``, one that opens now."""
        now = to_micros(datetime.now(UTC))
        with self._database.read() as conn:
            there = exists().where(_good(now)) if good else exists().where(access_key.c.key_id.is_not(None))
            return bool(conn.scalar(select(there)))


def is_good(key: AccessKey, now: datetime) -> bool:
    return key.revoked_at is None and (key.expires_at is None or now < key.expires_at)


def can_manage_keys(key: AccessKey) -> bool:
    """Whether the key is good now, and for managing keys over HTTP."""
    return Scope.ADMIN in key.scopes and Visibility.of(key.namespaces).is_everything and is_good(key, datetime.now(UTC))


def _is_last_admin(conn: Connection, key: AccessKey) -> bool:
    keys = map(read_key, conn.execute(select(access_key)))
    return can_manage_keys(key) and not any(can_manage_keys(one) for one in keys if one.key_id != key.key_id)


def record(conn: Connection, actor: Actor, deed: Deed) -> None:
    ((told,),) = together(conn, [(STANDING, {})])
    audit.record(conn, Standing.told(told), [(actor, deed)])


class _AccessKeyRow(Protocol):
    key_id: str
    name: str
    scopes: list[str]
    namespaces: list[str]
    created_at: int
    expires_at: int | None
    revoked_at: int | None
    last_used: int | None


def read_key(row: _AccessKeyRow) -> AccessKey:
    moments = {
        name: None if getattr(row, name) is None else from_micros(getattr(row, name))
        for name in ("expires_at", "revoked_at", "last_used")
    }
    return AccessKey(
        key_id=row.key_id,
        name=row.name,
        scopes=tuple(map(Scope, row.scopes)),
        namespaces=tuple(row.namespaces),
        created_at=from_micros(row.created_at),
        **moments,
    )


def _good(now: int) -> ColumnElement[bool]:
    unexpired = or_(access_key.c.expires_at.is_(None), access_key.c.expires_at > now)
    return and_(access_key.c.revoked_at.is_(None), unexpired)


def _find(conn: Connection, asked: str) -> _AccessKeyRow:
    rows = conn.execute(select(access_key).order_by(access_key.c.created_at)).all()
    by_id = [row for row in rows if row.key_id == asked]
    found = by_id or [row for row in rows if row.name == asked and row.revoked_at is None]
    if not found:
        raise UnknownAccessKey(asked, [f"{row.key_id} ({row.name})" for row in rows])
    if len(found) > 1:
        ids = ", ".join(row.key_id for row in found)
        raise AccessKeyInvalid(f"{len(found)} keys are called '{shorten(asked)}'; name one by its id: {ids}.")
    return found[0]


def _hash(secret: str) -> bytes:
    return sha256(secret.encode(errors="surrogatepass")).digest()


def _named(name: str) -> str:
    if not name.strip() or len(name) > _LONGEST_NAME:
        raise AccessKeyInvalid(f"A key has a name, of at most {_LONGEST_NAME} characters: whom or what it is for.")
    if not is_storable(name):
        raise AccessKeyInvalid(f"'{shorten(name)}' {UNSTORABLE_REASON}.")
    return name


def _scopes(asked: Iterable[Scope | str]) -> tuple[Scope, ...]:
    listed = list(asked)
    unknown = [each for each in listed if each not in list(Scope)]
    if unknown or not listed:
        what = f"'{shorten(str(unknown[0]))}' is not a scope" if unknown else "A key without a scope opens nothing"
        raise AccessKeyInvalid(f"{what}. Scopes: {', '.join(Scope)}.")
    return tuple(scope for scope in Scope if scope in listed)


def _namespaces(asked: Iterable[str]) -> tuple[str, ...]:
    listed: Sequence[str] = sorted(set(asked))
    if not listed or len(listed) > _MOST_NAMESPACES:
        raise AccessKeyInvalid(f"A key is for 1 to {_MOST_NAMESPACES} namespaces: names, `prefix*`, or `*` for all.")
    for each in listed:
        if not is_storable(each) or len(each) > _LONGEST_NAMESPACE:
            raise AccessKeyInvalid(f"'{shorten(each)}' cannot be the name of a namespace.")
    return tuple(listed)
