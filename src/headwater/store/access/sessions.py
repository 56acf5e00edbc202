"""Sessions: what a browser has instead of a key, after a user has entered a key on the page.

A session has the rights of its key and ends with it.
"""

from __future__ import annotations

import secrets
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from sqlalchemy import delete, insert, select

from headwater.formats.openlineage.text import is_storable
from headwater.model.access import AccessKey
from headwater.model.audit import Actor
from headwater.proof.canonical import canonical
from headwater.store.access.keys import is_good, read_key, record
from headwater.store.engine.database import Database
from headwater.store.log.audit import Deed
from headwater.store.schema.access_tables import access_key, access_session
from headwater.store.schema.tables import to_micros

OPENED, CLOSED = "access.session_opened", "access.session_closed"


class Sessions:
    def __init__(self, database: Database) -> None:
        self._database = database

    def open(self, key: AccessKey, lifetime: timedelta, actor: Actor) -> str:
        """The secret of a new session; sessions that have ended are cleared away on the occasion."""
        now, secret = datetime.now(UTC), secrets.token_urlsafe(32)
        row = {"secret_hash": _hash(secret), "key_id": key.key_id, "expires_at": to_micros(now + lifetime)}
        with self._database.write() as conn:
            conn.execute(delete(access_session).where(access_session.c.expires_at <= to_micros(now)))
            conn.execute(insert(access_session), row)
            record(conn, actor, Deed(OPENED, "open", "access_key", key.key_id, canonical({"name": key.name})))
        return secret

    def check(self, secret: str) -> AccessKey | None:
        """The key of a session that goes on. Found by the hash: what is compared tells nothing of the secret."""
        if not is_storable(secret):
            return None
        now = datetime.now(UTC)
        query = (
            select(access_key)
            .join(access_session, access_session.c.key_id == access_key.c.key_id)
            .where(access_session.c.secret_hash == _hash(secret), access_session.c.expires_at > to_micros(now))
        )
        with self._database.read() as conn:
            row = conn.execute(query).one_or_none()
        key = None if row is None else read_key(row)
        return key if key is not None and is_good(key, now) else None

    def close(self, secret: str, key: AccessKey, actor: Actor) -> None:
        with self._database.write() as conn:
            conn.execute(delete(access_session).where(access_session.c.secret_hash == _hash(secret)))
            record(conn, actor, Deed(CLOSED, "close", "access_key", key.key_id, canonical({"name": key.name})))


def _hash(secret: str) -> bytes:
    return sha256(secret.encode(errors="surrogatepass")).digest()
